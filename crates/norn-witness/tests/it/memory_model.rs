//! The C++ memory model: litmus tests, and random tiny traces against its definition.
//!
//! Every relation is computed three times: by the clocks of the model, by the checker, and by the
//! oracle from the words of the standard.

use insta::assert_snapshot;
use norn_checker::{Checker, Turn};
use norn_model::{
    BugClass, EventId, Op, Trace,
    memory_model::{AtomicEdges, Edges, HappensBefore},
};
use norn_predict::predict;
use norn_testkit::{Oracle, Relation, Shape, outcomes};
use norn_witness::{Grade, Witness, Witnesses, events};
use proptest::prelude::*;

use crate::property::{all, cases, text};

/// A trace in its recorded order.
fn recorded(trace: &Trace) -> (Vec<EventId>, Vec<Turn>) {
    let order: Vec<_> = trace.merged().map(|it| it.id).collect();
    let turn = |it: &EventId| Turn { thread: it.thread, until: it.index + 1 };
    let turns = order.iter().map(turn).collect();
    (order, turns)
}

/// Whether one event happens before another, by all three implementations.
fn is_before(trace: &Trace, one: EventId, other: EventId) -> bool {
    let (order, turns) = recorded(trace);
    let by_definition = Relation::new(trace, &order).is_before(one, other);
    let by_clocks = HappensBefore::new(trace, Edges::CXX20).is_before(one, other);
    let by_checker = Checker::new(trace).is_before(&turns, one, other);
    assert_eq!((by_clocks, by_checker), (by_definition, by_definition), "{one} {other}");
    by_definition
}

/// What the runs of a program can read, and what happens before what in them.
fn litmus(program: &str) -> String {
    outcomes(program, is_before)
}

/// Message passing, with these operations between write and read. Whether the load itself comes after
/// the write depends on where a fence is, and is left out.
fn message(store: &str, load: &str) -> String {
    let lines = |thread: &str, operations: &str| {
        let lines = operations.split(';').map(|it| format!("{thread} {}\n", it.trim()));
        lines.collect::<String>()
    };
    let program = format!("T1 w x 1 @ w\n{}{}T2 r x @ r", lines("T1", store), lines("T2", load));
    litmus(&program).replace(" w<f", "")
}

const ORDERED: &str = "f=0 r=0\nf=0 r=1\nf=1 r=1 w<r";
const UNORDERED: &str = "f=0 r=0\nf=0 r=1\nf=1 r=1";

#[test]
fn message_passing() {
    for (store, load, outcomes) in [
        ("store f 1 release", "load f acquire @ f", ORDERED),
        ("store f 1 seqcst", "load f seqcst @ f", ORDERED),
        ("store f 1 release", "load f consume @ f", ORDERED),
        ("add f release", "load f acquire @ f", ORDERED),
        ("store f 1 relaxed", "load f relaxed @ f", UNORDERED),
        ("store f 1 relaxed", "load f acquire @ f", UNORDERED),
        ("store f 1 release", "load f relaxed @ f", UNORDERED),
        ("add f acquire", "load f acquire @ f", UNORDERED),
    ] {
        assert_eq!(message(store, load), outcomes, "{store} | {load}");
    }
}

#[test]
fn message_passing_by_fences() {
    for (store, load, outcomes) in [
        ("fence release; store f 1 relaxed", "load f relaxed @ f; fence acquire", ORDERED),
        ("fence seqcst; store f 1 relaxed", "load f relaxed @ f; fence seqcst", ORDERED),
        ("fence acqrel; store f 1 relaxed", "load f acquire @ f", ORDERED),
        ("store f 1 release", "load f relaxed @ f; fence acquire", ORDERED),
        ("fence acquire; store f 1 relaxed", "load f relaxed @ f; fence acquire", UNORDERED),
        ("fence release; store f 1 relaxed", "load f relaxed @ f; fence release", UNORDERED),
        ("store f 1 relaxed; fence release", "load f relaxed @ f; fence acquire", UNORDERED),
        ("fence release; store f 1 relaxed", "fence acquire; load f relaxed @ f", UNORDERED),
    ] {
        assert_eq!(message(store, load), outcomes, "{store} | {load}");
    }
}

/// A read-modify-write of any thread continues a release sequence, and any other store ends it.
#[test]
fn release_sequences() {
    let sequence = |middle: &str| {
        let program = format!(
            "T1 w x 1 @ w\nT1 store f 1 release\n{middle}\nT3 load f acquire @ f\nT3 r x @ r"
        );
        let all = litmus(&program);
        all.lines().filter(|it| it.starts_with("f=2")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(sequence("T2 add f relaxed"), @"f=2 r=1 w<f w<r");
    assert_snapshot!(sequence("T2 store f 2 relaxed"), @"
    f=2 r=0
    f=2 r=1
    ");
    // Of the same thread, too: C++20 has dropped that rule of C++11.
    assert_snapshot!(sequence("T1 store f 2 relaxed"), @"f=2 r=1");
    // Each release of a sequence of updates orders.
    assert_snapshot!(sequence("T1 add f relaxed"), @"f=2 r=1 w<f w<r");
}

/// Two releases of one sequence: the reader comes after both.
#[test]
fn a_reader_comes_after_all_releases_of_a_sequence() {
    let program = |order: &str| {
        format!(
            "T1 w x 1 @ x\nT1 add n {order}\nT2 w y 1 @ y\nT2 add n {order}\nT3 load n acquire @ n\nT3 yield @ end"
        )
    };
    let both = |order: &str| {
        let all = litmus(&program(order));
        all.lines().filter(|it| it.starts_with("n=2")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(both("release"), @"n=2 x<end x<n y<end y<n");
    assert_snapshot!(both("relaxed"), @"n=2");
}

/// Store buffering: a sequentially consistent machine never shows 0 and 0. A load that sees the
/// initial value orders nothing.
#[test]
fn store_buffering() {
    let program = |order: [&str; 2]| {
        let [store, load] = order;
        litmus(&format!(
            "T1 store x 1 {store} @ a\nT1 load y {load} @ r1\nT2 store y 1 {store} @ b\nT2 load x {load} @ r2"
        ))
    };
    assert_snapshot!(program(["relaxed", "relaxed"]), @"
    r1=0 r2=1
    r1=1 r2=0
    r1=1 r2=1
    ");
    assert_snapshot!(program(["seqcst", "seqcst"]), @"
    r1=0 r2=1 a<r2
    r1=1 r2=0 b<r1
    r1=1 r2=1 a<r2 b<r1
    ");
}

/// Load buffering: never 1 and 1.
#[test]
fn load_buffering() {
    let program = |load: &str, store: &str| {
        litmus(&format!(
            "T1 load x {load} @ r1\nT1 store y 1 {store} @ a\nT2 load y {load} @ r2\nT2 store x 1 {store} @ b"
        ))
    };
    assert_snapshot!(program("relaxed", "relaxed"), @"
    r1=0 r2=0
    r1=0 r2=1
    r1=1 r2=0
    ");
    assert_snapshot!(program("acquire", "release"), @"
    r1=0 r2=0
    r1=0 r2=1 a<b a<r2 r1<b r1<r2
    r1=1 r2=0 b<a b<r1 r2<a r2<r1
    ");
}

/// Independent reads of independent writes: the readers never disagree about the order, and each
/// comes after exactly the writes that it saw.
#[test]
fn independent_reads_of_independent_writes() {
    let all = litmus(
        "T1 store x 1 release @ x\nT2 store y 1 release @ y\nT3 load x acquire @ a\nT3 load y acquire @ b\n\
         T4 load y acquire @ c\nT4 load x acquire @ d",
    );
    assert_eq!(all.lines().count(), 15);
    assert!(!all.contains("a=1 b=0 c=1 d=0"));
    let agreed = all.lines().find(|it| it.starts_with("a=1 b=0 c=1 d=1")).unwrap();
    assert_eq!(agreed, "a=1 b=0 c=1 d=1 x<a x<b x<d y<c y<d");
}

/// Two writes of each of two variables: no thread reads, so nothing is ordered.
#[test]
fn writes_alone_order_nothing() {
    let program = "T1 store x 1 release @ a\nT1 store y 2 release @ b\nT2 store y 1 release @ c\n\
                   T2 store x 2 release @ d";
    assert_eq!(litmus(program), "");
}

/// The races of a trace, each with the events of its schedule by their names.
fn races(trace: &str) -> String {
    crate::kit::hunt_class(&format!("order global\n{trace}"), BugClass::Race)
}

#[test]
fn a_relaxed_flag_is_no_order() {
    let publish = |order: [&str; 2]| {
        races(&format!(
            "T1 w x 1 @ w\nT1 store f 1 {} @ set\nT2 load f 1 {} @ see\nT2 r x 1 @ r",
            order[0], order[1]
        ))
    };
    assert_snapshot!(publish(["relaxed", "relaxed"]), @"
    single race write-read: w r | sound: w set see r
    single race read-write: r w | speculative: see r w
    ");
    assert_snapshot!(publish(["release", "acquire"]), @"");
}

/// The lock orders the accesses in the recorded run, and not if its sections are exchanged.
#[test]
fn a_lock_that_orders_by_chance() {
    let trace = "T1 w x 1 @ w\nT1 store f 1 relaxed @ set\nT1 acq m @ a1\nT1 rel m @ a2\n\
                 T2 load f 1 relaxed @ see\nT2 acq m @ b1\nT2 rel m @ b2\nT2 r x 1 @ r";
    assert_snapshot!(races(trace), @"
    single race write-read: w r | sound: w set see b1 b2 r
    single race read-write: r w | speculative: see b1 b2 r w
    ");
}

/// A counter that is decremented relaxed ensures that the memory is freed last, and does not order it.
#[test]
fn memory_that_is_freed_without_an_order() {
    let drop = |order: &str| {
        let trace = format!(
            "order global\nT0 alloc p 8 @ new\nT0 store n 2 seqcst @ two\nT0 fork T0.1 @ f1\nT0 fork T0.2 @ f2\n\
             T0.1 r p 0 @ use\nT0.1 sub n 2 1 {order} @ one\nT0.2 sub n 1 0 {order} @ zero\nT0.2 free p @ free"
        );
        crate::kit::hunt_class(&trace, BugClass::Lifetime)
    };
    assert_snapshot!(drop("relaxed"), @"single lifetime use-after-free: free use | sound: new two f1 f2 use one zero free");
    assert_snapshot!(drop("acqrel"), @"");
}

const WEAK: Shape = Shape {
    threads: 2,
    pieces: 2,
    nested: true,
    waits: false,
    nests: 0,
    frees: false,
    objects: false,
    channels: true,
    handlers: false,
    rich: false,
    weak: true,
    events: 12,
};
const WEAK_WAITS: Shape =
    Shape { waits: true, channels: true, rich: true, pieces: 3, events: 16, ..WEAK };

const WEAK_HANDLERS: Shape = Shape { handlers: true, events: 14, ..WEAK };

/// Every two plain accesses of two threads to one variable, one of them a write.
fn conflicts(trace: &Trace) -> Vec<[EventId; 2]> {
    let access = |op: &Op| op.access().filter(|it| !it.atomic);
    let events: Vec<_> = trace.merged().filter(|it| access(&it.op).is_some()).collect();
    let pairs = events.iter().flat_map(|one| events.iter().map(move |other| (one, other)));
    let conflict = pairs.filter(|(one, other)| {
        let (a, b) = (access(&one.op).unwrap(), access(&other.op).unwrap());
        let overlap = a.addr < b.end() && b.addr < a.end();
        one.id.thread != other.id.thread && overlap && (a.write.is_some() || b.write.is_some())
    });
    conflict.map(|(one, other)| [one.id, other.id]).collect()
}

/// The sound witness of a race that is predicted for these accesses, in this order.
fn race(trace: &Trace, pair: [EventId; 2]) -> Option<Witness> {
    let all = predict(trace, &all(|it| it == BugClass::Race)).candidates;
    let race = all.iter().find(|it| it.steps.iter().map(|it| it.event).eq(pair))?;
    let witness = Witnesses::new(trace).witness(race).ok()?;
    (witness.grade == Grade::Sound).then_some(witness)
}

/// Clocks and checker agree with the definition of happens-before.
fn clocks_and_checker_are_the_definition(trace: &str) -> Result<(), TestCaseError> {
    let trace = norn_model::text::parse(trace).unwrap();
    let (order, turns) = recorded(&trace);
    let (clocks, checker) = (HappensBefore::new(&trace, Edges::CXX20), Checker::new(&trace));
    let definition = Relation::new(&trace, &order);
    for one in &order {
        for other in order.iter().filter(|it| it.thread != one.thread) {
            let before = definition.is_before(*one, *other);
            prop_assert_eq!(clocks.is_before(*one, *other), before, "{} {}", one, other);
            prop_assert_eq!(checker.is_before(&turns, *one, *other), before, "{} {}", one, other);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn happens_before_is_the_definition(trace in text(WEAK_WAITS)) {
        clocks_and_checker_are_the_definition(&trace)?;
    }

    #[test]
    fn happens_before_is_the_definition_with_handlers(trace in text(WEAK_HANDLERS)) {
        clocks_and_checker_are_the_definition(&trace)?;
    }

    /// A race with a sound witness is one by the definition, in the order of the witness.
    #[test]
    fn witnesses_of_races_leave_them_unordered(trace in text(WEAK)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let oracle = Oracle::new(&trace);
        for pair in conflicts(&trace) {
            let Some(witness) = race(&trace, pair) else { continue };
            let order: Vec<_> = events(&witness.turns).collect();
            prop_assert!(oracle.allows(&order), "{:?}", witness);
            prop_assert!(!Relation::new(&trace, &order).is_before(pair[0], pair[1]), "{:?}", witness);
            prop_assert!(oracle.can_race(pair[0], pair[1]), "{:?}", witness);
        }
    }

    /// What some order leaves unordered has a witness, if atomic operations hand values over between the
    /// accesses, and nothing else than locks orders them in the recorded run.
    #[test]
    fn accesses_that_some_order_leaves_unordered_are_found(trace in text(WEAK)) {
        let trace = norn_model::text::parse(&trace).unwrap();
        let oracle = Oracle::new(&trace);
        let without_locks = |atomics| HappensBefore::new(&trace, Edges { atomics, locks: false });
        let declared = without_locks(AtomicEdges::Declared);
        let handovers = without_locks(AtomicEdges::SeqCst);
        for [one, other] in conflicts(&trace) {
            if handovers.is_before(one, other) && !declared.is_before(one, other) {
                let found = race(&trace, [one, other]);
                prop_assert_eq!(found.is_some(), oracle.can_race(one, other), "{} {}", one, other);
            }
        }
    }
}
