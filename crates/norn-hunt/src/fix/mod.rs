//! Suggests a critical section that would have excluded the failing order of a data race or of an atomicity
//! violation, and checks it.
//!
//! Each thread of the candidate gets a [section](section): the lines from its first to its last event. The lock is one that
//! [already protects](lock_choice) the variable, or else a new one. The recorded run is [rewritten](rewrite) as if all
//! executions of these lines held it, and the exact engine then has to [prove](check) that the failing order is impossible
//! and that no deadlock is possible that needs the added lock. The first lock that passes is suggested.
//!
//! A program has many locks of one kind where objects have locks of their own. If other executions of the lines access
//! another object, they hold the lock at the same distance from it, provided that there is one.

mod check;
mod lock_choice;
mod named;
mod rewrite;
mod section;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use norn_model::{
    BugClass, Candidate, Event, EventId, HeldIndex, LockEffect, LockMode, Step, ThreadId, Trace,
};
use norn_report::LockObjection;

pub(crate) use self::named::{FixSearch, suggested_fix};
use self::{
    check::Objection,
    lock_choice::{ExistingLock, is_held_throughout, protecting_locks},
    rewrite::{Hold, rewrite},
    section::{Frames, Lines, Stretch, balanced, joined, lines},
};

/// The address of a new lock: no object of a program is there.
const NEW_LOCK: u64 = 1;
/// Traces with more events are not examined.
const MOST_EVENTS: usize = 1 << 18;
/// Number of existing locks that are examined.
const MOST_LOCKS: usize = 4;

/// A lock that excludes a failing order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Suggestion {
    /// The lock; none if it is a new one.
    lock: Option<ExistingLock>,
    /// The lines that have to hold it.
    sections: Vec<Lines>,
    /// Acquisitions in these lines that would acquire it again.
    replaced: Vec<EventId>,
    /// How often the run executes the lines.
    executions: usize,
    /// Number of cycles of waiting threads that are impossible, but need the proof.
    cycles: usize,
    /// The locks that were examined before, and what is against them.
    rejected: Vec<(ExistingLock, LockObjection)>,
}

/// Lines that have to hold a lock, and the places of the candidate in them.
struct Section {
    lines: Lines,
    steps: Vec<Step>,
}

/// Suggests a lock for a candidate.
fn suggest(
    trace: &Trace,
    candidate: &Candidate,
    frames: &dyn Fn(&Event) -> Frames,
) -> Option<Suggestion> {
    let by_lock = [BugClass::Race, BugClass::Atomicity, BugClass::AtomicSet];
    if !by_lock.contains(&candidate.class()) || trace.len() > MOST_EVENTS {
        return None;
    }
    // That nothing but the lock excludes the order is part of the proof.
    if !check::is_possible(&rewrite(trace, candidate, &[])?) {
        return None;
    }
    let existing = protecting_locks(trace, candidate).into_iter().take(MOST_LOCKS).map(Some);
    let mut rejected = Vec::new();
    for lock in existing.chain([None]) {
        let trial = Trial { trace, candidate, frames, lock };
        match trial.examine() {
            Ok(suggestion) => return Some(Suggestion { rejected, ..suggestion }),
            Err(objection) => rejected.extend(lock.map(|it| (it, objection))),
        }
    }
    None
}

/// The examination of one lock.
struct Trial<'a> {
    trace: &'a Trace,
    candidate: &'a Candidate,
    frames: &'a dyn Fn(&Event) -> Frames,
    lock: Option<ExistingLock>,
}

impl Trial<'_> {
    fn examine(&self) -> Result<Suggestion, LockObjection> {
        let (sections, whole) = self.sections().ok_or(LockObjection::NoPlace)?;
        let (holds, executions) = self.holds(&sections, &whole)?;
        let run = rewrite(self.trace, self.candidate, &holds).ok_or(LockObjection::Deadlock)?;
        let cycles = check::check(&run).map_err(|it| match it {
            Objection::NotExcluded => LockObjection::NotExcluded,
            Objection::Deadlock => LockObjection::Deadlock,
        })?;
        Ok(Suggestion {
            lock: self.lock,
            sections: sections.into_iter().map(|it| it.lines).collect(),
            replaced: self.once_each(run.replaced),
            executions,
            cycles,
            rejected: Vec::new(),
        })
    }

    /// The lines that do not hold the lock yet, and the stretches of the candidate's threads in them. `None` if they are
    /// not in one function.
    fn sections(&self) -> Option<(Vec<Section>, Vec<Stretch>)> {
        let threads: BTreeSet<_> = self.candidate.steps.iter().map(|it| it.event.thread).collect();
        let mut whole = Vec::new();
        let mut sections: Vec<Section> = Vec::new();
        for id in threads {
            let steps = self.candidate.steps.iter().filter(|it| it.event.thread == id);
            let steps: Vec<_> = steps.copied().collect();
            let first = steps.iter().map(|it| it.event).min()?;
            let last = steps.iter().map(|it| it.event).max()?;
            let held = |it: ExistingLock| is_held_throughout(self.trace, it.lock, (first, last));
            if self.lock.is_some_and(held) {
                continue;
            }
            let thread = self.trace.thread(id)?;
            let at = |it: EventId| usize::try_from(it.index).ok();
            let events = balanced(thread, at(first)?..=at(last)?);
            let steps_of = (self.trace.event(first)?, self.trace.event(last)?);
            let lines = lines(thread.events.get(events.clone())?, steps_of, self.frames)?;
            whole.push(Stretch { thread: id, events });
            sections.push(Section { lines, steps });
        }
        let joined = joined(sections.iter().map(|it| it.lines.clone()).collect());
        let of = |lines: Lines| {
            let inside = sections.iter().filter(|it| lines.contains(&it.lines));
            Section { steps: inside.flat_map(|it| it.steps.clone()).collect(), lines }
        };
        Some((joined.into_iter().map(of).collect(), whole))
    }

    /// What holds the lock in addition, and how often the lines are executed.
    fn holds(
        &self,
        sections: &[Section],
        whole: &[Stretch],
    ) -> Result<(Vec<Hold>, usize), LockObjection> {
        let (locks, held) = (known_locks(self.trace), HeldIndex::new(self.trace));
        let mut holds: Vec<Hold> = Vec::new();
        let mut executions = 0;
        for section in sections {
            for stretch in section.lines.stretches(self.trace, whole, self.frames) {
                executions += 1;
                let index = *stretch.events.start() as u64;
                let held = held.before(EventId { thread: stretch.thread, index });
                for lock in self.locks_of(section, &stretch, &locks) {
                    // Lines that sometimes hold a lock already cannot simply acquire it.
                    if held.depth(lock) > 0 {
                        return Err(LockObjection::HeldSometimes);
                    }
                    let mode = self.lock.map_or(LockMode::Mutex, |it| it.mode);
                    holds.push(Hold { stretch: stretch.clone(), lock, mode });
                }
            }
        }
        Ok((without_nested(holds), executions))
    }

    /// The first event of each place.
    fn once_each(&self, events: Vec<EventId>) -> Vec<EventId> {
        let mut seen = BTreeSet::new();
        let is_new = |it: &EventId| seen.insert(self.trace.event(*it).map(|it| it.site));
        events.into_iter().filter(is_new).collect()
    }

    /// The locks that an execution of the lines holds: one for each object that it accesses.
    fn locks_of(
        &self,
        section: &Section,
        stretch: &Stretch,
        known: &BTreeSet<u64>,
    ) -> BTreeSet<u64> {
        let Some(ExistingLock { lock, .. }) = self.lock else { return [NEW_LOCK].into() };
        let events = self.trace.thread(stretch.thread).map(|it| &it.events[stretch.events.clone()]);
        let corresponding = |event: &Event| {
            let access = event.op.access()?;
            let step = section.steps.iter().find(|it| self.is_same_code(it, event))?;
            let recorded = self.trace.event(step.event)?.op.access()?;
            let other = lock.wrapping_add(access.addr).wrapping_sub(recorded.addr);
            Some(if known.contains(&other) { other } else { lock })
        };
        let locks: BTreeSet<_> = events.into_iter().flatten().filter_map(corresponding).collect();
        if locks.is_empty() { [lock].into() } else { locks }
    }

    /// Whether an event executes the code of a step. A function that is inlined has several copies of it, on
    /// the same line.
    fn is_same_code(&self, step: &Step, event: &Event) -> bool {
        let Some(of_step) = self.trace.event(step.event) else { return false };
        let kind = |it: &Event| it.op.access().map(|it| (it.read.is_some(), it.size));
        let line = |it: &Event| (self.frames)(it).last().cloned();
        step.site == event.site
            || kind(of_step) == kind(event) && line(event).is_some() && line(of_step) == line(event)
    }
}

/// The locks of a run.
fn known_locks(trace: &Trace) -> BTreeSet<u64> {
    let events = trace.threads.iter().flat_map(|it| &it.events);
    let lock = |it: &Event| match it.op.effect().lock() {
        Some(LockEffect::Acquire { lock, .. }) => Some(lock),
        Some(LockEffect::Failed { .. } | LockEffect::Release { .. }) | None => None,
    };
    events.filter_map(lock).collect()
}

/// Leaves out holds inside of others of the same lock: it is not acquired twice.
fn without_nested(holds: Vec<Hold>) -> Vec<Hold> {
    let key = |it: &Hold| -> (ThreadId, u64, usize, usize) {
        let (first, last) = (*it.stretch.events.start(), *it.stretch.events.end());
        (it.stretch.thread, it.lock, first, usize::MAX - last)
    };
    let mut holds = holds;
    holds.sort_by_key(key);
    let mut kept: Vec<Hold> = Vec::new();
    for hold in holds {
        let is_inside = |outer: &Hold| {
            (outer.stretch.thread, outer.lock) == (hold.stretch.thread, hold.lock)
                && hold.stretch.events.start() <= outer.stretch.events.end()
        };
        match kept.last_mut().filter(|it| is_inside(it)) {
            Some(outer) => {
                let last = *outer.stretch.events.end().max(hold.stretch.events.end());
                outer.stretch.events = *outer.stretch.events.start()..=last;
            }
            None => kept.push(hold),
        }
    }
    kept
}
