//! The conditions of the paper one by one, the rule for loops, and what candidates there are.

use std::fmt::Write as _;

use insta::assert_snapshot;
use norn_model::{
    Comparison, Condition, CriticalRead, Expression, PotentialFailure,
    PotentialFailureKind as Failure, SiteId, Step, Trace, text,
};

use crate::{CriticalReads, Options, Prediction, predict};

#[path = "combination_tests.rs"]
mod combination;

/// The place of a site.
fn place(trace: &Trace, site: SiteId) -> String {
    trace.site(site).and_then(|it| it.place.clone()).unwrap_or_default()
}

/// The sites of a trace, with addresses of instructions.
fn sites(trace: &Trace) -> impl Iterator<Item = (SiteId, u64)> {
    let sites = (0..).map(SiteId).take_while(|it| trace.site(*it).is_some());
    sites.map(|it| (it, 0x1000 + u64::from(it.0)))
}

/// The address of the instruction at a place.
fn pc(trace: &Trace, name: &str) -> u64 {
    sites(trace).find(|it| place(trace, it.0) == name).unwrap().1
}

/// Predicts from a trace in which the read at the place `r` decides a failure.
fn predicted(trace: &Trace, kind: Failure, condition: Option<&Condition>) -> Prediction {
    let reads = vec![CriticalRead { pc: pc(trace, "r"), distance: 2, chain: Vec::new() }];
    let failures = [PotentialFailure { kind, pc: 0x10, reads }];
    let critical_reads = CriticalReads::new(&failures, sites(trace), 4)
        .with_conditions(|_| condition.cloned(), sites(trace));
    predict(trace, &Options { critical_reads, ..Options::default() })
}

/// What the read can see instead, and the candidates that have that read, most of which other analyses
/// find, too.
fn dangers(trace: &str, kind: Failure) -> String {
    let trace = text::parse(&format!("order global\n{trace}")).unwrap();
    let found = predicted(&trace, kind, None);
    let mut lines = String::new();
    for danger in &found.dangers {
        let name = |it: Option<SiteId>| it.map_or("nothing".to_owned(), |it| place(&trace, it));
        write!(lines, "sees {}", name(danger.instead)).unwrap();
        danger
            .missed
            .iter()
            .for_each(|it| write!(lines, " before {}", place(&trace, *it)).unwrap());
        if danger.is_known_value {
            lines.push_str(", as another read did");
        }
        lines.push('\n');
        let violations = found.violations.iter().map(|it| &it.0);
        for it in found.candidates.iter().chain(violations).filter(|it| danger.is_in(it)) {
            let name = |it: &Step| place(&trace, it.site);
            let steps: Vec<_> = it.steps.iter().map(name).collect();
            writeln!(lines, "  {} {}", it.kind, steps.join(" ")).unwrap();
        }
    }
    lines
}

/// The same for an assertion, without the candidates.
fn seen(trace: &str) -> String {
    let all = dangers(trace, Failure::Assertion);
    all.lines().filter(|it| !it.starts_with(' ')).collect::<Vec<_>>().join("; ")
}

#[test]
fn any_other_write_can_be_seen() {
    let trace = "
        T1 w x 1 @ a
        T2 w x 2 @ b
        T3 r x 2 @ r
        T4 w x 3 @ c
    ";
    assert_snapshot!(dangers(trace, Failure::Assertion), @r"
    sees a before b
      write-read a r
      read-write r b
      overdue-use r b
    sees c
      write-read c r
      premature-use c r
    ");
}

/// Condition 1.
#[test]
fn a_read_sees_no_write_that_it_happens_before() {
    let trace = |join: &str| format!("T1 w x 1 @ a\nT2 r x 1 @ r\nT2 post s\n{join}\nT3 w x 2 @ b");
    assert_snapshot!(seen(&trace("T3 yield")), @"sees nothing before a; sees b");
    assert_snapshot!(seen(&trace("T3 down s")), @"sees nothing before a");
}

/// Condition 2, in one thread and between threads.
#[test]
fn a_write_that_is_always_overwritten_is_not_seen() {
    assert_snapshot!(seen("T1 w x 1 @ a\nT2 w x 2 @ b\nT2 r x 2 @ r"), @"sees a");
    assert_snapshot!(seen("T2 w x 1 @ a\nT2 w x 2 @ b\nT2 r x 2 @ r\nT1 r x 2 @ other"), @"");
    let trace = |order: &str| {
        format!(
            "T1 w x 1 @ a\nT1 post s\n{order}\nT2 w x 2 @ b\nT2 post t\nT3 down t\nT3 r x 2 @ r"
        )
    };
    assert_snapshot!(seen(&trace("T2 yield")), @"sees a");
    assert_snapshot!(seen(&trace("T2 down s")), @"");
}

/// Condition 3.
#[test]
fn a_section_with_the_read_and_a_write_before_it_excludes_others() {
    let trace = |lock: &str| {
        format!(
            "T1 acq l\nT1 w x 1 @ a\nT1 r x 1 @ r\nT1 rel l\n\
             T2 acq {lock}\nT2 w x 2 @ b\nT2 rel {lock}"
        )
    };
    assert_snapshot!(seen(&trace("l")), @"");
    assert_snapshot!(seen(&trace("m")), @"sees b");
}

/// Condition 4.
#[test]
fn a_section_with_two_writes_hides_the_first_one() {
    let trace = |lock: &str| {
        format!(
            "T1 acq {lock}\nT1 w x 1 @ a\nT1 w x 2 @ b\nT1 rel {lock}\n\
             T2 acq l\nT2 r x 2 @ r\nT2 rel l"
        )
    };
    assert_snapshot!(seen(&trace("l")), @"");
    assert_snapshot!(seen(&trace("m")), @"sees a before b");
}

#[test]
fn a_write_of_the_same_value_is_not_dangerous() {
    assert_snapshot!(seen("T1 w x 1 @ a\nT2 r x 1 @ r\nT3 w x 1 @ b"), @"sees nothing before a");
    assert_snapshot!(seen("T1 w x 1 @ a\nT2 r x 1 @ r\nT3 w x 2 @ b"), @"sees nothing before a; sees b");
}

/// Another read at the same place has seen the value, and nothing failed.
#[test]
fn known_values_are_less_dangerous() {
    let trace = "T1 w x 1 @ a\nT2 r x 1 @ r\nT2 w y 1\nT1 w x 2 @ b\nT2 r x 2 @ r\nT1 w x 3 @ c";
    assert_snapshot!(seen(trace), @"sees nothing before a; sees c; sees c; sees b, as another read did; sees a before b, as another read did");
}

/// What a program prints differs only if the value is new, and a pointer is bad if it is zero.
#[test]
fn the_kind_of_failure_decides_which_values_are_dangerous() {
    let trace = |value: u32| {
        format!(
            "T1 w x 1 @ a\nT2 r x 1 @ r\nT2 r x 1 @ r\nT1 w x {value} @ b\nT2 r x {value} @ late"
        )
    };
    assert_snapshot!(dangers(&trace(2), Failure::Access), @r"
    sees nothing before a
      read-write r a
      read-write r a
      read-write-read r a r
      read-write-read r a late
      overdue-use r a
      overdue-use r a
    ");
    assert_snapshot!(dangers(&trace(0), Failure::Access), @r"
    sees nothing before a
      read-write r a
      read-write r a
      read-write-read r a r
      read-write-read r a late
      overdue-use r a
      overdue-use r a
    sees b
      write-read b r
      read-write-read r b r
      premature-use b r
      premature-use b r
    ");
    assert_snapshot!(dangers(&trace(2), Failure::Output), @r"
    sees nothing before a
      read-write r a
      read-write r a
      read-write-read r a r
      read-write-read r a late
      overdue-use r a
      overdue-use r a
    sees b
      write-read b r
      read-write-read r b r
      premature-use b r
      premature-use b r
    ");
}

/// The read comes before the first write.
#[test]
fn reads_can_come_too_early() {
    assert_snapshot!(dangers("T1 w x 1 @ a\nT2 r x 1 @ r", Failure::Assertion), @r"
    sees nothing before a
      read-write r a
      overdue-use r a
    ");
}

/// A loop that is left when it sees what it waits for: seeing an older value is no harm, unless what it
/// waits for has been overwritten.
#[test]
fn a_loop_is_endless_only_if_what_ends_it_does_not_come_later() {
    let ordered = "
        T1 store x 1 @ set
        T1 post s
        T2 down s
        T2 store x 0 @ done
        T1 load x 0 @ r
    ";
    assert_snapshot!(dangers(ordered, Failure::Loop), @"");
    let unordered = "
        T1 post s
        T1 store x 1 @ set
        T1 load x 1 @ r
        T2 down s
        T2 store x 0 @ done
        T1 load x 0 @ r
    ";
    assert_snapshot!(dangers(unordered, Failure::Loop), @r"
    sees set
      late-overwrite done set r
    ");
    // Only seeing it too early is possible, and then the loop goes on.
    let early = "
        T1 load x 0 @ r
        T2 store x 1 @ done
        T1 load x 1 @ r
    ";
    assert_snapshot!(dangers(early, Failure::Loop), @"");
}

/// What is written before a flag that another thread polls comes before what that thread reads afterwards.
#[test]
fn spin_flags_order_threads() {
    let trace = |poll: &str| {
        format!(
            "T2 r flag 0 @ {poll}
            T1 w x 1 @ a
            T1 w flag 1 @ f
            T2 r flag 1 @ spin
            T2 r x 1 @ r"
        )
    };
    assert_snapshot!(seen(&trace("spin")), @"");
    assert_snapshot!(seen(&trace("look")), @"sees nothing before a");
}

/// Candidates of its own: the second of two writes, of which the first changes nothing.
#[test]
fn writes_that_are_not_next_are_candidates() {
    let later = "
        T1 w x 1 @ a
        T2 r x 1 @ r
        T1 w x 1 @ b
        T1 w x 2 @ c
    ";
    assert_snapshot!(dangers(later, Failure::Assertion), @r"
    sees nothing before a
      read-write r a
      overdue-use r a
    sees c
      write-read c r
      premature-use c r
    ");
    let earlier = "
        T1 w x 1 @ a
        T1 w x 2 @ b
        T1 w x 2 @ c
        T2 r x 2 @ r
    ";
    assert_snapshot!(dangers(earlier, Failure::Assertion), @r"
    sees a before b
      write-read a r
      read-write r b
      write-read-write a r b
      overdue-use r b
    ");
}

/// Whether what a place read is a constant.
fn is(trace: &Trace, name: &str, constant: u64) -> Condition {
    let (read, constant) = (Expression::Read(pc(trace, name)), Expression::Constant(constant));
    Condition::Compare(Comparison::Equal, 32, read, constant)
}

/// What the condition of an assertion says for each write that the read can see instead.
fn results(trace: &str, condition: impl Fn(&Trace) -> Condition) -> String {
    let trace = text::parse(&format!("order global\n{trace}")).unwrap();
    let found = predicted(&trace, Failure::Assertion, Some(&condition(&trace)));
    let line = |it: &crate::Danger| {
        let name = it.instead.map_or("nothing".to_owned(), |it| place(&trace, it));
        format!("{name}: {:?}", it.result)
    };
    found.dangers.iter().map(line).collect::<Vec<_>>().join("; ")
}

#[test]
fn the_condition_is_evaluated_with_the_other_value() {
    let trace = "T1 w x 1 @ a\nT2 r x 1 @ r\nT3 w x 2 @ b\nT4 w x 3 @ c";
    assert_snapshot!(results(trace, |it| is(it, "r", 2)), @"b: Fails; nothing: Unknown; c: Passes");
    // Nothing failed in the recorded run, so such a condition is not the whole truth.
    assert_snapshot!(results(trace, |it| is(it, "r", 1)), @"nothing: Unknown; b: Unknown; c: Unknown");
    // What was in memory before the first write is known if something read it.
    let trace = format!("T5 r x 7 @ before\n{trace}");
    assert_snapshot!(results(&trace, |it| is(it, "r", 7)), @"nothing: Fails; b: Passes; c: Passes");
}

#[test]
fn the_other_reads_of_a_condition_see_what_they_saw() {
    let both = |trace: &Trace| Condition::All(vec![is(trace, "r", 2), is(trace, "q", 5)]);
    let trace = |q: u32| format!("T1 w x 1 @ a\nT2 r y {q} @ q\nT2 r x 1 @ r\nT3 w x 2 @ b");
    assert_snapshot!(results(&trace(5), both), @"b: Fails; nothing: Unknown");
    assert_snapshot!(results(&trace(6), both), @"nothing: Passes; b: Passes");
    // In each round `q` comes first.
    let rounds = "
        T1 w x 1 @ a
        T2 r y 5 @ q
        T2 r x 1 @ r
        T2 r y 6 @ q
        T3 w x 2 @ b
        T2 r x 2 @ other
    ";
    assert_snapshot!(results(rounds, both), @"b: Fails; nothing: Unknown");
}

/// A thread that checks a pointer and then uses it reads it twice.
#[test]
fn a_later_read_of_the_same_memory_may_see_the_other_value_too() {
    let both = |trace: &Trace| Condition::All(vec![is(trace, "r", 2), is(trace, "q", 2)]);
    let trace = "T1 w x 1 @ a\nT2 r x 1 @ r\nT2 r x 1 @ q\nT3 w x 2 @ b";
    assert_snapshot!(results(trace, both), @"b: Fails; nothing: Unknown");
}

/// Programs free memory all the time: only a thread that would not have done it is of interest.
#[test]
fn a_thread_that_would_free_what_it_did_not_is_dangerous() {
    let trace = "T1 r x 0 @ r\nT1 w x 1 @ a\nT2 r x 1 @ r\nT2 r x 1 @ other";
    let trace = text::parse(&format!("order global\n{trace}")).unwrap();
    let found = |value| predicted(&trace, Failure::Free, Some(&is(&trace, "r", value))).dangers;
    assert_eq!(found(0).len(), 1);
    assert!(found(1).is_empty());
}

/// The elements of an array are read by one instruction. What is known is whether both sides change alike.
#[test]
fn a_sum_is_broken_if_one_side_changes() {
    let broken = |trace: &Trace| {
        let change = |it| Expression::Change(pc(trace, it));
        Condition::Compare(Comparison::Equal, 32, change("total"), change("r")).negated()
    };
    let trace = "
        T1 w a 2 @ a
        T2 r a 2 @ r
        T2 r b 3 @ r
        T2 r t 5 @ total
        T3 w a 4 @ c
    ";
    assert_snapshot!(results(trace, broken), @"c: Fails; nothing: Unknown");
}

/// T2 sees 1 and then 4. What it sees instead must not be less than what it saw before, nor more than what it sees next.
#[test]
fn a_direction_is_broken_by_a_value_out_of_order() {
    let grows = |trace: &Trace| {
        let read = pc(trace, "r");
        let less = |one, other| Condition::Compare(Comparison::Less, 32, one, other);
        let now = || Expression::Read(read);
        let before = less(now(), Expression::Previous(read));
        Condition::Any(vec![before, less(Expression::Next(read), now())])
    };
    let trace = |value: u32| {
        // Between its reads T2 does something else: otherwise it would poll, and expect any value.
        format!(
            "T1 w x 1 @ a\nT2 r x 1 @ r\nT2 w y 1 @ y\nT1 w x 4 @ b\nT2 r x 4 @ r\nT3 w x {value} @ c"
        )
    };
    let of_c = |value| {
        let all = results(&trace(value), grows);
        let mut found: Vec<_> = all.split("; ").filter(|it| it.starts_with("c: ")).collect();
        found.sort_unstable();
        found.dedup();
        found.join("; ")
    };
    assert_snapshot!(of_c(0), @"c: Fails; c: Passes");
    assert_snapshot!(of_c(3), @"c: Passes");
    assert_snapshot!(of_c(5), @"c: Fails; c: Passes");
}
