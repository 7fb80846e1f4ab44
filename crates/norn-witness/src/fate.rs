//! What can still happen after a schedule, and what never can: whether threads are stuck for ever.
//!
//! The threads of a deadlock stand right before events that they cannot do. That they cannot do them
//! now is not enough: somebody might still give a lock back or send a signal. So all other threads
//! are let go on in thought, each as far as nothing bars its way for certain: a lock whose holder
//! never comes to give it back, a thread that never ends, a condition that nobody signals any
//! more. What is left is more than could really happen, so who is stuck here is stuck.

use std::collections::BTreeMap;

use norn_model::{Candidate, Event, LockMode, Op, ThreadId, WokenBy};

use crate::{Refusal, Rule, world::World};

/// Whether the candidate's threads are stuck where it says, and its steps have been.
pub(crate) fn is_stuck(world: &World<'_>, candidate: &Candidate) -> Result<(), Refusal> {
    let refuse = |event, rule| Err(Refusal { event, rule });
    if let Some(step) = candidate.steps.iter().find(|it| !world.has(it.event)) {
        return refuse(step.event, Rule::Pattern);
    }
    let mut fate = Fate { world, limits: BTreeMap::new() };
    for step in &candidate.stuck {
        let fork = world.rules.forks.get(&step.event.thread);
        let born = fork.is_none_or(|it| world.has(*it));
        let done = world.done.get(&step.event.thread).copied().unwrap_or(0);
        if !born || done != step.event.index {
            return refuse(step.event, Rule::Elsewhere);
        }
        fate.limits.insert(step.event.thread, step.event.index);
    }
    let free = |fate: &Fate<'_>| {
        let events = candidate.stuck.iter().map(|it| it.event);
        let event = |id| world.rules.trace.event(id);
        events.into_iter().find(|id| !event(*id).is_some_and(|it| fate.bars(it)))
    };
    // Mostly they keep each other stuck; what others do only matters if they do not.
    if free(&fate).is_some() {
        fate.settle();
    }
    free(&fate).map_or(Ok(()), |event| refuse(event, Rule::Unstuck))
}

/// How far threads can come, at most.
struct Fate<'a> {
    world: &'a World<'a>,
    /// Before which event a thread stops for ever; if there is none, it may come to its end.
    limits: BTreeMap<ThreadId, u64>,
}

impl Fate<'_> {
    /// Finds out how far threads can come: who is barred may bar others.
    fn settle(&mut self) {
        let trace = self.world.rules.trace;
        loop {
            let mut changed = false;
            for thread in &trace.threads {
                let barred = self.future(thread.id).find(|it| self.bars(it));
                if let Some(event) = barred {
                    self.limits.insert(thread.id, event.id.index);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// What a thread may still do.
    fn future(&self, thread: ThreadId) -> impl Iterator<Item = &Event> {
        let events = self.world.rules.trace.thread(thread).map_or(&[][..], |it| &it.events);
        let place = |index: u64| usize::try_from(index).unwrap_or(usize::MAX).min(events.len());
        let from = self.world.done.get(&thread).copied().unwrap_or(0);
        let to = self.limits.get(&thread).copied().unwrap_or(u64::MAX);
        events[place(from)..place(to).max(place(from))].iter()
    }

    fn futures(&self) -> impl Iterator<Item = &Event> {
        self.world.rules.trace.threads.iter().flat_map(|it| self.future(it.id))
    }

    /// Whether a thread that comes to an event never does it.
    fn bars(&self, event: &Event) -> bool {
        let thread = event.id.thread;
        let fork = self.world.rules.forks.get(&thread);
        if fork.is_some_and(|it| !self.world.has(*it) && self.never(it.thread, it.index)) {
            return true;
        }
        match event.op {
            Op::Acquire { lock, mode, .. } => self.is_kept(lock, thread, mode == LockMode::Read),
            Op::Join(child) => {
                let events = self.world.rules.trace.thread(child).map_or(0, |it| it.events.len());
                events > 0 && self.never(child, events as u64 - 1)
            }
            Op::WaitAcquire { cond, lock, woken } => {
                let needs = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
                needs && self.is_silent(cond, thread) || self.is_kept(lock, thread, false)
            }
            Op::SemWait { semaphore, .. } => {
                let count = |map: Option<&i64>| map.copied().unwrap_or(0);
                let now = count(self.world.rules.firsts.get(&semaphore))
                    + count(self.world.counts.get(&semaphore));
                now <= 0 && !self.futures().any(|it| it.op == Op::SemPost { semaphore })
            }
            Op::BarrierLeave { barrier, .. } => self.is_incomplete(barrier, thread),
            Op::OnceDone { once } => {
                let ends = |it: &Event| matches!(it.op, Op::OnceEnd { once: it, .. } if it == once);
                self.world.begun.contains(&once) && !self.futures().any(ends)
            }
            _ => false,
        }
    }

    /// Whether a thread never comes beyond an event.
    fn never(&self, thread: ThreadId, index: u64) -> bool {
        self.limits.get(&thread).is_some_and(|it| *it <= index)
    }

    /// Whether somebody has a lock and never gives it back.
    fn is_kept(&self, lock: u64, thread: ThreadId, shared: bool) -> bool {
        let holders = self.world.holders.get(&lock).into_iter().flatten();
        let mut others = holders.filter(|(it, (_, shares))| **it != thread && !(shared && *shares));
        others.any(|(holder, (depth, _))| {
            let gives = |it: &&Event| match it.op {
                Op::Release { lock: it, .. } | Op::WaitRelease { lock: it } => it == lock,
                _ => false,
            };
            let given = self.future(*holder).filter(gives).count();
            self.limits.contains_key(holder) && given < *depth as usize
        })
    }

    /// Whether nobody wakes a thread, or has done so since it gave its mutex back.
    fn is_silent(&self, cond: u64, thread: ThreadId) -> bool {
        let wakes = |op: &Op| *op == Op::Signal { cond } || *op == Op::Broadcast { cond };
        let since = self.world.released.get(&thread);
        let signals = self.world.signals.get(&cond);
        let been =
            since.zip(signals).is_some_and(|(since, all)| all.iter().any(|it| it.0 > *since));
        !been && !self.futures().any(|it| it.id.thread != thread && wakes(&it.op))
    }

    /// Whether too few come to a barrier that a thread has come to, or would have to come to.
    fn is_incomplete(&self, barrier: u64, thread: ThreadId) -> bool {
        let world = self.world;
        let size = world.rules.sizes.get(&barrier).copied().unwrap_or(1).max(1);
        let arrived = world.arrivals.get(&barrier).copied().unwrap_or(0);
        let coming = self.futures().filter(|it| it.op == Op::BarrierEnter { barrier }).count();
        let round = world.rounds.get(&(barrier, thread));
        round.is_some_and(|it| arrived + (coming as u64) < (it + 1) * size)
    }
}
