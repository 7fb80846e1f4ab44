//! Whether threads are stuck for ever at the end of a schedule.
//!
//! The threads of a deadlock are right before events that they cannot do. That they cannot do them
//! now is not enough: another thread might still release a lock or send a signal. So all other
//! threads continue hypothetically, each until an event that it certainly never does: it requests a
//! lock whose holder never reaches the release, joins a thread that never ends, waits for a
//! condition that nobody signals any more. This is a fixed point from above: each step removes only
//! events that cannot happen, so what remains includes everything that could happen in any
//! continuation, and a thread that is stuck here is stuck in all of them.

use std::collections::BTreeMap;

use norn_model::{
    BarrierEffect, Candidate, ChannelEffect, ConditionEffect, Effect, Event, LockEffect, LockMode,
    OnceEffect, SemaphoreEffect, ThreadEffect, ThreadId, WokenBy,
};

use crate::{Refusal, Rule, state::ProgramState};

/// Checks that the candidate's threads are stuck at the events it names, after its steps.
pub(crate) fn check_stuck(state: &ProgramState<'_>, candidate: &Candidate) -> Result<(), Refusal> {
    let refuse = |event, rule| Err(Refusal { event, rule });
    if let Some(step) = candidate.steps.iter().find(|it| !state.has(it.event)) {
        return refuse(step.event, Rule::Pattern);
    }
    let mut reach = Reachability { state, limits: BTreeMap::new() };
    for step in &candidate.stuck {
        let thread = step.event.thread;
        if !state.is_created(thread) || state.position(thread) != step.event.index {
            return refuse(step.event, Rule::WrongPosition);
        }
        reach.limits.insert(thread, step.event.index);
    }
    let can_continue = |reach: &Reachability<'_>| {
        let mut events = candidate.stuck.iter().map(|it| it.event);
        let event = |id| state.checker.trace.event(id);
        events.find(|id| !event(*id).is_some_and(|it| reach.never_does(it)))
    };
    // Most often the threads block each other, and no other thread has to be looked at.
    if can_continue(&reach).is_some() {
        reach.solve();
    }
    can_continue(&reach).map_or(Ok(()), |event| refuse(event, Rule::CanContinue))
}

/// An upper bound of the events that can still happen.
struct Reachability<'a> {
    state: &'a ProgramState<'a>,
    /// By thread: the event that it never does. A thread without one may reach its end.
    limits: BTreeMap<ThreadId, u64>,
}

impl Reachability<'_> {
    /// Computes the fixed point: a thread that is blocked may block others.
    fn solve(&mut self) {
        let trace = self.state.checker.trace;
        loop {
            let mut changed = false;
            for thread in &trace.threads {
                let cancel = &self.state.checker.cancel;
                let mut future = cancel.items(self.future(thread.id));
                let blocked = future.find(|it| self.never_does(it)).map(|it| it.id.index);
                drop(future);
                if let Some(index) = blocked {
                    self.limits.insert(thread.id, index);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The events that a thread may still do.
    fn future(&self, thread: ThreadId) -> impl Iterator<Item = &Event> {
        let events = self.state.checker.trace.thread(thread).map_or(&[][..], |it| &it.events);
        let place = |index: u64| usize::try_from(index).unwrap_or(usize::MAX).min(events.len());
        let from = self.state.position(thread);
        let to = self.limits.get(&thread).copied().unwrap_or(u64::MAX);
        events[place(from)..place(to).max(place(from))].iter()
    }

    /// The effects of all events that may still happen, with their threads.
    fn futures(&self) -> impl Iterator<Item = (ThreadId, Effect)> {
        let threads = self.state.checker.trace.threads.iter();
        threads.flat_map(|it| self.future(it.id)).map(|it| (it.id.thread, it.op.effect()))
    }

    /// Whether a thread that comes to an event never does it.
    fn never_does(&self, event: &Event) -> bool {
        let thread = event.id.thread;
        let fork = self.state.checker.facts.forks.get(&thread);
        if fork.is_some_and(|it| !self.state.has(*it) && self.never_passes(it.thread, it.index)) {
            return true;
        }
        match event.op.effect() {
            Effect::Lock(LockEffect::Acquire { lock, mode, .. }) => {
                self.is_never_released(lock, thread, mode == LockMode::Read)
            }
            Effect::Thread(ThreadEffect::Join(child)) => {
                let events = self.state.checker.trace.thread(child).map_or(0, |it| it.events.len());
                events > 0 && self.never_passes(child, events as u64 - 1)
            }
            Effect::Condition(ConditionEffect::Wake { cond, lock, woken }) => {
                let needs_signal = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
                needs_signal && self.is_never_signalled(cond, thread)
                    || self.is_never_released(lock, thread, false)
            }
            Effect::Semaphore(SemaphoreEffect::Wait { semaphore, .. }) => {
                let post = Effect::Semaphore(SemaphoreEffect::Post { semaphore });
                self.state.semaphore_value(semaphore) <= 0 && !self.futures().any(|it| it.1 == post)
            }
            Effect::Barrier(BarrierEffect::Leave { barrier }) => {
                self.is_never_complete(barrier, thread)
            }
            Effect::Once(OnceEffect::Done { once }) => {
                let ends = |it: Effect| matches!(it, Effect::Once(OnceEffect::End { once: it, .. }) if it == once);
                self.state.initialising.contains(&once) && !self.futures().any(|it| ends(it.1))
            }
            // Whatever else is sent there may serve as well.
            Effect::Channel(ChannelEffect::Receive { channel, .. }) => {
                let sends = |it: Effect| matches!(it, Effect::Channel(ChannelEffect::Send { channel: it, .. }) if it == channel);
                !self.state.is_sent(event.id) && !self.futures().any(|it| sends(it.1))
            }
            // None of these can block a thread.
            Effect::None
            | Effect::Access(_)
            | Effect::Thread(ThreadEffect::Fork(_))
            | Effect::Lock(LockEffect::Failed { .. } | LockEffect::Release { .. })
            | Effect::Condition(ConditionEffect::Wait { .. } | ConditionEffect::Signal { .. })
            | Effect::Semaphore(
                SemaphoreEffect::Init { .. }
                | SemaphoreEffect::Post { .. }
                | SemaphoreEffect::Failed { .. },
            )
            | Effect::Barrier(BarrierEffect::Init { .. } | BarrierEffect::Arrive { .. })
            | Effect::Once(OnceEffect::Begin { .. } | OnceEffect::End { .. })
            | Effect::Annotation(_)
            | Effect::Channel(ChannelEffect::Send { .. })
            | Effect::Block(_)
            | Effect::Object(_) => false,
        }
    }

    /// Whether a thread never gets past an event.
    fn never_passes(&self, thread: ThreadId, index: u64) -> bool {
        self.limits.get(&thread).is_some_and(|it| *it <= index)
    }

    /// Whether another thread holds a lock and never releases it.
    fn is_never_released(&self, lock: u64, thread: ThreadId, shared: bool) -> bool {
        let holders = self.state.holders.get(&lock).into_iter().flatten();
        let mut others = holders.filter(|(it, (_, shares))| **it != thread && !(shared && *shares));
        others.any(|(holder, (depth, _))| {
            let releases = |it: &&Event| {
                let effect = it.op.effect();
                matches!(effect, Effect::Lock(LockEffect::Release { lock: it, .. }) if it == lock)
            };
            let released = self.future(*holder).filter(releases).count();
            self.limits.contains_key(holder) && released < *depth as usize
        })
    }

    /// Whether no thread signals a condition any more, or has since the wait released its mutex.
    fn is_never_signalled(&self, cond: u64, thread: ThreadId) -> bool {
        let signals = |effect: Effect| matches!(effect, Effect::Condition(ConditionEffect::Signal { cond: it, .. }) if it == cond);
        let since = self.state.wait_releases.get(&thread);
        let past = self.state.signals.get(&cond);
        let signalled =
            since.zip(past).is_some_and(|(since, all)| all.iter().any(|it| it.0 > *since));
        !signalled && !self.futures().any(|it| it.0 != thread && signals(it.1))
    }

    /// Whether too few threads arrive at a barrier that a thread has arrived at.
    fn is_never_complete(&self, barrier: u64, thread: ThreadId) -> bool {
        let size = self.state.checker.facts.barrier_size(barrier);
        let arrived = self.state.arrivals.get(&barrier).copied().unwrap_or(0);
        let arrive = Effect::Barrier(BarrierEffect::Arrive { barrier });
        let coming = self.futures().filter(|it| it.1 == arrive).count();
        let round = self.state.rounds.get(&(barrier, thread));
        round.is_some_and(|it| arrived + (coming as u64) < (it + 1) * size)
    }
}
