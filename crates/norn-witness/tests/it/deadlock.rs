//! Each kind of deadlock on the smallest trace that permits it, and on the smallest that does not.

use insta::assert_snapshot;
use norn_model::{BugClass, CandidateKind, ThreadId, text};
use norn_predict::{Options, predict};
use norn_witness::{Checker, Turn};

use crate::kit::hunt_class;

fn deadlocks(trace: &str) -> String {
    hunt_class(trace, BugClass::Deadlock)
}

/// Two threads, each of which acquires two locks; `T1` ends before `T2` begins.
fn two(first: [&str; 2], second: [&str; 2]) -> String {
    let thread = |name: &str, [outer, inner]: [&str; 2]| {
        format!(
            "{name} acq {outer} @ {name}.1\n{name} acq {inner} @ {name}.2\n\
             {name} rel {inner}\n{name} rel {outer}\n"
        )
    };
    thread("T1", first) + &thread("T2", second)
}

#[test]
fn two_locks_in_two_orders() {
    assert_snapshot!(deadlocks(&two(["a", "b"], ["b", "a"])), @"single deadlock lock-cycle: T2.1 T1.1 stuck at T1.2 T2.2 | sound: T2.1 T1.1");
    assert_snapshot!(deadlocks(&two(["a", "b"], ["a", "b"])), @"");
    assert_snapshot!(deadlocks(&two(["a", "b"], ["b", "c"])), @"");
}

#[test]
fn spin_locks_and_semaphores_lock_too() {
    assert_snapshot!(deadlocks(&two(["a spin", "b"], ["b", "a spin"])), @"single deadlock lock-cycle: T2.1 T1.1 stuck at T1.2 T2.2 | sound: T2.1 T1.1");
    let semaphores = "
        T1 init s semaphore 1
        T1 down s
        T1 acq a
        T1 rel a
        T1 post s
        T2 acq a
        T2 down s
        T2 post s
        T2 rel a
    ";
    assert_snapshot!(deadlocks(semaphores), @"single deadlock lock-cycle: T2:0 T1:1 stuck at T1:2 T2:1 | sound: T1:0 T1:1 T2:0");
}

#[test]
fn one_thread_alone_has_no_deadlock() {
    let trace = "
        T1 acq a
        T1 acq b
        T1 rel b
        T1 rel a
        T1 acq b
        T1 acq a
        T1 rel a
        T1 rel b
    ";
    assert_snapshot!(deadlocks(trace), @"");
}

#[test]
fn a_try_lock_does_not_wait() {
    let trace = "
        T1 acq a
        T1 acq b mutex tried
        T1 rel b
        T1 rel a
        T2 acq b
        T2 acq a
        T2 rel a
        T2 rel b
    ";
    assert_snapshot!(deadlocks(trace), @"");
}

#[test]
fn a_gate_lock_prevents_the_deadlock() {
    let gated = |gates: [&str; 2]| {
        let thread = |name: &str, gate: &str, outer: &str, inner: &str| {
            let events = [
                format!("acq {gate}"),
                format!("acq {outer}"),
                format!("acq {inner}"),
                format!("rel {inner}"),
                format!("rel {outer}"),
                format!("rel {gate}"),
            ];
            events.map(|it| format!("{name} {it}\n")).concat()
        };
        deadlocks(&(thread("T1", gates[0], "a", "b") + &thread("T2", gates[1], "b", "a")))
    };
    assert_snapshot!(gated(["gate", "gate"]), @"");
    assert_snapshot!(gated(["gate", "other"]), @"single deadlock lock-cycle: T2:1 T1:1 stuck at T1:2 T2:2 | sound: T2:0 T2:1 T1:0 T1:1");
    assert_snapshot!(gated(["gate read", "gate read"]), @"single deadlock lock-cycle: T2:1 T1:1 stuck at T1:2 T2:2 | sound: T2:0 T2:1 T1:0 T1:1");
    assert_snapshot!(gated(["gate read", "gate write"]), @"");
}

#[test]
fn order_prevents_the_deadlock() {
    let forked = "
        T1 acq a
        T1 acq b
        T1 rel b
        T1 rel a
        T1 fork T1.1
        T1.1 acq b
        T1.1 acq a
        T1.1 rel a
        T1.1 rel b
    ";
    assert_snapshot!(deadlocks(forked), @"");
    let joined = "
        T1 fork T1.1
        T1.1 acq b
        T1.1 acq a
        T1.1 rel a
        T1.1 rel b
        T1 join T1.1
        T1 acq a
        T1 acq b
        T1 rel b
        T1 rel a
    ";
    assert_snapshot!(deadlocks(joined), @"");
    let inside = "
        T1 acq a @ t1
        T1 fork T1.1
        T1 acq b @ t2
        T1 rel b
        T1 rel a
        T1.1 acq b @ c1
        T1.1 acq a @ c2
        T1.1 rel a
        T1.1 rel b
    ";
    assert_snapshot!(deadlocks(inside), @"single deadlock lock-cycle: c1 t1 stuck at t2 c2 | sound: t1 T1:1 c1");
}

/// Threads in a circle, each of which acquires the locks of two neighbours.
fn circle(count: usize, last: [usize; 2]) -> String {
    let thread = |at: usize| {
        let [one, other] = if at + 1 == count { last } else { [at, at + 1] };
        format!("T{at} acq f{one}\nT{at} acq f{other}\nT{at} rel f{other}\nT{at} rel f{one}\n")
    };
    (0..count).map(thread).collect()
}

#[test]
fn cycles_may_be_long() {
    assert_snapshot!(deadlocks(&circle(3, [2, 0])), @"single deadlock lock-cycle: T1:0 T2:0 T0:0 stuck at T0:1 T1:1 T2:1 | sound: T2:0 T1:0 T0:0");
    assert_snapshot!(deadlocks(&circle(3, [0, 2])), @"");
    assert_snapshot!(deadlocks(&circle(5, [4, 0])), @"single deadlock lock-cycle: T1:0 T2:0 T3:0 T4:0 T0:0 stuck at T0:1 T1:1 T2:1 T3:1 T4:1 | sound: T0:0 T1:0 T2:0 T3:0 T4:0");
    assert_eq!(deadlocks(&circle(9, [8, 0])).lines().count(), 1);
}

#[test]
fn readers_do_not_wait_for_readers() {
    assert_snapshot!(deadlocks(&two(["a read", "b write"], ["b read", "a write"])), @"single deadlock lock-cycle: T2.1 T1.1 stuck at T1.2 T2.2 | sound: T2.1 T1.1");
    assert_snapshot!(deadlocks(&two(["a read", "b"], ["b", "a write"])), @"single deadlock lock-cycle: T2.1 T1.1 stuck at T1.2 T2.2 | sound: T2.1 T1.1");
    assert_snapshot!(deadlocks(&two(["a read", "b"], ["b", "a read"])), @"");
    assert_snapshot!(deadlocks(&two(["a read", "b read"], ["b read", "a read"])), @"");
}

/// Both hold a read lock and request the write lock.
#[test]
fn two_upgrades() {
    let upgrade = |name: &str| {
        ["acq a read", "acq a write", "rel a write", "rel a read"]
            .map(|it| format!("{name} {it}\n"))
            .concat()
    };
    assert_snapshot!(deadlocks(&(upgrade("T1") + &upgrade("T2"))), @"single deadlock lock-cycle: T2:0 T1:0 stuck at T1:1 T2:1 | sound: T2:0 T1:0");
}

#[test]
fn a_join_holding_a_lock_that_the_other_needs() {
    let trace = |held: &str, needed: &str| {
        format!(
            "T1 fork T1.1\nT1.1 acq {needed} @ needs\nT1.1 rel {needed}\n\
             T1 acq {held} @ takes\nT1 join T1.1 @ joins\nT1 rel {held}"
        )
    };
    assert_snapshot!(deadlocks(&trace("a", "a")), @"single deadlock join-holding-lock: takes stuck at needs joins | sound: T1:0 takes");
    assert_snapshot!(deadlocks(&trace("a", "b")), @"");
    let after = "T1 fork T1.1\nT1.1 acq a\nT1.1 rel a\nT1 join T1.1\nT1 acq a\nT1 rel a";
    assert_snapshot!(deadlocks(after), @"");
}

/// A thread waits while it holds a lock, not that of the condition, which the signalling thread
/// needs.
#[test]
fn a_wait_holding_a_lock_that_the_signaller_needs() {
    let trace = |needed: &str| {
        format!(
            "T2 acq {needed} @ needs\nT2 rel {needed}\nT1 acq outer @ takes\nT1 acq m\nT1 r flag 0\n\
             T1 waitrel m\nT1 wait c m\nT2 acq m\nT2 w flag 1\nT2 signal c @ signals\nT2 rel m\n\
             T1 wake c m by T2:4 @ waits\nT1 rel m\nT1 rel outer"
        )
    };
    assert_snapshot!(deadlocks(&trace("outer")), @"single deadlock wait-holding-lock: takes stuck at needs waits | sound: takes T1:1 T1:2 T1:3 T1:4");
    assert_snapshot!(deadlocks(&trace("other")), @"");
}

/// Readers queue behind a writer that waits; or they do not queue; or the writer does not wait.
#[test]
fn a_reader_that_reads_again_behind_a_writer() {
    let trace = |how: &str| {
        format!(
            "T1 acq rw read{how} @ first\nT1 acq rw read{how} @ again\nT1 rel rw read\nT1 rel rw read\n\
             T2 acq rw write @ writes\nT2 rel rw write"
        )
    };
    assert_snapshot!(deadlocks(&trace(" queued")), @"single deadlock read-behind-writer: first stuck at writes again | sound: first");
    assert_snapshot!(deadlocks(&trace("")), @"");
    let tries = trace(" queued").replace("T2 acq rw write", "T2 acq rw write tried");
    assert_snapshot!(deadlocks(&tries), @"");
}

/// The first thread waits for a mutex that a reader holds; that one queues behind a writer, and the writer waits
/// for the first thread.
#[test]
fn a_cycle_through_a_writer_that_waits() {
    let trace = "
        T1 acq rw read queued @ reads
        T1 acq m @ locks
        T1 rel m
        T1 rel rw read
        T2 acq m @ holds
        T2 acq rw read queued @ queues
        T2 rel rw read
        T2 rel m
        T3 acq rw write @ writes
        T3 rel rw write
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock lock-cycle: holds reads stuck at locks writes queues | sound: holds reads");
    assert_snapshot!(deadlocks(&trace.replace(" queued", "")), @"");
}

/// The reader must come later than the writer.
#[test]
fn the_checker_requires_the_writer_to_wait_first() {
    let trace = text::parse(
        "T1 acq rw read queued\nT1 acq rw read queued\nT1 rel rw read\nT1 rel rw read\n\
         T2 acq rw write\nT2 rel rw write",
    )
    .unwrap();
    let mut candidate = predict(&trace, &Options::default()).candidates.remove(0);
    let checker = Checker::new(&trace);
    let turns = [Turn { thread: ThreadId(0), until: 1 }];
    assert!(checker.check(&candidate, &turns).is_ok());
    candidate.stuck.reverse();
    assert!(checker.check(&candidate, &turns).is_err());
}

/// A wait releases its mutex and reacquires it while another lock is held.
#[test]
fn a_wait_reacquires_its_mutex() {
    let trace = "
        T1 acq m @ first
        T1 acq other @ takes
        T1 r flag 0
        T1 waitrel m
        T1 wait c m
        T2 acq m
        T2 w flag 1
        T2 signal c
        T2 rel m
        T1 wake c m by T2:2 @ again
        T1 rel other
        T1 rel m
        T2 acq m @ has
        T2 acq other @ wants
        T2 rel other
        T2 rel m
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock lock-cycle: has takes stuck at again wants | sound: first takes T1:2 T1:3 T1:4 T2:0 T2:1 T2:2 T2:3 has");
}

#[test]
fn a_semaphore_that_is_posted_behind_a_lock() {
    let trace = "
        T2 acq a @ needs
        T2 rel a
        T2 post s
        T1 init s semaphore 0
        T1 acq a @ takes
        T1 down s @ waits
        T1 rel a
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock wait-holding-lock: takes stuck at needs waits | sound: T1:0 takes");
}

#[test]
fn a_barrier_that_is_behind_a_lock() {
    let trace = "
        T1 init b barrier 2
        T2 acq a @ needs
        T2 rel a
        T2 arrive b
        T1 acq a @ takes
        T1 arrive b
        T1 pass b @ waits
        T2 pass b
        T1 rel a
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock wait-holding-lock: takes stuck at needs waits | sound: T1:0 takes T1:2");
}

/// An initialisation needs a lock, and a thread that waits for the initialisation holds that lock.
#[test]
fn an_initialisation_that_needs_a_lock() {
    let trace = |held: &str| {
        format!(
            "T1 oncebegin o @ begins\nT1 acq a @ needs\nT1 rel a\nT1 onceend o\n\
             T2 acq {held} @ takes\nT2 oncedone o @ waits\nT2 rel {held}"
        )
    };
    assert_snapshot!(deadlocks(&trace("a")), @"single deadlock wait-holding-lock: takes stuck at needs waits | sound: begins takes");
    assert_snapshot!(deadlocks(&trace("b")), @"");
}

/// The flag is checked before the mutex is acquired; or under the mutex, as it should be.
#[test]
fn a_wake_up_that_comes_too_early() {
    let outside = "
        T1 r flag 0 @ looks
        T1 acq m
        T1 waitrel m @ begins
        T1 wait c m
        T2 acq m
        T2 w flag 1
        T2 signal c @ signals
        T2 rel m
        T1 wake c m by T2:2 @ waits
        T1 rel m
    ";
    assert_snapshot!(deadlocks(outside), @"single deadlock lost-wake-up: signals begins stuck at waits | sound: looks T2:0 T2:1 signals T2:3 T1:1 begins T1:3");
    let inside = outside
        .replace("T1 r flag 0 @ looks", "")
        .replace("T1 acq m\n", "T1 acq m\n        T1 r flag 0 @ looks\n");
    assert_snapshot!(deadlocks(&inside), @"");
}

/// The flag is checked under the mutex, but changed without it.
#[test]
fn a_signal_without_the_mutex() {
    let trace = "
        T1 acq m
        T1 load flag 0 @ looks
        T1 waitrel m @ begins
        T1 wait c m
        T2 store flag 1
        T2 signal c @ signals
        T1 wake c m by T2:1 @ waits
        T1 rel m
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock lost-wake-up: signals begins stuck at waits | sound: T1:0 looks T2:0 signals begins T1:3");
}

/// A later signal ends the wait, unless it comes too early as well.
#[test]
fn all_signals_must_come_too_early() {
    let trace = "
        T1 acq m
        T1 waitrel m @ begins
        T1 wait c m
        T2 signal c @ one
        T3 broadcast c @ two
        T1 wake c m by T2:0 @ waits
        T1 rel m
    ";
    assert_snapshot!(deadlocks(trace), @"single deadlock lost-wake-up: one two begins stuck at waits | sound: one two T1:0 begins T1:2");
}

/// A wait without a recorded wake-up needs none.
#[test]
fn a_wait_with_a_spurious_wake_up() {
    let trace = "
        T1 acq m
        T1 waitrel m
        T1 wait c m
        T2 signal c
        T1 wake c m timeout
        T1 rel m
    ";
    assert_snapshot!(deadlocks(trace), @"");
}

/// The checker's results for schedules of the first candidate of a trace. A turn is a thread and
/// the number of its events at the end of the turn.
fn checked<const N: usize>(trace: &str, schedules: [&[(u32, u64)]; N]) -> String {
    let trace = text::parse(trace).unwrap();
    let candidate = predict(&trace, &Options::default()).candidates.remove(0);
    let checker = Checker::new(&trace);
    let results = schedules.map(|turns| {
        let turn = |it: &(u32, u64)| Turn { thread: ThreadId(it.0), until: it.1 };
        let turns: Vec<_> = turns.iter().map(turn).collect();
        checker.check(&candidate, &turns).map_or_else(|it| it.to_string(), |it| format!("{it:?}"))
    });
    results.join("\n")
}

/// Threads must stop directly before the events at which they get stuck, and hold what the others
/// request.
#[test]
fn the_checker_requires_threads_at_their_stuck_events() {
    let trace = two(["a", "b"], ["b", "a"]);
    let schedules = [
        &[(0, 1), (1, 1)][..],
        &[(1, 1), (0, 1)],
        &[(0, 1)],
        &[(0, 1), (1, 2)],
        &[(0, 4), (1, 1)],
        &[(0, 2), (1, 1)],
    ];
    assert_snapshot!(checked(&trace, schedules), @r"
    Sound
    Sound
    t1:0: the candidate's events are not in their order at the end of the schedule
    t1:1: the lock is held by another thread
    t0:1: its thread is not right before it at the end of the schedule
    t1:0: the lock is held by another thread
    ");
}

/// No thread may be able to wake a waiting thread, now or later.
#[test]
fn the_checker_rejects_schedules_with_a_possible_wake_up() {
    let trace = "
        T1 acq m
        T1 waitrel m
        T1 wait c m
        T2 signal c
        T3 signal c
        T1 wake c m by T2:0
        T1 rel m
    ";
    let schedules = [
        &[(1, 1), (2, 1), (0, 3)][..],
        &[(1, 1), (0, 3)],
        &[(1, 1), (0, 3), (2, 1)],
        &[(1, 1), (0, 1), (2, 1), (0, 3)],
        &[(1, 1), (0, 2), (2, 1), (0, 3)],
    ];
    assert_snapshot!(checked(trace, schedules), @r"
    Sound
    t2:0: the candidate's events are not in their order at the end of the schedule
    t0:3: its thread does not get stuck there
    Sound
    t0:3: its thread does not get stuck there
    ");
}

/// A signal does not count if its sender is stuck before it.
#[test]
fn the_checker_ignores_signals_that_can_never_be_sent() {
    let trace = |held: &str| {
        format!(
            "T1 acq {held}\nT1 acq m\nT1 waitrel m\nT1 wait c m\nT2 signal c\n\
             T1 wake c m by T2:0\nT1 rel m\nT1 rel {held}\nT3 acq k\nT3 rel k\nT3 signal c"
        )
    };
    let is_stuck = |held: &str| {
        let trace = text::parse(&trace(held)).unwrap();
        let found = predict(&trace, &Options::default()).candidates;
        let mut candidate =
            found.into_iter().find(|it| it.kind == CandidateKind::LostWakeUp).unwrap();
        candidate.steps.retain(|it| it.event.thread != ThreadId(2));
        let turns = [(1, 1), (0, 4)].map(|it| Turn { thread: ThreadId(it.0), until: it.1 });
        Checker::new(&trace).check(&candidate, &turns).is_ok()
    };
    assert!(is_stuck("k"));
    assert!(!is_stuck("other"));
}
