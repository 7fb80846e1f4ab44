//! The exact engine on random tiny traces, compared with brute force over all orders: it finds a
//! schedule if and only if there is one, and the checker accepts it.

use norn_model::{Access, BugClass, Candidate, CandidateKind, EventId, Scope, Step, Trace};
use norn_testkit::{Oracle, Shape, traces};
use norn_witness::{
    Checker, Engine, Engines, Exact, Failure, Grade, Infeasible, Limits, Witnesses,
};
use proptest::{prelude::*, sample::Index, test_runner::Config};

/// Number of cases per property: few by default, more if `NORN_CASES` is set.
fn cases() -> Config {
    let cases = std::env::var("NORN_CASES").ok().and_then(|it| it.parse().ok());
    Config { cases: cases.unwrap_or(150), ..Config::default() }
}

const PLAIN: Shape = Shape {
    threads: 2,
    pieces: 3,
    nested: false,
    waits: false,
    channels: false,
    handlers: false,
    nests: 0,
    frees: false,
    objects: false,
    rich: false,
    weak: false,
    events: 13,
};
const WAITS: Shape = Shape { waits: true, events: 15, ..PLAIN };
const CHANNELS: Shape = Shape { channels: true, ..PLAIN };
const FREES: Shape = Shape { frees: true, ..PLAIN };
const OBJECTS: Shape = Shape { objects: true, ..PLAIN };
const RICH: Shape = Shape { rich: true, waits: true, events: 14, ..PLAIN };
const MANY: Shape =
    Shape { threads: 3, pieces: 2, waits: true, channels: true, rich: true, ..PLAIN };

/// A candidate of arbitrary events.
pub(crate) fn candidate(trace: &Trace, events: &[EventId], adjacent: bool) -> Candidate {
    let step = |event: &EventId| Step {
        event: *event,
        site: trace.event(*event).unwrap().site,
        addr: 0,
        access: Access::Write,
        region: (event.index, event.index),
    };
    Candidate {
        kind: CandidateKind::pattern(BugClass::Pattern, "any"),
        adjacent,
        steps: events.iter().map(step).collect(),
        stuck: Vec::new(),
        scope: Scope::Single,
        instance: 0,
    }
}

#[test]
fn of_too_many_candidates_only_the_first_are_decided() {
    let trace = "order global\nT1 w x 1\nT2 r x 1\nT1 w x 2\nT2 r y 0";
    let trace = norn_model::text::parse(trace).unwrap();
    let ids: Vec<_> = trace.merged().map(|it| it.id).collect();
    // The thread that reads 1 would have to go on after it has read 2.
    let impossible = candidate(&trace, &[ids[2], ids[1], ids[3]], false);
    let instance = |instance| Candidate { instance, ..impossible.clone() };
    let all: Vec<_> = (0..5000).map(instance).collect();
    let witnesses = Witnesses::with(&trace, Engines::Exact);
    let is_decided = |it: &Candidate| match witnesses.witness(it) {
        Err(Failure::Impossible(_)) => true,
        Err(Failure::Inconclusive) => false,
        other => panic!("{other:?}"),
    };
    assert!(all.iter().all(is_decided));
    for (trace, decided) in [(0, 1000), (1, 500), (40, 128)] {
        witnesses.expect(all.iter().map(|it| [it]), trace);
        assert_eq!(all.iter().filter(|it| is_decided(it)).count(), decided);
        assert!(is_decided(&all[0]) && !is_decided(&all[4999]));
    }
    witnesses.expect(all[..100].iter().map(|it| [it]), 0);
    assert!(all.iter().all(is_decided));
}

/// Traces as text, with events whose order is queried.
fn questions(shape: Shape) -> impl Strategy<Value = (String, Vec<Vec<Index>>, bool)> {
    let steps = prop::collection::vec(any::<Index>(), 2..4);
    let traces = traces(shape).prop_map(|it| norn_model::text::print(&it));
    (traces, prop::collection::vec(steps, 4), any::<bool>())
}

fn agrees(text: &str, questions: &[Vec<Index>], adjacent: bool) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(text).unwrap();
    if trace.is_empty() {
        return Ok(());
    }
    let (oracle, checker) = (Oracle::new(&trace), Checker::new(&trace));
    let exact = Exact::new(&trace, Limits::default());
    let all: Vec<_> = trace.merged().map(|it| it.id).collect();
    for question in questions {
        let events = distinct(question, &all);
        let candidate = candidate(&trace, &events, adjacent);
        let possible = oracle.can_order_as_seen(&events, adjacent);
        let answers: Vec<_> = exact.schedules(&candidate).collect();
        for turns in answers.iter().flatten() {
            prop_assert!(possible, "{events:?}: {turns:?}");
            prop_assert_eq!(checker.check(&candidate, turns), Ok(Grade::Sound), "{:?}", turns);
        }
        let refuted = answers.contains(&Err(Infeasible::NoOrder));
        prop_assert_eq!(refuted, !possible, "{:?}: {:?}", events, answers);
        let witness = Witnesses::with(&trace, Engines::Exact).witness(&candidate);
        prop_assert_eq!(witness.is_ok_and(|it| it.grade == Grade::Sound), possible);
    }
    Ok(())
}

/// In a window shorter than the trace, schedules are correct, and only candidates that contradict
/// the happens-before order are called infeasible.
fn windows_agree(
    text: &str,
    questions: &[Vec<Index>],
    adjacent: bool,
) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(text).unwrap();
    if trace.is_empty() {
        return Ok(());
    }
    let (oracle, checker) = (Oracle::new(&trace), Checker::new(&trace));
    let exact = Exact::new(&trace, Limits { events: 7, ..Limits::default() });
    let all: Vec<_> = trace.merged().map(|it| it.id).collect();
    for question in questions {
        let events = distinct(question, &all);
        let candidate = candidate(&trace, &events, adjacent);
        let possible = oracle.can_order_as_seen(&events, adjacent);
        for answer in exact.schedules(&candidate) {
            match answer {
                Ok(turns) => {
                    prop_assert!(possible, "{events:?}: {turns:?}");
                    prop_assert_eq!(checker.check(&candidate, &turns), Ok(Grade::Sound));
                }
                Err(Infeasible::NoOrder) => prop_assert!(!possible, "{events:?}"),
                Err(other) => prop_assert_eq!(other, Infeasible::Undecided),
            }
        }
    }
    Ok(())
}

fn distinct(question: &[Index], all: &[EventId]) -> Vec<EventId> {
    let mut events: Vec<EventId> = Vec::new();
    for index in question {
        let event = *index.get(all);
        if !events.contains(&event) {
            events.push(event);
        }
    }
    events
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn locks_and_values((trace, steps, adjacent) in questions(PLAIN)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn conditions_and_semaphores((trace, steps, adjacent) in questions(WAITS)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn channels((trace, steps, adjacent) in questions(CHANNELS)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn descriptors_and_destroyed_locks((trace, steps, adjacent) in questions(OBJECTS)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn freed_memory((trace, steps, adjacent) in questions(FREES)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn everything((trace, steps, adjacent) in questions(RICH)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn three_threads((trace, steps, adjacent) in questions(MANY)) {
        agrees(&trace, &steps, adjacent)?;
    }

    #[test]
    fn windows((trace, steps, adjacent) in questions(RICH)) {
        windows_agree(&trace, &steps, adjacent)?;
    }
}
