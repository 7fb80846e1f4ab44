//! Patterns that users write, regions that they mark, variables that they declare as atomic sets.

use insta::assert_snapshot;
use norn_model::{BugClass, ThreadId, text};
use norn_predict::{AtomicSet, Options, Pattern, Region};

use crate::kit::hunt;

fn with(pattern: &str) -> Options {
    Options { patterns: Pattern::parse(pattern).unwrap(), ..Options::default() }
}

/// Three threads: a value that one takes over from another never reaches the third.
#[test]
fn three_threads() {
    let options = with("pattern overtaken\n  a w x\n  b w x\n  c r x\n");
    let trace = "order global\nT1 w x 1\nT3 r x 1\nT2 w x 2";
    assert_snapshot!(hunt(trace, &options), @r"
    single pattern overtaken: T1:0 T2:0 T3:0 | sound: T1:0 T2:0 T3:0
    single pattern overtaken: T2:0 T1:0 T3:0 | sound: T2:0 T1:0 T3:0
    ");
    let ordered = "T0 w x 1\nT0 fork T0.1\nT0.1 r x 1\nT0.1 fork T0.2\nT0.2 w x 2";
    assert_snapshot!(hunt(ordered, &options), @"");
}

/// Three accesses of one region, interleaved with two of another thread.
#[test]
fn long_regions() {
    let options = with("pattern torn\n  a r x\n  b w x\n  a r x\n  b w x\n  a r x\n");
    let trace = "order global
        T1 r x 0 @ r1
        T1 r x 0 @ r2
        T1 r x 0 @ r3
        T2 w x 1 @ w1
        T2 w x 2 @ w2";
    assert_snapshot!(hunt(trace, &options), @"unmarked pattern torn: r1 w1 r2 w2 r3 | speculative: r1 w1 r2 w2 r3");
}

/// An access in one region and one in the next.
#[test]
fn different_regions() {
    let options = with("pattern apart\n  a/1 w x\n  b r y\n  a/2 w y\n");
    let trace =
        "order global\nT1 acq l\nT1 w x\nT1 rel l\nT1 acq l\nT1 w y\nT1 rel l\nT2 r y\nT2 r x";
    assert_snapshot!(hunt(trace, &options), @"single pattern apart: T1:1 T2:0 T1:4 | sound: T1:0 T1:1 T1:2 T1:3 T2:0 T1:4");
}

#[test]
fn marked_regions() {
    let mut options = Options { unmarked: false, ..Options::default() };
    options.patterns.retain(|it| it.class() == BugClass::Atomicity);
    let trace = "T1 r x 0\nT1 yield\nT1 w x 1\nT2 w x 5";
    assert_snapshot!(hunt(trace, &options), @"");
    options.regions = vec![Region { thread: ThreadId(0), events: 0..=2 }];
    assert_snapshot!(hunt(trace, &options), @"marked atomicity read-write-write: T1:0 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
}

#[test]
fn regions_that_the_program_marks() {
    let mut options = Options { unmarked: false, ..Options::default() };
    options.patterns.retain(|it| it.class() == BugClass::Atomicity);
    let trace = "order global\nT1 region begin\nT1 r x 0\nT1 w x 1\nT1 region end\nT2 w x 5";
    assert_snapshot!(hunt(trace, &options), @"marked atomicity read-write-write: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
    let trace = "order global\nT1 call f()\nT1 r x 0\nT1 w x 1\nT1 return f -> 0\nT2 w x 5";
    assert_snapshot!(hunt(trace, &options), @"");
    options.functions = vec![norn_model::FunctionPattern::new("f")];
    assert_snapshot!(hunt(trace, &options), @"marked atomicity read-write-write: T1:1 T2:0 T1:2 | sound: T1:0 T1:1 T2:0 T1:2");
}

#[test]
fn given_sets() {
    let trace =
        "order global\nT1 acq l\nT1 w x\nT1 w y\nT1 rel l\nT2 acq m\nT2 r x\nT2 r y\nT2 rel m";
    let mut symbols = text::parse(trace).unwrap().symbols;
    let mut options = Options::default();
    options.patterns.retain(|it| it.class() == BugClass::AtomicSet);
    let [x, y, z] = ["x", "y", "z"].map(|it| symbols.intern(it));
    options.sets = vec![AtomicSet(vec![x..x + 4, z..z + 4])];
    assert_snapshot!(hunt(trace, &options), @"");
    options.sets = vec![AtomicSet(vec![x..x + 4, y..y + 4])];
    assert_snapshot!(hunt(trace, &options), @r"
    section atomic-set write-read-read-write: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set read-write-write-read: T2:1 T1:1 T1:2 T2:2 | speculative: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
}

/// Variables outside the sets do not separate accesses to those inside.
#[test]
fn given_sets_far_apart() {
    let others = |thread: &str| {
        let line = |it: usize| format!("{thread} w o{it}\n");
        (0..9).map(line).collect::<Vec<_>>().concat()
    };
    let (others, also) = (others("T1"), others("T2"));
    let trace = format!(
        "order global\nT1 acq l\nT1 w x\n{others}T1 w y\nT1 rel l\n\
         T2 acq m\nT2 r x\nT2 r y\nT2 rel m\n{also}"
    );
    let mut symbols = text::parse(&trace).unwrap().symbols;
    let mut options = Options::default();
    options.patterns.retain(|it| it.name() == "write-read-read-write");
    let of_both =
        |text: String| text.lines().filter(|it| it.contains("T1:1 T2:1 T2:2 T1:11")).count();
    assert_eq!(of_both(hunt(&trace, &options)), 0);
    let [x, y] = ["x", "y"].map(|it| symbols.intern(it));
    options.sets = vec![AtomicSet(vec![x..x + 4, y..y + 4])];
    assert_eq!(of_both(hunt(&trace, &options)), 1);
}

/// Two small variables of a set may share a granule of eight bytes.
#[test]
fn neighbours_in_memory() {
    let trace = "order global
        T1 acq l
        T1 w x:4
        T1 w x+4:4
        T1 rel l
        T2 acq m
        T2 r x:4
        T2 r x+4:4
        T2 rel m";
    let x = text::parse(trace).unwrap().symbols.intern("x");
    let mut options = Options::default();
    options.patterns.retain(|it| it.class() == BugClass::AtomicSet);
    options.sets = vec![AtomicSet(vec![x..x + 4, x + 4..x + 8])];
    assert_snapshot!(hunt(trace, &options), @r"
    section atomic-set write-read-read-write: T1:1 T2:1 T2:2 T1:2 | sound: T1:0 T1:1 T2:0 T2:1 T2:2 T1:2
    section atomic-set read-write-write-read: T2:1 T1:1 T1:2 T2:2 | speculative: T2:0 T2:1 T1:0 T1:1 T1:2 T2:2
    ");
    options.sets = vec![AtomicSet(vec![x..x + 4, x + 8..x + 12])];
    assert_snapshot!(hunt(trace, &options), @"");
}
