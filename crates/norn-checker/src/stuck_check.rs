//! Whether threads are stuck for ever at the end of a schedule.
//!
//! The threads of a deadlock are right before events that they cannot do. That they cannot do them
//! now is not enough: another thread might still release a lock or send a signal. So all other
//! threads continue hypothetically, each until an event that it certainly never does: it requests a
//! lock whose holder never reaches the release, joins a thread that never ends, waits for a
//! condition that nobody signals any more. This is a fixed point from above: each step removes only
//! events that cannot happen, so what remains includes everything that could happen in any
//! continuation, and a thread that is stuck here is stuck in all of them.

use std::{collections::BTreeMap, ops::Range};

use norn_model::{
    BarrierEffect, Candidate, ChannelEffect, ConditionEffect, Effect, Event, LockEffect, LockMode,
    OnceEffect, Outcome, SemaphoreEffect, Step, Thread, ThreadEffect, ThreadId, WokenBy,
};

use crate::{Refusal, Rule, future::Unblocking, state::ProgramState};

/// Checks that the candidate's threads are stuck at the events it names, after its steps.
pub(crate) fn check_stuck(state: &ProgramState<'_>, candidate: &Candidate) -> Result<(), Refusal> {
    let refuse = |event, rule| Err(Refusal { event, rule });
    if let Some(step) = candidate.steps.iter().find(|it| !state.has(it.event)) {
        return refuse(step.event, Rule::Pattern);
    }
    let mut reach = Reachability { state, stuck: &candidate.stuck, limits: BTreeMap::new() };
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
    // What is known of the other threads is incomplete then.
    if let Some(step) = candidate.stuck.first().filter(|_| state.checker.cancel.is_cancelled()) {
        return refuse(step.event, Rule::Cancelled);
    }
    can_continue(&reach).map_or(Ok(()), |event| refuse(event, Rule::CanContinue))
}

/// An upper bound of the events that can still happen.
struct Reachability<'a> {
    state: &'a ProgramState<'a>,
    /// The events at which the threads of the candidate are.
    stuck: &'a [Step],
    /// By thread: the event that it never does. A thread without one may reach its end.
    limits: BTreeMap<ThreadId, u64>,
}

impl Reachability<'_> {
    /// Computes the fixed point: a thread that is blocked may block others.
    fn solve(&mut self) {
        let checker = self.state.checker;
        loop {
            let mut changed = false;
            for thread in &checker.trace.threads {
                let blocked = self.blocked(thread);
                if let Some(index) = blocked {
                    self.limits.insert(thread.id, index);
                    changed = true;
                }
            }
            if !changed || checker.cancel.is_cancelled() {
                return;
            }
        }
    }

    /// The first event of the rest of a thread that it never does. Besides its next event, which it
    /// does not do if it is never created, only some kinds of event can block it.
    fn blocked(&self, thread: &Thread) -> Option<u64> {
        let checker = self.state.checker;
        let future = self.future(thread.id);
        let next = Some(future.start).filter(|_| !future.is_empty());
        let blocking = checker.futures().blocking(thread.id, future).iter().copied();
        let event = |it: u64| thread.events.get(usize::try_from(it).ok()?);
        let mut all = checker.cancel.items(next.into_iter().chain(blocking));
        all.find(|it| event(*it).is_some_and(|it| self.never_does(it)))
    }

    /// The indices of the events that a thread may still do.
    fn future(&self, thread: ThreadId) -> Range<u64> {
        let len = self.state.checker.trace.thread(thread).map_or(0, |it| it.events.len() as u64);
        let from = self.state.position(thread).min(len);
        let to = self.limits.get(&thread).copied().unwrap_or(len).min(len);
        from..to.max(from)
    }

    /// How many events of a thread may still happen that can let others continue.
    fn coming(&self, what: Unblocking, thread: ThreadId) -> usize {
        self.state.checker.futures().count(what, thread, self.future(thread))
    }

    /// The threads that may still do such events.
    fn unblockers(&self, what: Unblocking) -> impl Iterator<Item = ThreadId> {
        let threads = self.state.checker.futures().threads(what);
        threads.filter(move |it| self.coming(what, *it) > 0)
    }

    /// Whether a thread that comes to an event never does it.
    fn never_does(&self, event: &Event) -> bool {
        let thread = event.id.thread;
        let fork = self.state.checker.facts.forks.get(&thread);
        if fork.is_some_and(|it| !self.state.has(*it) && self.never_passes(it.thread, it.index)) {
            return true;
        }
        match event.op.effect() {
            Effect::Lock(LockEffect::Acquire { lock, mode, how }) => {
                self.is_never_released(lock, thread, mode == LockMode::Read)
                    || how == Outcome::Queued && self.is_behind_writer(lock, thread)
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
                let mut posts = self.unblockers(Unblocking::Post(semaphore));
                self.state.semaphore_value(semaphore) <= 0 && posts.next().is_none()
            }
            Effect::Barrier(BarrierEffect::Leave { barrier }) => {
                self.is_never_complete(barrier, thread)
            }
            Effect::Once(OnceEffect::Done { once }) => {
                let mut ends = self.unblockers(Unblocking::OnceEnd(once));
                self.state.now.initialising.contains(&once) && ends.next().is_none()
            }
            // Whatever else is sent there may serve as well.
            Effect::Channel(ChannelEffect::Receive { channel, timed, .. }) => {
                let mut sends = self.unblockers(Unblocking::Send(channel));
                !timed && !self.state.is_sent(event.id) && sends.next().is_none()
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
        let holders = self.state.now.holders.get(&lock).into_iter().flatten();
        let mut others = holders.filter(|(it, hold)| **it != thread && !(shared && hold.shared));
        others.any(|(holder, hold)| {
            self.limits.contains_key(holder)
                && self.coming(Unblocking::Release(lock), *holder) < hold.depth as usize
        })
    }

    /// Whether a thread of the candidate waits for ever to hold a lock alone, so that readers queue behind it.
    /// Threads get stuck in the order of the candidate: a reader of it must come later than the writer.
    fn is_behind_writer(&self, lock: u64, thread: ThreadId) -> bool {
        let before = self.stuck.iter().map(|it| it.event).take_while(|it| it.thread != thread);
        let mut requests = before.filter_map(|it| self.state.checker.trace.event(it));
        let (mode, how) = (LockMode::Write, Outcome::Waited);
        requests.any(|it| it.op.effect() == Effect::Lock(LockEffect::Acquire { lock, mode, how }))
    }

    /// Whether no thread signals a condition any more, or has since the wait released its mutex.
    fn is_never_signalled(&self, cond: u64, thread: ThreadId) -> bool {
        let since = self.state.now.wait_releases.get(&thread);
        let past = self.state.now.signals.get(&cond);
        let signalled =
            since.zip(past).is_some_and(|(since, all)| all.iter().any(|it| it.0 > *since));
        !signalled && self.unblockers(Unblocking::Signal(cond)).all(|it| it == thread)
    }

    /// Whether too few threads arrive at a barrier that a thread has arrived at.
    fn is_never_complete(&self, barrier: u64, thread: ThreadId) -> bool {
        let size = self.state.checker.facts.barrier_size(barrier);
        let arrived = self.state.now.arrivals.get(&barrier).copied().unwrap_or(0);
        let what = Unblocking::Arrival(barrier);
        let coming: usize = self.unblockers(what).map(|it| self.coming(what, it)).sum();
        let round = self.state.now.rounds.get(&(barrier, thread));
        round.is_some_and(|it| arrived + (coming as u64) < (it + 1) * size)
    }
}
