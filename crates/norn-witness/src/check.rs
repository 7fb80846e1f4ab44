//! Says whether a schedule is possible, and how close it is to the recorded run.
//!
//! This shares no code with the engines that make schedules: it goes through the events of the
//! schedule one by one and asks of each whether it can happen now. Rules of threads, locks and the
//! like must hold, or the schedule is refused. Values need not: if a read sees something else than
//! in the recorded run, and its thread goes on in the schedule, then the program may take another
//! way, and the schedule is speculative.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    AtomicOp, Candidate, Event, EventId, LockMode, Object, Op, ThreadId, Trace, WokenBy,
};
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use crate::{
    Grade, Turn,
    heap::Heap,
    memory::{Memory, Recorded},
};

/// Checks schedules of one trace.
#[derive(Debug)]
pub struct Checker<'a> {
    trace: &'a Trace,
    recorded: Recorded,
    forks: FxHashMap<ThreadId, EventId>,
    /// How many threads meet at a barrier.
    sizes: FxHashMap<u64, u64>,
    /// With what semaphores begin.
    firsts: FxHashMap<u64, i64>,
    /// How many announcements an event had behind it.
    announced: FxHashMap<EventId, Vec<EventId>>,
    /// Where memory that an event gives back was given out.
    given: FxHashMap<EventId, EventId>,
}

/// An event that cannot happen when the schedule wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{event}: {rule}")]
pub struct Refusal {
    /// Which event.
    pub event: EventId,
    /// What forbids it.
    pub rule: Rule,
}

/// What a schedule must obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// The trace does not have it.
    #[error("there is no such event")]
    Missing,
    /// Its thread is not there yet.
    #[error("its thread was not created yet")]
    Unborn,
    /// The thread that it waits for goes on.
    #[error("the joined thread has not ended")]
    Running,
    /// Somebody else has the lock.
    #[error("the lock is held by another thread")]
    Held,
    /// It gives back what it does not have.
    #[error("the lock is not held")]
    NotHeld,
    /// Nobody has woken it.
    #[error("nothing has ended the wait")]
    Asleep,
    /// Others have not arrived.
    #[error("the barrier is not complete")]
    Barrier,
    /// The semaphore is zero.
    #[error("the semaphore is zero")]
    Semaphore,
    /// The initialisation is in another state.
    #[error("the initialisation is not done, or begun twice")]
    Once,
    /// What it comes after has not been announced.
    #[error("what it comes after has not happened")]
    Unannounced,
    /// What it gives back was not given out.
    #[error("the memory is not allocated yet")]
    Unallocated,
    /// The candidate's events are not there, in order, at the end.
    #[error("the candidate's events are not in their order at the end of the schedule")]
    Pattern,
}

impl<'a> Checker<'a> {
    /// Learns what the rules need to know of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        let mut checker = Checker {
            trace,
            recorded: Recorded::default(),
            forks: FxHashMap::default(),
            sizes: FxHashMap::default(),
            firsts: FxHashMap::default(),
            announced: FxHashMap::default(),
            given: FxHashMap::default(),
        };
        checker.learn();
        checker
    }

    fn learn(&mut self) {
        let mut arrived: FxHashMap<u64, u64> = FxHashMap::default();
        let mut semaphores: FxHashMap<u64, (i64, bool)> = FxHashMap::default();
        let mut announced: FxHashMap<u64, Vec<EventId>> = FxHashMap::default();
        let mut given: FxHashMap<u64, EventId> = FxHashMap::default();
        for event in self.trace.merged() {
            match event.op {
                Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. } => {
                    self.recorded.learn(&event);
                }
                Op::Fork(child) => {
                    self.forks.insert(child, event.id);
                }
                Op::Init { object, class: Object::Barrier, detail } => {
                    self.sizes.insert(object, detail);
                }
                Op::Init { object, class: Object::Semaphore, detail } => {
                    self.firsts.insert(object, i64::try_from(detail).unwrap_or(i64::MAX));
                    semaphores.insert(object, (0, true));
                }
                Op::BarrierEnter { barrier } => *arrived.entry(barrier).or_default() += 1,
                Op::BarrierLeave { barrier, .. } => {
                    let seen = arrived.get(&barrier).copied().unwrap_or(0);
                    self.sizes.entry(barrier).or_insert(seen);
                }
                Op::SemPost { semaphore } => semaphores.entry(semaphore).or_default().0 += 1,
                Op::SemWait { semaphore } => {
                    let (count, known) = semaphores.entry(semaphore).or_default();
                    *count -= 1;
                    let first = self.firsts.entry(semaphore).or_default();
                    if !*known {
                        *first = (*first).max(-*count);
                    }
                }
                Op::HappensBefore { object } => announced.entry(object).or_default().push(event.id),
                Op::HappensAfter { object } => {
                    let before = announced.get(&object).cloned().unwrap_or_default();
                    self.announced.insert(event.id, before);
                }
                Op::Alloc { addr, .. } | Op::Map { addr, .. } => {
                    given.insert(addr, event.id);
                }
                Op::Free { addr } | Op::Unmap { addr, .. } => {
                    self.given.extend(given.get(&addr).map(|it| (event.id, *it)));
                }
                _ => {}
            }
        }
        self.recorded.finish();
    }

    /// Whether the schedule is possible and ends with the candidate.
    pub fn check(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Grade, Refusal> {
        self.differences(candidate, turns).map(Grade::of)
    }

    /// The same; how many values differ from the recorded run that can have an influence.
    pub(crate) fn differences(
        &self,
        candidate: &Candidate,
        turns: &[Turn],
    ) -> Result<usize, Refusal> {
        let mut world = World::new(self);
        for turn in turns {
            let from = world.done.get(&turn.thread).copied().unwrap_or(0);
            let thread = self.trace.thread(turn.thread);
            for index in from..turn.until {
                let id = EventId { thread: turn.thread, index };
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                let event = thread.and_then(|it| it.events.get(at));
                let event = event.ok_or(Refusal { event: id, rule: Rule::Missing })?;
                world.step(event).map_err(|rule| Refusal { event: id, rule })?;
                world.done.insert(turn.thread, index + 1);
            }
        }
        is_there(candidate, turns)?;
        Ok(world.influential())
    }
}

/// Whether the candidate's events are in their order, and the last one ends the schedule.
fn is_there(candidate: &Candidate, turns: &[Turn]) -> Result<(), Refusal> {
    let wanted: Vec<_> = candidate.steps.iter().map(|it| it.event).collect();
    let mut ends = BTreeMap::new();
    let mut places = vec![None; wanted.len()];
    let mut time = 0;
    for turn in turns {
        let from = ends.insert(turn.thread, turn.until).unwrap_or(0);
        for (place, it) in places.iter_mut().zip(&wanted) {
            if it.thread == turn.thread && (from..turn.until).contains(&it.index) {
                *place = Some(time + it.index - from);
            }
        }
        time += turn.until.saturating_sub(from);
    }
    let ordered = places.is_sorted_by(|a, b| a.is_some() && a < b);
    let adjacent = |it: &[Option<u64>]| it[0].map(|it| it + 1) == it[1];
    let together = !candidate.adjacent || places.windows(2).all(adjacent);
    let last = places.last().copied().flatten().is_some_and(|it| it + 1 == time);
    let event = wanted.last().copied().unwrap_or(EventId { thread: ThreadId(0), index: 0 });
    let fine = ordered && together && last;
    if fine { Ok(()) } else { Err(Refusal { event, rule: Rule::Pattern }) }
}

/// The state of the program at some point of the schedule.
struct World<'a> {
    rules: &'a Checker<'a>,
    done: BTreeMap<ThreadId, u64>,
    /// By lock: who has it, how often, and whether it shares it.
    holders: FxHashMap<u64, BTreeMap<ThreadId, (u32, bool)>>,
    /// When threads began to wait, and when signals came that ended no wait yet.
    waits: FxHashMap<ThreadId, u64>,
    signals: FxHashMap<u64, BTreeSet<(u64, bool)>>,
    time: u64,
    arrivals: FxHashMap<u64, u64>,
    rounds: FxHashMap<(u64, ThreadId), u64>,
    counts: FxHashMap<u64, i64>,
    begun: FxHashSet<u64>,
    initialised: FxHashSet<u64>,
    memory: Memory<'a>,
    heap: Heap,
    /// Events that saw something else than in the recorded run, and whether they passed it on.
    differing: Vec<(EventId, u64)>,
}

type Step = Result<(), Rule>;

fn rule(fine: bool, rule: Rule) -> Step {
    if fine { Ok(()) } else { Err(rule) }
}

impl<'a> World<'a> {
    fn new(rules: &'a Checker<'a>) -> Self {
        World {
            rules,
            done: BTreeMap::new(),
            holders: FxHashMap::default(),
            waits: FxHashMap::default(),
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
    fn influential(&self) -> usize {
        let last = |id: &EventId| self.done.get(&id.thread) == Some(&(id.index + 1));
        let influences =
            |id: &EventId, passed: u64| !last(id) || passed != 0 && passed != self.time;
        self.differing.iter().filter(|(id, passed)| influences(id, *passed)).count()
    }

    fn has(&self, id: EventId) -> bool {
        self.done.get(&id.thread).is_some_and(|it| *it > id.index)
    }

    fn step(&mut self, event: &Event) -> Step {
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
            Op::Acquire { lock, mode, .. } => {
                return self.acquire(lock, thread, mode == LockMode::Read);
            }
            Op::AcquireFailed { lock, mode, .. } => {
                self.differs(event, !self.is_taken(lock, thread, mode == LockMode::Read));
            }
            Op::Release { lock, .. } | Op::WaitRelease { lock } => {
                return self.release(lock, thread);
            }
            Op::Wait { .. } => {
                self.waits.insert(thread, self.time);
            }
            Op::WaitAcquire { cond, lock, woken } => {
                self.wake(cond, thread, woken)?;
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
            Op::SemWait { semaphore } => {
                let first = self.rules.firsts.get(&semaphore).copied().unwrap_or(0);
                let count = self.counts.entry(semaphore).or_default();
                *count -= 1;
                rule(first + *count >= 0, Rule::Semaphore)
            }
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
    /// began later, so this leaves most to the others. A broadcast ends all.
    fn wake(&mut self, cond: u64, thread: ThreadId, woken: WokenBy) -> Step {
        let began = self.waits.remove(&thread).ok_or(Rule::Asleep)?;
        match woken {
            WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => return Ok(()),
            WokenBy::Event(_) | WokenBy::OneOf(_) => {}
        }
        let signals = self.signals.entry(cond).or_default();
        let first = signals.range((began, false)..).next().copied().ok_or(Rule::Asleep)?;
        if !first.1 {
            signals.remove(&first);
        }
        Ok(())
    }
}
