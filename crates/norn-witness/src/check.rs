//! Says whether a schedule is possible, and how close it is to the recorded run.
//!
//! This shares no code with the engines that make schedules: it goes through the events of the
//! schedule one by one and asks of each whether it can happen now. Rules of threads, locks and the
//! like must hold, or the schedule is refused. Values need not: if a read sees something else than
//! in the recorded run, and its thread goes on in the schedule, then the program may take another
//! way, and the schedule is speculative.

use std::collections::BTreeMap;

use norn_model::{Access, Apart, BugClass, Candidate, EventId, Object, Op, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::{
    Grade, Turn, fate,
    memory::Recorded,
    witness::{Weight, events},
    world::World,
};

/// Checks schedules of one trace.
#[derive(Debug)]
pub struct Checker<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) recorded: Recorded,
    pub(crate) forks: FxHashMap<ThreadId, EventId>,
    /// How many threads meet at a barrier.
    pub(crate) sizes: FxHashMap<u64, u64>,
    /// With what semaphores begin.
    pub(crate) firsts: FxHashMap<u64, i64>,
    /// How many announcements an event had behind it.
    pub(crate) announced: FxHashMap<EventId, Vec<EventId>>,
    /// Where memory that an event gives back was given out.
    pub(crate) given: FxHashMap<EventId, EventId>,
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
    /// A thread that is to get stuck is not where it should.
    #[error("its thread is not right before it at the end of the schedule")]
    Elsewhere,
    /// A thread that is to get stuck can go on, now or later.
    #[error("its thread does not get stuck there")]
    Unstuck,
    /// It comes between two events that it must not come between.
    #[error("it must not come here")]
    Between,
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
                Op::SemWait { semaphore, .. } => {
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
        self.weight(candidate, turns).map(|it| Grade::of(it.differences))
    }

    /// The same; how far it is from the recorded run.
    pub(crate) fn weight(&self, candidate: &Candidate, turns: &[Turn]) -> Result<Weight, Refusal> {
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
        if !candidate.stuck.is_empty() {
            fate::is_stuck(&world, candidate)?;
            return Ok(Weight { differences: world.differing.len(), idle: false });
        }
        is_there(candidate, turns)?;
        let idle = depends_on_reads(candidate) && world.differing.is_empty();
        Ok(Weight { differences: world.influential(), idle })
    }
}

/// Whether nothing comes in between that must not.
pub(crate) fn is_apart(aparts: &[Apart], turns: &[Turn]) -> Result<(), Refusal> {
    if aparts.is_empty() {
        return Ok(());
    }
    let times: FxHashMap<EventId, usize> = events(turns).zip(0..).collect();
    let between = |it: &&Apart| {
        let time = |id: EventId| times.get(&id).copied();
        let late = it.after.is_none_or(|after| time(after) < time(it.event));
        time(it.event).is_some_and(|event| late && Some(event) < time(it.before))
    };
    let found = aparts.iter().find(between);
    found.map_or(Ok(()), |it| Err(Refusal { event: it.event, rule: Rule::Between }))
}

/// Whether a candidate does harm by what it reads: a read comes after what another thread did, or
/// before what it saw. Events that are to be adjacent do harm in any case.
fn depends_on_reads(candidate: &Candidate) -> bool {
    let steps = &candidate.steps;
    let foreign = |it: &Step, before: &[Step]| {
        before.iter().any(|other| other.event.thread != it.event.thread)
    };
    let reads = |at: usize| {
        let early = at == 0 && candidate.class() == BugClass::Order;
        steps[at].access == Access::Read && (early || foreign(&steps[at], &steps[..at]))
    };
    !candidate.adjacent && (0..steps.len()).any(reads)
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
