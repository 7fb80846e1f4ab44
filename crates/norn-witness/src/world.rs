//! The state of the program in the course of a schedule, and what may happen in it.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{AtomicOp, Event, EventId, LockMode, Op, Outcome, ThreadId, WokenBy};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Checker, Rule, heap::Heap, memory::Memory};

/// The state of the program at some point of the schedule.
pub(crate) struct World<'a> {
    pub(crate) rules: &'a Checker<'a>,
    pub(crate) done: BTreeMap<ThreadId, u64>,
    /// By lock: who has it, how often, and whether it shares it.
    pub(crate) holders: FxHashMap<u64, BTreeMap<ThreadId, (u32, bool)>>,
    /// When threads began to wait, and whether for some time only; and when signals came that ended
    /// no wait yet.
    waits: FxHashMap<ThreadId, (u64, bool)>,
    /// When threads gave a mutex back in order to wait.
    pub(crate) released: FxHashMap<ThreadId, u64>,
    pub(crate) signals: FxHashMap<u64, BTreeSet<(u64, bool)>>,
    time: u64,
    pub(crate) arrivals: FxHashMap<u64, u64>,
    pub(crate) rounds: FxHashMap<(u64, ThreadId), u64>,
    pub(crate) counts: FxHashMap<u64, i64>,
    pub(crate) begun: FxHashSet<u64>,
    initialised: FxHashSet<u64>,
    memory: Memory<'a>,
    heap: Heap,
    /// Events that saw something else than in the recorded run, and whether they passed it on.
    pub(crate) differing: Vec<(EventId, u64)>,
}

type Step = Result<(), Rule>;

fn rule(fine: bool, rule: Rule) -> Step {
    if fine { Ok(()) } else { Err(rule) }
}

impl<'a> World<'a> {
    pub(crate) fn new(rules: &'a Checker<'a>) -> Self {
        World {
            rules,
            done: BTreeMap::new(),
            holders: FxHashMap::default(),
            waits: FxHashMap::default(),
            released: FxHashMap::default(),
            signals: FxHashMap::default(),
            time: 0,
            arrivals: FxHashMap::default(),
            rounds: FxHashMap::default(),
            counts: FxHashMap::default(),
            begun: FxHashSet::default(),
            initialised: FxHashSet::default(),
            memory: Memory::new(&rules.recorded),
            heap: Heap::default(),
            differing: Vec::new(),
        }
    }

    /// How much of what differs can have an influence on what comes later: its thread goes on, or it
    /// has written what depends on it and somebody comes after.
    pub(crate) fn influential(&self) -> usize {
        let last = |id: &EventId| self.done.get(&id.thread) == Some(&(id.index + 1));
        let influences =
            |id: &EventId, passed: u64| !last(id) || passed != 0 && passed != self.time;
        self.differing.iter().filter(|(id, passed)| influences(id, *passed)).count()
    }

    pub(crate) fn has(&self, id: EventId) -> bool {
        self.done.get(&id.thread).is_some_and(|it| *it > id.index)
    }

    pub(crate) fn step(&mut self, event: &Event) -> Step {
        self.time += 1;
        let thread = event.id.thread;
        if event.id.index == 0 {
            let fork = self.rules.forks.get(&thread);
            rule(fork.is_none_or(|it| self.has(*it)), Rule::Unborn)?;
        }
        match event.op {
            Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. } => self.access(event),
            Op::Join(child) => {
                let len = self.rules.trace.thread(child).map_or(0, |it| it.events.len() as u64);
                let done = self.done.get(&child).copied().unwrap_or(0);
                return rule(done >= len, Rule::Running);
            }
            Op::Acquire { lock, mode, how } => {
                let shared = mode == LockMode::Read;
                if how == Outcome::Timed && self.is_taken(lock, thread, shared) {
                    self.differs(event, true);
                    return Ok(());
                }
                return self.acquire(lock, thread, shared);
            }
            Op::AcquireFailed { lock, mode, .. } => {
                self.differs(event, !self.is_taken(lock, thread, mode == LockMode::Read));
            }
            Op::Release { lock, .. } => return self.release(lock, thread),
            Op::WaitRelease { lock } => {
                self.released.insert(thread, self.time);
                return self.release(lock, thread);
            }
            Op::Wait { timed, .. } => {
                self.waits.insert(thread, (self.time, timed));
            }
            Op::WaitAcquire { cond, lock, woken } => {
                let expired = self.wake(cond, thread, woken)?;
                self.differs(event, expired);
                return self.acquire(lock, thread, false);
            }
            Op::Signal { cond } => {
                self.signals.entry(cond).or_default().insert((self.time, false));
            }
            Op::Broadcast { cond } => {
                self.signals.entry(cond).or_default().insert((self.time, true));
            }
            _ => return self.meet(event),
        }
        Ok(())
    }

    fn meet(&mut self, event: &Event) -> Step {
        let thread = event.id.thread;
        match event.op {
            Op::BarrierEnter { barrier } => {
                let size = self.rules.sizes.get(&barrier).copied().unwrap_or(1).max(1);
                let arrivals = self.arrivals.entry(barrier).or_default();
                self.rounds.insert((barrier, thread), *arrivals / size);
                *arrivals += 1;
                Ok(())
            }
            Op::BarrierLeave { barrier, .. } => {
                let size = self.rules.sizes.get(&barrier).copied().unwrap_or(1).max(1);
                let arrivals = self.arrivals.get(&barrier).copied().unwrap_or(0);
                let round = self.rounds.remove(&(barrier, thread));
                rule(round.is_some_and(|it| arrivals / size > it), Rule::Barrier)
            }
            Op::SemPost { semaphore } => {
                *self.counts.entry(semaphore).or_default() += 1;
                Ok(())
            }
            Op::SemWait { semaphore, timed } => self.down(event, semaphore, timed),
            Op::SemFailed { semaphore, .. } => {
                let first = self.rules.firsts.get(&semaphore).copied().unwrap_or(0);
                let count = self.counts.get(&semaphore).copied().unwrap_or(0);
                self.differs(event, first + count > 0);
                Ok(())
            }
            Op::OnceBegin { once } => {
                let new = self.begun.insert(once) && !self.initialised.contains(&once);
                rule(new, Rule::Once)
            }
            Op::OnceEnd { once, done } => {
                if done {
                    self.initialised.insert(once);
                }
                rule(self.begun.remove(&once), Rule::Once)
            }
            Op::OnceDone { once } => rule(self.initialised.contains(&once), Rule::Once),
            Op::HappensAfter { .. } => {
                let before = self.rules.announced.get(&event.id);
                let fine = before.is_none_or(|it| it.iter().all(|it| self.has(*it)));
                rule(fine, Rule::Unannounced)
            }
            Op::Alloc { addr, size } | Op::Map { addr, size } => {
                self.heap.give(addr, size);
                Ok(())
            }
            Op::Free { addr } | Op::Unmap { addr, .. } => {
                let given = self.rules.given.get(&event.id);
                rule(given.is_none_or(|it| self.has(*it)), Rule::Unallocated)?;
                let again = self.heap.take(addr);
                self.differs(event, again);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A semaphore goes down, or its time runs out.
    fn down(&mut self, event: &Event, semaphore: u64, timed: bool) -> Step {
        let first = self.rules.firsts.get(&semaphore).copied().unwrap_or(0);
        let count = self.counts.entry(semaphore).or_default();
        let there = first + *count > 0;
        *count -= i64::from(there);
        self.differs(event, !there);
        rule(there || timed, Rule::Semaphore)
    }

    fn access(&mut self, event: &Event) {
        let same = self.memory.step(event);
        self.differs(event, !same || self.heap.is_gone(&event.op));
    }

    /// Notes an event that saw something else, and when, if it also writes.
    fn differs(&mut self, event: &Event, differs: bool) {
        if differs {
            let writes = matches!(
                event.op,
                Op::Atomic { op: AtomicOp::Rmw { .. } | AtomicOp::Cas { .. }, .. }
            );
            self.differing.push((event.id, if writes { self.time } else { 0 }));
        }
    }

    fn is_taken(&self, lock: u64, thread: ThreadId, shared: bool) -> bool {
        let holders = self.holders.get(&lock).into_iter().flatten();
        holders.into_iter().any(|(it, (_, shares))| *it != thread && !(shared && *shares))
    }

    fn acquire(&mut self, lock: u64, thread: ThreadId, shared: bool) -> Step {
        rule(!self.is_taken(lock, thread, shared), Rule::Held)?;
        self.holders.entry(lock).or_default().entry(thread).or_insert((0, shared)).0 += 1;
        Ok(())
    }

    fn release(&mut self, lock: u64, thread: ThreadId) -> Step {
        let holders = self.holders.entry(lock).or_default();
        let hold = holders.get_mut(&thread).ok_or(Rule::NotHeld)?;
        hold.0 -= 1;
        if hold.0 == 0 {
            holders.remove(&thread);
        }
        Ok(())
    }

    /// A wait ends by the first signal since it began. Any later one could also end waits that
    /// began later, so this leaves most to the others. A broadcast ends all. If there is none, its
    /// time may have run out; whether that is so, and was not in the recorded run.
    fn wake(&mut self, cond: u64, thread: ThreadId, woken: WokenBy) -> Result<bool, Rule> {
        let (began, timed) = self.waits.remove(&thread).ok_or(Rule::Asleep)?;
        match woken {
            WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => return Ok(false),
            WokenBy::Event(_) | WokenBy::OneOf(_) => {}
        }
        let signals = self.signals.entry(cond).or_default();
        let Some(first) = signals.range((began, false)..).next().copied() else {
            return if timed { Ok(true) } else { Err(Rule::Asleep) };
        };
        if !first.1 {
            signals.remove(&first);
        }
        Ok(false)
    }
}
