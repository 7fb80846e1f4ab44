//! Each rule of the exact engine on the smallest trace in which it excludes an order, and on the
//! smallest in which it does not; and the examples of the papers.

use insta::assert_snapshot;
use norn_model::{EventId, Trace, text};
use norn_witness::{Checker, Engines, Failure, Grade, Infeasible, Witnesses, events};

use crate::exact::candidate;

/// Queries an order of events, which are named by their code locations; `!` requires them to be
/// adjacent.
fn order(trace: &str, wanted: &str) -> String {
    let trace = text::parse(trace).unwrap();
    let adjacent = wanted.starts_with('!');
    let steps: Vec<_> =
        wanted.trim_start_matches('!').split_whitespace().map(|it| find(&trace, it)).collect();
    let candidate = candidate(&trace, &steps, adjacent);
    match Witnesses::with(&trace, Engines::Exact).witness(&candidate) {
        Ok(witness) => {
            let grade = Checker::new(&trace).check(&candidate, &witness.turns);
            assert_eq!(grade, Ok(Grade::Sound));
            let names: Vec<_> = events(&witness.turns).map(|it| name(&trace, it)).collect();
            names.join(" ")
        }
        Err(Failure::Impossible(Infeasible::NoOrder)) => "infeasible".to_owned(),
        Err(other) => other.to_string(),
    }
}

fn find(trace: &Trace, place: &str) -> EventId {
    trace.merged().map(|it| it.id).find(|it| name(trace, *it) == place).unwrap()
}

fn name(trace: &Trace, id: EventId) -> String {
    let place = trace.event(id).and_then(|it| trace.site(it.site)?.place.clone());
    place.unwrap_or_else(|| format!("{}:{}", trace.thread(id.thread).unwrap().name, id.index))
}

/// Two threads wait, and a third wakes them, with the given signals.
fn figure_7(wake: &str) -> String {
    format!(
        "order global
        T1 acq l @ x1
        T1 waitrel l @ x2
        T1 wait g l @ x3
        T2 acq l @ y1
        T2 waitrel l @ y2
        T2 wait g l @ y3
        T3 acq l @ z1
        {wake}
        T3 rel l @ z3
        T1 wake g l any 1 @ x4
        T1 rel l @ x5
        T2 wake g l any 1 @ y4
        T2 rel l @ y5"
    )
}

/// Figure 7 of Huang, Luo and Rosu: one signal ends either wait, but not both.
#[test]
fn figure_7_of_gpredict() {
    let one = figure_7("T3 signal g @ z2");
    assert_snapshot!(order(&one, "x5"), @"x1 x2 x3 z1 z2 z3 x4 x5");
    assert_snapshot!(order(&one, "y5"), @"y1 y2 y3 z1 z2 z3 y4 y5");
    assert_snapshot!(order(&one, "x5 y5"), @"infeasible");
    assert_snapshot!(order(&one, "y5 x5"), @"infeasible");
    let all = figure_7("T3 broadcast g @ z2");
    assert_snapshot!(order(&all, "x5 y5"), @"x1 x2 x3 y1 y2 z1 y3 z2 z3 x4 x5 y4 y5");
    assert_snapshot!(order(&all, "y5 x5"), @"y1 y2 y3 x1 x2 z1 x3 z2 z3 y4 y5 x4 x5");
    let two = figure_7("T3 signal g @ z2\nT3 signal g @ z2'");
    assert_snapshot!(order(&two, "x5 y5"), @"x1 x2 x3 y1 y2 y3 z1 z2 z2' z3 x4 x5 y4 y5");
    assert_snapshot!(order(&two, "z2 z2' x5 y5"), @"y1 y2 x1 x2 z1 x3 y3 z2 z2' z3 x4 x5 y4 y5");
    assert_snapshot!(order(&two, "z2 x5 z2' y5"), @"infeasible");
}

/// Figure 5 of Huang and Zhang: the signal is sent in a critical section that the other thread has
/// to pass before its access.
#[test]
fn figure_5_of_pecan() {
    let with = "
        T1 acq l @ v1
        T2 acq m @ m1
        T2 waitrel m @ m2
        T2 wait c m @ m3
        T1 signal c @ v2
        T1 w x 1 @ v3
        T1 rel l @ v4
        T2 wake c m by T1:1 @ v5
        T2 acq l @ v6
        T2 rel l @ v7
        T2 r x 1 @ v8";
    assert_snapshot!(order(with, "!v3 v8"), @"infeasible");
    assert_snapshot!(order(with, "!v8 v3"), @"infeasible");
    assert_snapshot!(order(with, "v3 v8"), @"v1 m1 m2 m3 v2 v3 v4 v5 v6 v7 v8");
    let without = "
        T1 acq l @ v1
        T1 yield @ v2
        T1 w x 1 @ v3
        T1 rel l @ v4
        T2 yield @ v5
        T2 acq l @ v6
        T2 rel l @ v7
        T2 r x 1 @ v8";
    assert_snapshot!(order(without, "!v3 v8"), @"v5 v6 v7 v1 v2 v3 v8");
    assert_snapshot!(order(without, "!v8 v3"), @"v5 v6 v7 v1 v2 v8 v3");
}

#[test]
fn threads() {
    let trace = "T0 w x 1 @ a\nT0 fork T0.1 @ f\nT0.1 yield @ b\nT0.1 end @ e\nT0 join T0.1 @ j\nT0 w x 2 @ c";
    assert_snapshot!(order(trace, "b a"), @"infeasible");
    assert_snapshot!(order(trace, "c b"), @"infeasible");
    assert_snapshot!(order(trace, "f b j"), @"a f b e j");
    let apart = "T1 w x 1 @ a\nT2 yield @ b";
    assert_snapshot!(order(apart, "b a"), @"b a");
}

#[test]
fn locks() {
    let two = |one: &str, other: &str| {
        let trace = format!(
            "T1 acq l {one} @ a1\nT1 yield @ a2\nT1 rel l @ a3\n\
             T2 acq l {other} @ b1\nT2 yield @ b2\nT2 rel l @ b3"
        );
        order(&trace, "!a2 b2")
    };
    assert_snapshot!(two("mutex", "mutex"), @"infeasible");
    assert_snapshot!(two("spin", "spin"), @"infeasible");
    assert_snapshot!(two("read", "write"), @"infeasible");
    assert_snapshot!(two("read", "read"), @"a1 b1 a2 b2");
    assert_snapshot!(two("mutex tried", "mutex timed"), @"infeasible");
    // A lock that is acquired twice is free after two releases.
    let twice = "T1 acq l @ a1\nT1 acq l @ a2\nT1 rel l @ a3\nT1 yield @ a4\nT1 rel l @ a5\nT2 acq l @ b1\nT2 yield @ b2";
    assert_snapshot!(order(twice, "!a4 b2"), @"infeasible");
    assert_snapshot!(order(twice, "b2 a5"), @"infeasible");
    assert_snapshot!(order(twice, "a5 b2"), @"a1 a2 a3 a4 a5 b1 b2");
    // A thread that waits for a condition releases the lock meanwhile.
    let waits = "
        T1 acq l @ a1
        T1 waitrel l @ a2
        T1 wait c l @ a3
        T2 acq l @ b1
        T2 yield @ b2
        T2 rel l @ b3
        T1 wake c l timeout @ a4
        T1 rel l @ a5";
    assert_snapshot!(order(waits, "a3 b2 a4"), @"a1 a2 a3 b1 b2 b3 a4");
    assert_snapshot!(order(waits, "a1 b2 a2"), @"infeasible");
}

/// A failed attempt to acquire a lock happens while another thread holds it.
#[test]
fn failed_lock_requests() {
    let trace = "
        T1 acq l @ a1
        T2 acqfail l mutex tried 16 @ b1
        T2 yield @ b2
        T1 rel l @ a2";
    assert_snapshot!(order(trace, "a1 b2"), @"a1 b1 b2");
    assert_snapshot!(order(trace, "a2 b2"), @"a1 b1 a2 b2");
    assert_snapshot!(order(trace, "a2 b1"), @"a1 a2 b1");
    assert_snapshot!(order(trace, "b2 a1"), @"infeasible");
}

#[test]
fn conditions() {
    // A signal before the wait wakes no thread.
    let trace = "
        T1 acq l @ a1
        T1 waitrel l @ a2
        T1 wait c l @ a3
        T2 signal c @ s1
        T3 signal c @ s2
        T1 wake c l by T2:0 @ a4";
    assert_snapshot!(order(trace, "s1 a3 a4"), @"s1 a1 a2 a3 s2 a4");
    assert_snapshot!(order(trace, "s1 s2 a3 a4"), @"infeasible");
    let none = trace.replace("by T2:0", "timeout");
    assert_snapshot!(order(&none, "s1 s2 a3 a4"), @"s1 s2 a1 a2 a3 a4");
}

#[test]
fn barriers() {
    let trace = "
        T1 init b barrier 2 @ i
        T1 arrive b @ a1
        T2 arrive b @ b1
        T1 pass b @ a2
        T2 pass b @ b2
        T3 arrive b @ c1
        T3 yield @ c2
        T1 yield @ a3";
    assert_snapshot!(order(trace, "a3 b1"), @"i a1 c1 a2 a3 b1");
    assert_snapshot!(order(trace, "a3 c1 b1"), @"infeasible");
    assert_snapshot!(order(trace, "c2 a1"), @"c1 c2 i a1");
    let two = "T1 init b barrier 2 @ i\nT1 arrive b @ a1\nT2 arrive b @ b1\nT1 pass b @ a2\nT2 pass b @ b2";
    assert_snapshot!(order(two, "a2 b1"), @"infeasible");
    assert_snapshot!(order(two, "b2 a2"), @"i a1 b1 b2 a2");
}

#[test]
fn semaphores() {
    let trace = "T1 post s @ a1\nT3 post s @ c1\nT2 down s @ b1\nT2 down s @ b2";
    assert_snapshot!(order(trace, "b1 a1"), @"c1 b1 a1");
    assert_snapshot!(order(trace, "b2 a1"), @"infeasible");
    assert_snapshot!(order(trace, "a1 b1 c1 b2"), @"a1 b1 c1 b2");
    let first = format!("T1 init s semaphore 1 @ i\n{trace}");
    assert_snapshot!(order(&first, "b2 a1"), @"b1 c1 i b2 a1");
    // A semaphore with the initial value one on which all threads alternate between wait and post
    // is a lock.
    let lock = "T1 init s semaphore 1 @ i\nT1 down s @ a1\nT1 yield @ a2\nT1 post s @ a3\nT2 down s @ b1\nT2 yield @ b2\nT2 post s @ b3";
    assert_snapshot!(order(lock, "!a2 b2"), @"infeasible");
    assert_snapshot!(order(lock, "b3 a2"), @"b1 b2 b3 i a1 a2");
    let denied = "T2 downfail s 11 @ b1\nT2 yield @ b2\nT1 post s @ a1\nT1 down s @ a2";
    assert_snapshot!(order(denied, "a1 b2"), @"b1 a1 b2");
    assert_snapshot!(order(denied, "a1 b2 a2"), @"b1 a1 b2 a2");
    assert_snapshot!(order(denied, "a1 b1"), @"a1 b1");
    assert_snapshot!(order(denied, "a1 a2 b1 b2"), @"a1 a2 b1 b2");
    assert_snapshot!(order(denied, "a1 b1 a2 b2"), @"infeasible");
}

#[test]
fn initialisations() {
    let trace = "
        T1 oncebegin o @ a1
        T1 onceend o failed @ a2
        T2 oncebegin o @ b1
        T2 onceend o @ b2
        T3 oncedone o @ c1
        T3 yield @ c2";
    assert_snapshot!(order(trace, "b2 c2"), @"b1 b2 c1 c2");
    assert_snapshot!(order(trace, "c2 b2"), @"infeasible");
    assert_snapshot!(order(trace, "b2 a1"), @"infeasible");
    assert_snapshot!(order(trace, "a1 b1 a2"), @"infeasible");
}

#[test]
fn annotations() {
    let trace = "T1 w x 1 @ a1\nT1 before o @ a2\nT2 after o @ b1\nT2 yield @ b2";
    assert_snapshot!(order(trace, "b2 a1"), @"infeasible");
    assert_snapshot!(order(trace, "a1 b2"), @"a1 a2 b1 b2");
    let earlier = "T2 after o @ b1\nT2 yield @ b2\nT1 w x 1 @ a1\nT1 before o @ a2";
    assert_snapshot!(order(earlier, "a1 b2"), @"a1 b1 b2");
}

/// A read sees its recorded value, unless it is the last event of its thread.
#[test]
fn values() {
    let trace =
        "order global\nT1 w x 1 @ a1\nT2 r x 1 @ b1\nT2 w y 1 @ b2\nT3 w x 1 @ c1\nT3 w x 2 @ c2";
    assert_snapshot!(order(trace, "b1 a1"), @"b1 a1");
    assert_snapshot!(order(trace, "b2 a1"), @"c1 b1 b2 a1");
    assert_snapshot!(order(trace, "b2 a1 c1"), @"infeasible");
    assert_snapshot!(order(trace, "c2 b2 a1"), @"c1 b1 c2 b2 a1");
    // The initial value counts as well.
    let first = "order global\nT2 r x 0 @ b1\nT2 yield @ b2\nT1 w x 1 @ a1\nT1 w x 0 @ a2";
    assert_snapshot!(order(first, "a1 b2"), @"b1 a1 b2");
    assert_snapshot!(order(first, "a1 b2 a2"), @"b1 a1 b2 a2");
    // Where the value is unknown, the read has to see the same write.
    let unknown = "order global\nT1 w x @ a1\nT2 r x @ b1\nT2 yield @ b2\nT3 w x @ c1";
    assert_snapshot!(order(unknown, "a1 c1 b2"), @"a1 b1 c1 b2");
    assert_snapshot!(order(unknown, "c1 a1 b2"), @"c1 a1 b1 b2");
}

#[test]
fn values_of_several_sizes() {
    let trace = "order global
        T1 w x:4 0x10002 @ a1
        T2 r x:2 2 @ b1
        T2 r x+2:2 1 @ b2
        T2 yield @ b3
        T3 w x+2:2 7 @ c1
        T3 w x:2 2 @ c2";
    assert_snapshot!(order(trace, "c1 b3"), @"c1 a1 b1 b2 b3");
    assert_snapshot!(order(trace, "c1 a1 c2 b3"), @"c1 a1 c2 b1 b2 b3");
    assert_snapshot!(order(trace, "a1 c1 b3"), @"a1 b1 b2 c1 b3");
    assert_snapshot!(order(trace, "b1 c1 b2"), @"a1 b1 c1 b2");
    assert_snapshot!(order(trace, "b1 c1 b3"), @"a1 b1 b2 c1 b3");
    assert_snapshot!(order(trace, "b1 c1 b2 b3"), @"infeasible");
}

/// A read-modify-write sees the previous value and passes its result on.
#[test]
fn atomic_operations() {
    let trace = "T1 add x 0 1 @ a1\nT2 add x 1 2 @ b1\nT2 yield @ b2";
    assert_snapshot!(order(trace, "b2 a1"), @"infeasible");
    assert_snapshot!(order(trace, "!b1 a1"), @"infeasible");
    assert_snapshot!(order(trace, "a1 b1"), @"a1 b1");
    let exchanged = "T1 cas x 0 1 @ a1\nT2 casfail x 1 0 @ b1\nT2 yield @ b2\nT1 store x 0 @ a2";
    assert_snapshot!(order(exchanged, "a1 b2 a2"), @"a1 b1 b2 a2");
    assert_snapshot!(order(exchanged, "a2 b2"), @"a1 b1 a2 b2");
}

#[test]
fn freed_memory() {
    let trace =
        "T0 alloc p 8 @ a1\nT0 fork T0.1 @ a2\nT0.1 w p 1 @ b1\nT0.1 yield @ b2\nT0 free p @ a3";
    assert_snapshot!(order(trace, "a3 b1"), @"a1 a2 a3 b1");
    assert_snapshot!(order(trace, "a3 b2"), @"a1 a2 b1 a3 b2");
    assert_snapshot!(order(trace, "b2 a3"), @"a1 a2 b1 b2 a3");
    assert_snapshot!(order(trace, "a3 b1 b2"), @"infeasible");
}

/// A thread receives only what has been sent; what has no send came from outside.
#[test]
fn a_receive_comes_after_the_sends_of_its_range() {
    let trace = "order global
        T1 w x @ a
        T1 send p 0 1 @ s
        T3 send p 1 2 @ t
        T2 receive p 0 1 @ r
        T2 w x @ b
        T3 receive p 7 8 @ q
        T3 w x @ c";
    assert_snapshot!(order(trace, "b a"), @"infeasible");
    assert_snapshot!(order(trace, "r s"), @"infeasible");
    assert_snapshot!(order(trace, "!b c"), @"a s t r q b c");
    assert_snapshot!(order(trace, "!c a"), @"t q c a");
}

/// A wait that found a file ready comes after what made it ready.
#[test]
fn what_is_ready_was_sent() {
    let trace = "order global
        T1 w x @ a
        T1 send p 0 4 @ s
        T2 ready p 0 1 @ r
        T2 w x @ b
        T2 receive p 0 4 @ q";
    assert_snapshot!(order(trace, "b a"), @"infeasible");
    assert_snapshot!(order(trace, "a b"), @"a s r b");
}
