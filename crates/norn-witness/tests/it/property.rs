//! Comparisons with brute force over all orders, on random tiny traces.

use norn_model::{BugClass, Candidate, Event, EventId, Object, Op, Trace};
use norn_predict::{Options, predict};
use norn_testkit::{Oracle, Shape, traces};
use norn_witness::{Witnesses, events};
use proptest::{prelude::*, test_runner::Config};

/// Number of cases per property: few by default, more if `NORN_CASES` is set.
pub(crate) fn cases() -> Config {
    let cases = std::env::var("NORN_CASES").ok().and_then(|it| it.parse().ok());
    Config { cases: cases.unwrap_or(200), ..Config::default() }
}

pub(crate) const LOCKS: Shape = Shape {
    threads: 2,
    pieces: 3,
    nested: true,
    waits: false,
    channels: false,
    handlers: false,
    nests: 0,
    frees: false,
    objects: false,
    rich: false,
    weak: false,
    events: 14,
};
pub(crate) const CROSSED: Shape = Shape { nested: false, ..LOCKS };
const FREES: Shape = Shape { frees: true, ..LOCKS };
const OBJECTS: Shape = Shape { objects: true, ..LOCKS };
pub(crate) const CHANNELS: Shape = Shape { channels: true, ..LOCKS };
pub(crate) const HANDLERS: Shape = Shape { handlers: true, events: 16, ..LOCKS };
pub(crate) const WAITS: Shape = Shape { waits: true, events: 16, ..LOCKS };

/// Random traces as text, so that a failure is readable.
pub(crate) fn text(shape: Shape) -> impl Strategy<Value = String> {
    traces(shape).prop_map(|it| norn_model::text::print(&it))
}

pub(crate) fn all(patterns: impl Fn(BugClass) -> bool) -> Options {
    let mut options = Options { instances: usize::MAX, ..Options::default() };
    options.analyses.retain(|it| patterns(it.class) || it.class == BugClass::Order);
    options
}

/// Every witness is a possible order of events.
fn witnesses_are_possible(trace: &str) -> Result<(), TestCaseError> {
    let trace = &norn_model::text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(trace), Witnesses::new(trace));
    for candidate in predict(trace, &all(|_| true)).candidates {
        if let Ok(witness) = witnesses.witness(&candidate) {
            let order: Vec<_> = events(&witness.turns).collect();
            prop_assert!(oracle.allows(&order), "{:?}", witness);
        }
    }
    Ok(())
}

/// Every race that some order has is predicted and gets a schedule.
fn real_races_get_a_schedule(trace: &str) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(trace).unwrap();
    let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
    let found = predict(&trace, &all(|it| it == BugClass::Race)).candidates;
    for pair in conflicts(&trace) {
        if !oracle.can_order(&pair, true) {
            continue;
        }
        let candidate = found.iter().find(|it| it.steps.iter().map(|it| it.event).eq(pair));
        let Some(candidate) = candidate else {
            return Err(TestCaseError::fail(format!("{pair:?} is not predicted")));
        };
        let witness = witnesses.witness(candidate);
        prop_assert!(witness.is_ok(), "{:?}", witness);
    }
    Ok(())
}

/// The address that an event accesses, and whether it writes.
fn access(op: &Op) -> Option<(u64, bool)> {
    match *op {
        Op::Read { addr, .. } => Some((addr, false)),
        Op::Write { addr, .. } => Some((addr, true)),
        _ => None,
    }
}

/// All pairs of accesses to one variable by two threads, one of them a write.
fn conflicts(trace: &Trace) -> Vec<[EventId; 2]> {
    let mut conflicts = Vec::new();
    let events: Vec<_> = trace.merged().collect();
    for one in &events {
        for other in events.iter().filter(|it| it.id.thread != one.id.thread) {
            if let (Some(a), Some(b)) = (access(&one.op), access(&other.op))
                && a.0 == b.0
                && (a.1 || b.1)
            {
                conflicts.push([one.id, other.id]);
            }
        }
    }
    conflicts
}

/// Consecutive accesses of one thread to one variable, and a conflicting one of another thread
/// between them.
fn triples(trace: &Trace) -> Vec<[EventId; 3]> {
    let conflicting = conflicts(trace);
    let mut triples = Vec::new();
    for thread in &trace.threads {
        let mut last: Vec<(u64, EventId, bool)> = Vec::new();
        for event in &thread.events {
            if matches!(event.op, Op::Join(_) | Op::SemWait { .. } | Op::WaitAcquire { .. }) {
                last.clear();
            }
            let Some((addr, write)) = access(&event.op) else { continue };
            if let Some((_, first, wrote)) = last.iter().find(|it| it.0 == addr) {
                let between = conflicting.iter().filter(|it| it[0] == *first);
                for other in between.map(|it| it[1]) {
                    let writes = access(&trace.event(other).unwrap().op).unwrap().1;
                    // An access that could equally come before or after both is not a violation.
                    if writes || *wrote && write {
                        triples.push([*first, other, event.id]);
                    }
                }
                // Two reads conflict only with a write, and a read only with two writes.
                let more = conflicting.iter().filter(|it| it[0] == event.id).map(|it| it[1]);
                for other in more {
                    let writes = access(&trace.event(other).unwrap().op).unwrap().1;
                    let triple = [*first, other, event.id];
                    if writes && !triples.contains(&triple) {
                        triples.push(triple);
                    }
                }
            }
            last.retain(|it| it.0 != addr);
            last.push((addr, event.id, write));
        }
    }
    triples
}

/// Every event that frees memory, with every event of another thread that uses or frees it.
fn uses_after_free(trace: &Trace) -> Vec<[EventId; 2]> {
    let events: Vec<_> = trace.merged().collect();
    let frees = events.iter().filter(|it| matches!(it.op, Op::Free { .. }));
    let pairs = frees.flat_map(|free| {
        let Op::Free { addr: block } = free.op else { return Vec::new() };
        let about = |op: &Op| match *op {
            Op::Read { addr, .. } | Op::Write { addr, .. } => (block..block + 8).contains(&addr),
            Op::Free { addr } | Op::Signal { cond: addr } => addr == block,
            _ => false,
        };
        let others = events.iter().filter(|it| it.id.thread != free.id.thread && about(&it.op));
        others.map(|it| [free.id, it.id]).collect()
    });
    pairs.collect()
}

/// Every use of a descriptor, with the first close of it after the use, if that is by another thread.
fn uses_after_close(trace: &Trace) -> Vec<[EventId; 2]> {
    let events: Vec<_> = trace.merged().collect();
    let mut pairs = Vec::new();
    for (at, used) in events.iter().enumerate() {
        let Op::Use { object, .. } = used.op else { continue };
        let class = Object::Descriptor;
        let close = events[at..].iter().find(|it| it.op == Op::Destroy { object, class });
        let others = close.filter(|it| it.id.thread != used.id.thread);
        pairs.extend(others.map(|it| [it.id, used.id]));
    }
    pairs
}

/// Every acquisition and release of a lock, with the first destruction after it, if that is by another
/// thread.
fn destructions_in_use(trace: &Trace) -> Vec<[EventId; 3]> {
    let events: Vec<_> = trace.merged().collect();
    let mut triples = Vec::new();
    for (at, released) in events.iter().enumerate() {
        let Op::Release { lock, .. } = released.op else { continue };
        let thread = released.id.thread;
        let same = |it: &&Event| {
            it.id.thread == thread && matches!(it.op, Op::Acquire { lock: it, .. } if it == lock)
        };
        let taken = events[..at].iter().rev().find(same).unwrap();
        let destroys = |it: &&Event| matches!(it.op, Op::Destroy { object, .. } if object == lock);
        let destroy = events[at..].iter().find(destroys).filter(|it| it.id.thread != thread);
        triples.extend(destroy.map(|it| [taken.id, it.id, released.id]));
    }
    triples
}

proptest! {
    #![proptest_config(cases())]

    /// Every use after close, and every destruction of a lock in use, of some order is predicted and gets
    /// a schedule; nothing else is predicted.
    #[test]
    fn real_misuse_gets_a_schedule(trace in text(OBJECTS)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
        let mut options = Options { instances: usize::MAX, ..Options::default() };
        let classes = [BugClass::LockMisuse, BugClass::Descriptor];
        options.analyses.retain(|it| classes.contains(&it.class));
        let prediction = predict(&trace, &options);
        let violations = prediction.violations.into_iter().map(|it| it.0);
        let found: Vec<_> = prediction.candidates.into_iter().chain(violations).collect();
        let closes = uses_after_close(&trace).into_iter().map(|it| it.to_vec());
        let destroys = destructions_in_use(&trace).into_iter().map(|it| it.to_vec());
        let all: Vec<_> = closes.chain(destroys).collect();
        let steps = |it: &Candidate| it.steps.iter().map(|it| it.event).collect::<Vec<_>>();
        for events in all.iter().filter(|it| oracle.can_order(it, false)) {
            // Of the uses of a thread at one site, the last one stands for all.
            let stands = |it: &&Candidate| steps(it)[0] == events[0] && steps(it).len() == 2;
            let candidate = found.iter().find(|it| steps(it) == *events);
            let Some(candidate) = candidate.or_else(|| found.iter().find(stands)) else {
                return Err(TestCaseError::fail(format!("{events:?} is not predicted")));
            };
            let witness = witnesses.witness(candidate);
            prop_assert!(witness.is_ok(), "{:?}", witness);
        }
        prop_assert!(found.iter().all(|it| all.contains(&steps(it))), "{:?}", found);
    }

    #[test]
    fn witnesses_are_possible_with_objects(trace in text(OBJECTS)) {
        witnesses_are_possible(&trace)?;
    }

    /// Every atomicity violation of some order is predicted and gets a schedule.
    #[test]
    fn real_atomicity_violations_get_a_schedule(trace in text(LOCKS)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
        let found = predict(&trace, &all(|it| it == BugClass::Atomicity)).candidates;
        for triple in triples(&trace) {
            if !oracle.can_order(&triple, false) {
                continue;
            }
            let candidate = found.iter().find(|it| it.steps.iter().map(|it| it.event).eq(triple));
            let Some(candidate) = candidate else {
                return Err(TestCaseError::fail(format!("{triple:?} is not predicted")));
            };
            let witness = witnesses.witness(candidate);
            prop_assert!(witness.is_ok(), "{:?}", witness);
        }
    }

    #[test]
    fn witnesses_are_possible_with_locks(trace in text(LOCKS)) {
        witnesses_are_possible(&trace)?;
    }

    #[test]
    fn witnesses_are_possible_with_frees(trace in text(FREES)) {
        witnesses_are_possible(&trace)?;
    }

    /// Every use after free and every double free of some order is predicted and gets a schedule.
    #[test]
    fn real_uses_after_free_get_a_schedule(trace in text(FREES)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let (oracle, witnesses) = (Oracle::new(&trace), Witnesses::new(&trace));
        let found = predict(&trace, &all(|it| it == BugClass::Lifetime)).candidates;
        let pairs = uses_after_free(&trace);
        for pair in &pairs {
            let candidate = found.iter().find(|it| it.steps.iter().map(|it| it.event).eq(*pair));
            if !oracle.can_order(pair, false) {
                continue;
            }
            let Some(candidate) = candidate else {
                return Err(TestCaseError::fail(format!("{pair:?} is not predicted")));
            };
            let witness = witnesses.witness(candidate);
            prop_assert!(witness.is_ok(), "{:?}", witness);
        }
        let steps = |it: &Candidate| it.steps.iter().map(|it| it.event).collect::<Vec<_>>();
        prop_assert!(found.iter().all(|it| pairs.iter().any(|pair| steps(it) == *pair)));
    }

    #[test]
    fn witnesses_are_possible_with_crossed_locks(trace in text(CROSSED)) {
        witnesses_are_possible(&trace)?;
    }

    #[test]
    fn witnesses_are_possible_with_waits(trace in text(WAITS)) {
        witnesses_are_possible(&trace)?;
    }

    /// If locks are nested.
    #[test]
    fn real_races_get_a_schedule_with_locks(trace in text(LOCKS)) {
        real_races_get_a_schedule(&trace)?;
    }

    #[test]
    fn real_races_get_a_schedule_with_channels(trace in text(CHANNELS)) {
        real_races_get_a_schedule(&trace)?;
    }

    #[test]
    fn witnesses_are_possible_with_channels(trace in text(CHANNELS)) {
        witnesses_are_possible(&trace)?;
    }

    /// A thread does not continue while a signal handler runs on it.
    #[test]
    fn witnesses_are_possible_with_handlers(trace in text(HANDLERS)) {
        witnesses_are_possible(&trace)?;
    }

    /// What is only forbidden by what threads send each other is not predicted.
    #[test]
    fn races_across_channels_are_real(trace in text(CHANNELS)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let oracle = Oracle::new(&trace);
        for candidate in predict(&trace, &all(|it| it == BugClass::Race)).candidates {
            let steps: Vec<_> = candidate.steps.iter().map(|it| it.event).collect();
            if candidate.kind.class() == BugClass::Race {
                prop_assert!(oracle.can_order(&steps, true), "{:?}", steps);
            }
        }
    }
}
