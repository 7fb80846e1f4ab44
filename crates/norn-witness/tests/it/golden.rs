//! The examples of the paper, and each built-in pattern on the smallest trace that contains it and
//! on the smallest that does not.

use insta::assert_snapshot;
use norn_model::BugClass;

use crate::kit::hunt_class;

/// Figure 5 of Huang and Zhang: the signal makes the race impossible, although neither order nor
/// locks of the two accesses alone exclude it.
#[test]
fn figure_5_with_the_signal() {
    let trace = "
        T1 acq l @ v1
        T2 acq m
        T2 waitrel m
        T2 wait c m
        T1 signal c @ v2
        T1 w x 1 @ v3
        T1 rel l @ v4
        T2 wake c m by T1:1 @ v5
        T2 acq l @ v6
        T2 rel l @ v7
        T2 r x 1 @ v8
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Race), @r"
    single race write-read: v3 v8 | infeasible: t1:4 needs t0:2, which is to come later
    single race read-write: v8 v3 | infeasible: t1:4 needs t0:2, which is to come later
    ");
}

/// The same figure without the signal: the race is real.
#[test]
fn figure_5_without_the_signal() {
    let trace = "
        T1 acq l @ v1
        T1 yield @ v2
        T1 w x 1 @ v3
        T1 rel l @ v4
        T2 yield @ v5
        T2 acq l @ v6
        T2 rel l @ v7
        T2 r x 1 @ v8
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Race), @r"
    single race write-read: v3 v8 | sound: v5 v6 v7 v1 v2 v3 v8
    single race read-write: v8 v3 | sound: v5 v6 v7 v1 v2 v8 v3
    ");
}

/// Figure 1 of the same paper, recorded as 1-5-2-3-6-7: statement 3 reads y before 7 writes it.
#[test]
fn figure_1() {
    let trace = "
        T1 acq l @ 1
        T1 rel l @ 1'
        T2 acq l @ 5
        T2 rel l @ 5'
        T1 w x 1 @ 2
        T1 r y 0 @ 3
        T2 r x 1 @ 6
        T2 w y 1 @ 7
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Race), @r"
    single race write-read: 2 6 | sound: 1 1' 5 5' 2 6
    single race read-write: 6 2 | sound: 1 1' 5 5' 6 2
    single race read-write: 3 7 | sound: 1 1' 2 5 5' 6 3 7
    single race write-read: 7 3 | sound: 1 1' 2 5 5' 6 7 3
    ");
}

#[test]
fn races() {
    let race = |trace: &str| hunt_class(trace, BugClass::Race);
    assert_snapshot!(race("T1 r x 0\nT2 w x 1"), @r"
    single race read-write: T1:0 T2:0 | sound: T1:0 T2:0
    single race write-read: T2:0 T1:0 | sound: T2:0 T1:0
    ");
    assert_snapshot!(race("T1 w x 1\nT2 w x 1"), @r"
    single race write-write: T1:0 T2:0 | sound: T1:0 T2:0
    single race write-write: T2:0 T1:0 | sound: T2:0 T1:0
    ");
    // Adjacent bytes are different variables; overlapping accesses are not.
    assert_snapshot!(race("T1 w x:4 1\nT2 w x+4:4 1"), @"");
    assert_snapshot!(race("T1 w x:8 1\nT2 w x+4:2 1"), @r"
    single race write-write: T1:0 T2:0 | sound: T1:0 T2:0
    single race write-write: T2:0 T1:0 | sound: T2:0 T1:0
    ");
    // Two reads, two atomic accesses.
    assert_snapshot!(race("T1 r x 0\nT2 r x 0"), @"");
    assert_snapshot!(race("T1 store x 1\nT2 load x 1"), @"");
    assert_snapshot!(race("T1 w x 1\nT2 load x 1 relaxed"), @r"
    single race write-read: T1:0 T2:0 | sound: T1:0 T2:0
    single race read-write: T2:0 T1:0 | sound: T2:0 T1:0
    ");
}

#[test]
fn locks_prevent_races() {
    let race = |trace: &str| hunt_class(trace, BugClass::Race);
    let locked = |one: &str, other: &str| {
        race(&format!(
            "T1 acq l {one}\nT1 w x 1\nT1 rel l {one}\nT2 acq l {other}\nT2 r x 1\nT2 rel l {other}"
        ))
    };
    assert_snapshot!(locked("mutex", "mutex"), @"");
    assert_snapshot!(locked("write", "read"), @"");
    assert_snapshot!(locked("read", "read"), @r"
    single race write-read: T1:1 T2:1 | sound: T2:0 T1:0 T1:1 T2:1
    single race read-write: T2:1 T1:1 | sound: T1:0 T2:0 T2:1 T1:1
    ");
}

#[test]
fn order_prevents_races() {
    let race = |trace: &str| hunt_class(trace, BugClass::Race);
    assert_snapshot!(race("T0 w x 1\nT0 fork T0.1\nT0.1 r x 1\nT0.1 end\nT0 join T0.1\nT0 w x 2"), @"");
    assert_snapshot!(race("T1 w x 1\nT1 arrive b\nT2 arrive b\nT1 pass b\nT2 pass b\nT2 r x 1"), @"");
    assert_snapshot!(race("T1 w x 1\nT1 post s\nT2 down s\nT2 r x 1"), @"");
    assert_snapshot!(race("T1 oncebegin o\nT1 w x 1\nT1 onceend o\nT2 oncedone o\nT2 r x 1"), @"");
    assert_snapshot!(race("T1 w x 1\nT1 store f 1 release\nT2 load f 1 acquire\nT2 r x 1"), @"");
    assert_snapshot!(race("T1 w x 1\nT1 before o\nT2 after o\nT2 r x 1"), @"");
    // Two threads post: either post is enough.
    assert_snapshot!(race("T1 w x 1\nT1 post s\nT3 post s\nT2 down s\nT2 r x 1"), @r"
    single race write-read: T1:0 T2:1 | sound: T3:0 T2:0 T1:0 T2:1
    single race read-write: T2:1 T1:0 | sound: T3:0 T2:0 T2:1 T1:0
    ");
}

#[test]
fn reallocated_memory_is_another_variable() {
    let race = |trace: &str| hunt_class(trace, BugClass::Race);
    assert_snapshot!(race("T1 alloc p 8\nT1 w p 1\nT1 free p\nT2 alloc p 8\nT2 w p 1\nT2 free p"), @"");
    assert_snapshot!(race("T1 alloc p 8\nT1 w p 1\nT2 w p 1\nT2 free p"), @r"
    single race write-write: T1:1 T2:0 | sound: T1:0 T1:1 T2:0
    single race write-write: T2:0 T1:1 | sound: T1:0 T2:0 T1:1
    ");
    assert_snapshot!(race("T1 begin k 64\nT1 w k 1\nT1 end\nT2 begin k 64\nT2 w k 2\nT2 end"), @"");
}

#[test]
fn atomicity() {
    let triple = |one: &str, other: &str, last: &str| {
        let trace =
            format!("order global\nT1 acq l\nT1 {one} x\nT1 {last} x\nT1 rel l\nT2 {other} x");
        hunt_class(&trace, BugClass::Atomicity)
    };
    assert_snapshot!(triple("r", "w", "r"), @"section atomicity read-write-read: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    assert_snapshot!(triple("w", "w", "r"), @"section atomicity write-write-read: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    assert_snapshot!(triple("w", "r", "w"), @"section atomicity write-read-write: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    assert_snapshot!(triple("r", "w", "w"), @"section atomicity read-write-write: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    assert_snapshot!(triple("w", "w", "w"), @"section atomicity write-write-write: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    assert_snapshot!(triple("r", "r", "w"), @"");
    assert_snapshot!(triple("w", "r", "r"), @"");
    assert_snapshot!(triple("r", "r", "r"), @"");
}

/// Read in one critical section, written in the next: not a region, but nevertheless a bug.
#[test]
fn atomicity_across_sections() {
    let trace = "
        T1 acq l @ a1
        T1 r x 0 @ a2
        T1 rel l @ a3
        T1 acq l @ a4
        T1 w x 1 @ a5
        T1 rel l @ a6
        T2 acq l @ b1
        T2 w x 5 @ b2
        T2 rel l @ b3
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Atomicity), @"unmarked atomicity read-write-write: a2 b2 a5 | sound: a1 a2 a3 b1 b2 b3 a4 a5");
    let whole = "T1 acq l\nT1 r x 0\nT1 w x 1\nT1 rel l\nT2 acq l\nT2 w x 5\nT2 rel l";
    assert_snapshot!(hunt_class(whole, BugClass::Atomicity), @"");
}

/// Unmarked regions are tried after critical sections, the closest accesses first.
#[test]
fn regions_are_tried_by_scope_and_distance() {
    let trace = "
        T1 r x 0 @ far1
        T1 yield
        T1 yield
        T1 yield
        T1 w x 1 @ far2
        T1 r y 0 @ close1
        T1 w y 1 @ close2
        T1 acq l
        T1 r z 0 @ inside1
        T1 w z 1 @ inside2
        T1 rel l
        T2 w x 5 @ x
        T2 w y 5 @ y
        T2 w z 5 @ z
    ";
    let found = hunt_class(trace, BugClass::Atomicity);
    let titles: Vec<_> = found.lines().filter_map(|it| it.split(" |").next()).collect();
    assert_snapshot!(titles.join("\n"), @r"
    section atomicity read-write-write: inside1 z inside2
    unmarked atomicity read-write-write: close1 y close2
    unmarked atomicity read-write-write: far1 x far2
    ");
}

/// A neighbouring variable is another variable, even in the same word.
#[test]
fn atomicity_of_neighbours() {
    let trace = "T1 r x 0\nT1 w x+4 7\nT1 w x 1\nT2 w x 5";
    assert_snapshot!(hunt_class(trace, BugClass::Atomicity), @"unmarked atomicity read-write-write: T1:0 T2:0 T1:2 | sound: T1:0 T2:0 T1:1 T1:2");
}

/// The value that is read was written by uninstrumented code; the same holds in the schedule.
#[test]
fn values_of_uninstrumented_code() {
    let trace = "T1 w a 1\nT1 r a 7\nT1 w x 1\nT2 w x 2";
    assert_snapshot!(hunt_class(trace, BugClass::Race), @r"
    single race write-write: T1:2 T2:0 | sound: T1:0 T1:1 T1:2 T2:0
    single race write-write: T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2
    ");
}

/// A thread publishes memory before it writes to it under a lock.
#[test]
fn memory_published_before_the_write() {
    let trace = "
        T1 acq l @ a1
        T1 w s 0 @ a2
        T1 store p 1 @ a3
        T1 w s 100 @ a4
        T1 rel l @ a5
        T2 load p 1 @ b1
        T2 r s 100 @ b2
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Race), @r"
    single race write-read: a4 b2 | sound: a1 a2 a3 b1 a4 b2
    single race read-write: b2 a4 | sound: a1 a2 a3 b1 b2 a4
    ");
}

/// A counter of atomic operations that is read and written in two steps.
#[test]
fn atomicity_of_atomic_operations() {
    let trace = "T1 load x 0\nT1 store x 1\nT2 load x 1\nT2 store x 2";
    assert_snapshot!(hunt_class(trace, BugClass::Atomicity), @r"
    unmarked atomicity read-write-write: T1:0 T2:1 T1:1 | speculative: T2:0 T1:0 T2:1 T1:1
    unmarked atomicity read-write-write: T2:0 T1:1 T2:1 | speculative: T1:0 T2:0 T1:1 T2:1
    ");
    assert_snapshot!(hunt_class("T1 add x 0 1\nT2 add x 1 2", BugClass::Atomicity), @"");
}

#[test]
fn atomic_sets() {
    let set = |one: &str, other: &str, second: &str, third: &str| {
        let trace = format!(
            "order global\nT1 acq l\nT1 {one} x\nT1 {one} y\nT1 rel l\nT2 acq m\nT2 {other} {second}\nT2 {other} {third}\nT2 rel m"
        );
        hunt_class(&trace, BugClass::AtomicSet)
    };
    assert_snapshot!(set("w", "w", "x", "y"), @r"
    section atomic-set write-write-write-write: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set write-write-write-write: T2:1 T1:1 T1:2 T2:2 | sound: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("w", "w", "y", "x"), @r"
    section atomic-set write-write-write-write-crossed: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set write-write-write-write-crossed: T2:1 T1:1 T1:2 T2:2 | sound: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("w", "r", "x", "y"), @r"
    section atomic-set write-read-read-write: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set read-write-write-read: T2:1 T1:1 T1:2 T2:2 | speculative: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("w", "r", "y", "x"), @r"
    section atomic-set write-read-read-write-crossed: T1:1 T2:1 T2:2 T1:2 | speculative: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set read-write-write-read-crossed: T2:1 T1:1 T1:2 T2:2 | speculative: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("r", "w", "x", "y"), @r"
    section atomic-set read-write-write-read: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set write-read-read-write: T2:1 T1:1 T1:2 T2:2 | speculative: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("r", "w", "y", "x"), @r"
    section atomic-set read-write-write-read-crossed: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set write-read-read-write-crossed: T2:1 T1:1 T1:2 T2:2 | sound: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    assert_snapshot!(set("r", "r", "x", "y"), @"");
    let kept = "T1 acq l\nT1 w x\nT1 w y\nT1 rel l\nT2 acq l\nT2 r x\nT2 r y\nT2 rel l";
    assert_snapshot!(hunt_class(kept, BugClass::AtomicSet), @"");
}

#[test]
fn use_after_free() {
    let lifetime = |trace: &str| hunt_class(trace, BugClass::Lifetime);
    let within = |body: &str| lifetime(&format!("T0 alloc p 64\nT0 fork T0.1\n{body}"));
    assert_snapshot!(within("T0.1 r p+32\nT0 free p"), @"single lifetime use-after-free: T0:2 T0.1:0 | sound: T0:0 T0:1 T0:2 T0.1:0");
    assert_snapshot!(within("T0.1 w p+32\nT0 free p"), @"single lifetime use-after-free: T0:2 T0.1:0 | sound: T0:0 T0:1 T0:2 T0.1:0");
    assert_snapshot!(within("T0.1 add p 1 2 relaxed\nT0 free p"), @"single lifetime use-after-free: T0:2 T0.1:0 | sound: T0:0 T0:1 T0:2 T0.1:0");
    // Beyond the block, in another allocation of the memory, by the same thread, or ordered.
    assert_snapshot!(within("T0.1 r p+64\nT0 free p"), @"");
    assert_snapshot!(within("T0 free p\nT0 alloc p 64\nT0.1 yield\nT0.1 r p\nT0 yield"), @"");
    assert_snapshot!(within("T0 r p\nT0 free p"), @"");
    assert_snapshot!(within("T0.1 r p\nT0.1 end\nT0 join T0.1\nT0 free p"), @"");
    // With an atomic reference count, a thread knows whether it is the last user.
    assert_snapshot!(within("T0.1 r p\nT0.1 sub n 2 1\nT0 sub n 1 0\nT0 free p"), @"");
    assert_snapshot!(lifetime("T0 map p 4096\nT0 fork T0.1\nT0.1 r p+2000\nT0 unmap p 4096"), @"single lifetime use-after-free: T0:2 T0.1:0 | sound: T0:0 T0:1 T0:2 T0.1:0");
}

/// Locks exclude overlapping critical sections, but do not order them.
#[test]
fn use_after_free_under_a_lock() {
    let trace = "
        T0 alloc p 64 @ a1
        T0 fork T0.1 @ a2
        T0.1 acq l @ b1
        T0.1 r p @ b2
        T0.1 rel l @ b3
        T0 acq l @ a3
        T0 free p @ a4
        T0 rel l @ a5
    ";
    assert_snapshot!(hunt_class(trace, BugClass::Lifetime), @"single lifetime use-after-free: a4 b2 | sound: a1 a2 a3 a4 a5 b1 b2");
}

/// A thread frees memory that another thread allocated before.
#[test]
fn memory_is_freed_after_it_was_allocated() {
    let trace = "T1 alloc p 8\nT1 r p\nT2 free p";
    assert_snapshot!(hunt_class(trace, BugClass::Lifetime), @"single lifetime use-after-free: T2:0 T1:1 | sound: T1:0 T2:0 T1:1");
}

#[test]
fn double_free() {
    let trace = "T0 alloc p 8\nT0 fork T0.1\nT0.1 free p\nT0 free p";
    assert_snapshot!(hunt_class(trace, BugClass::Lifetime), @r"
    single lifetime double-free: T0:2 T0.1:0 | sound: T0:0 T0:1 T0:2 T0.1:0
    single lifetime double-free: T0.1:0 T0:2 | sound: T0:0 T0:1 T0.1:0 T0:2
    ");
}

/// A semaphore with the initial value one that alternates between wait and post is a lock.
#[test]
fn semaphores_as_locks() {
    let section = |thread: &str, body: &str| format!("{thread} down s\n{body}\n{thread} post s\n");
    let [one, other] = [section("T1", "T1 r x 0\nT1 w x 1"), section("T2", "T2 w x 5")];
    let with =
        |first: u8| format!("T1 init s semaphore {first}\nT1 before o\nT2 after o\n{one}{other}");
    assert_snapshot!(hunt_class(&with(1), BugClass::Race), @"");
    assert_snapshot!(hunt_class(&with(1), BugClass::Atomicity), @"");
    assert_snapshot!(hunt_class(&with(2), BugClass::Atomicity), @"unmarked atomicity read-write-write: T1:3 T2:2 T1:4 | sound: T1:0 T1:1 T1:2 T1:3 T2:0 T2:1 T2:2 T1:4");
    let [read, write] = [section("T1", "T1 r x 0"), section("T1", "T1 w x 1")];
    let apart = format!("T1 init s semaphore 1\nT1 before o\nT2 after o\n{read}{write}{other}");
    assert_snapshot!(hunt_class(&apart, BugClass::Atomicity), @"unmarked atomicity read-write-write: T1:3 T2:2 T1:6 | sound: T1:0 T1:1 T1:2 T1:3 T1:4 T2:0 T2:1 T2:2 T2:3 T1:5 T1:6");
}
