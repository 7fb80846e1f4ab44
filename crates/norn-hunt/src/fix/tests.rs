//! Suggestions for traces in text notation. A place is a function and a line.

use norn_model::{BugClass, Candidate, Event, Location, Step, Trace, text};
use norn_predict::{Options, predict};
use norn_report::{Fix, FixSection, Object, RejectedLock, vocabulary};

use super::{Frames, Suggestion, check, rewrite::rewrite, suggest};

/// The suggestion for the first candidate of a class with these places, as the report words it.
fn fix(class: BugClass, places: &[&str], trace: &str) -> String {
    let trace = text::parse(trace).unwrap();
    described(&trace, &candidate(&trace, class, places))
}

/// The suggestion for a candidate, as the report words it.
fn described(trace: &Trace, candidate: &Candidate) -> String {
    let frames = |event: &Event| frames(trace, event);
    let Some(suggestion) = suggest(trace, candidate, &frames) else { return "none".to_owned() };
    let fix = report(trace, suggestion);
    let mut lines = vec![vocabulary::fix(&fix)];
    let mut notes = vocabulary::fix_notes(&fix);
    notes.retain(|it| !it.starts_with("proved"));
    lines.extend(notes);
    lines.push(format!("executed {} times, {} cycles", fix.executions, fix.cycles));
    lines.join("\n")
}

fn candidate(trace: &Trace, class: BugClass, places: &[&str]) -> Candidate {
    let prediction = predict(trace, &Options::default().only(&[class]));
    let place = |it: &Candidate| -> Vec<_> {
        it.sites()
            .map(|it| trace.site(it).and_then(|it| it.place.clone()).unwrap_or_default())
            .collect()
    };
    let mut candidates = prediction.candidates.into_iter();
    candidates.find(|it| place(it) == places).unwrap()
}

/// `pay:12` is line 12 of `pay`; `main:3/pay:12` was called from line 3 of `main`.
fn frames(trace: &Trace, event: &Event) -> Frames {
    let place = trace.site(event.site).and_then(|it| it.place.clone()).unwrap_or_default();
    let frame = |it: &str| {
        let (function, line) = it.split_once(':')?;
        let (function, file) = (Some(function.to_owned()), Some("a.c".to_owned()));
        Some(Location { function, file, line: line.parse().ok(), ..Location::default() })
    };
    place.split('/').filter_map(frame).collect::<Vec<_>>().into()
}

fn report(trace: &Trace, suggestion: Suggestion) -> Fix {
    let Suggestion { lock, sections, replaced, executions, cycles, rejected } = suggestion;
    let name = |lock: u64| {
        let (name, offset) = trace.symbols.name(lock).unwrap_or(("?", 0));
        Object::named(if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") })
    };
    let inside = replaced.iter().filter_map(|it| frames(trace, trace.event(*it)?).last().cloned());
    Fix {
        lock: lock.map(|it| name(it.lock)),
        sections: sections
            .into_iter()
            .map(|it| FixSection { from: it.place, to: it.last, loops: it.loops })
            .collect(),
        acquired_inside: inside.collect(),
        executions,
        events: trace.len(),
        cycles,
        rejected: rejected
            .into_iter()
            .map(|(it, why)| RejectedLock { lock: name(it.lock), why })
            .collect(),
    }
}

#[test]
fn an_unprotected_side_of_a_race_takes_the_lock_of_the_other() {
    let trace = "
        T1 acq m @ add:1
        T1 w x 1 @ add:2
        T1 rel m @ add:3
        T2 w x 2 @ reset:9
    ";
    insta::assert_snapshot!(fix(BugClass::Race, &["add:2", "reset:9"], trace), @r"
    hold `m` in reset at a.c:9
    executed 1 times, 0 cycles
    ");
}

#[test]
fn a_race_without_any_lock_gets_a_new_one() {
    let trace = "
        T1 w x 1 @ add:2
        T2 w x 2 @ reset:9
        T3 w x 2 @ reset:9
    ";
    insta::assert_snapshot!(fix(BugClass::Race, &["add:2", "reset:9"], trace), @r"
    hold one new lock in add at a.c:2 and in reset at a.c:9
    executed 3 times, 0 cycles
    ");
}

#[test]
fn two_critical_sections_become_one() {
    let trace = "
        T1 acq m @ pay:8/get:1
        T1 r x 0 @ pay:8/get:2
        T1 rel m @ pay:8/get:3
        T1 acq m @ pay:9/set:5
        T1 w x 1 @ pay:9/set:6
        T1 rel m @ pay:9/set:7
        T2 acq m @ pay:8/get:1
        T2 r x 1 @ pay:8/get:2
        T2 rel m @ pay:8/get:3
        T2 acq m @ pay:9/set:5
        T2 w x 2 @ pay:9/set:6
        T2 rel m @ pay:9/set:7
    ";
    let places = ["pay:8/get:2", "pay:9/set:6", "pay:9/set:6"];
    insta::assert_snapshot!(fix(BugClass::Atomicity, &places, trace), @r"
    hold `m` in pay from a.c:8 to 9
    it is acquired inside, too (a.c:1 and a.c:5): acquire it only once
    executed 2 times, 0 cycles
    ");
}

/// The update of `x` reads and writes it in two sections of `a`, inside of one of `b` in one of the threads.
/// The writer holds `a` and `b`, and takes `b` first.
const TWO_LOCKS: &str = "
    T1 acq a @ move:1
    T1 r x 0 @ move:2
    T1 rel a @ move:3
    T1 acq b @ move:4
    T1 r y 0 @ move:5
    T1 rel b @ move:6
    T1 acq a @ move:7
    T1 w x 1 @ move:8
    T1 rel a @ move:9
    T2 acq b @ set:20
    T2 acq a @ set:21
    T2 w x 5 @ set:22
    T2 rel a @ set:23
    T2 rel b @ set:24
";

#[test]
fn a_lock_that_would_lead_to_a_deadlock_is_not_suggested() {
    let places = ["move:2", "set:22", "move:8"];
    insta::assert_snapshot!(fix(BugClass::Atomicity, &places, TWO_LOCKS), @r"
    hold `b` in move from a.c:1 to 9
    it is acquired inside, too (a.c:4): acquire it only once
    not `a`: holding it there may lead to a deadlock
    executed 1 times, 0 cycles
    ");
}

/// The wait releases the lock of the section, and a new lock would be taken before it and inside of it.
#[test]
fn no_lock_is_suggested_across_a_wait() {
    let trace = "
        T1 acq m @ take:1
        T1 r x 0 @ take:2
        T1 waitrel m @ take:3
        T1 wait c m @ take:3
        T2 acq m @ give:9
        T2 signal c @ give:10
        T2 rel m @ give:11
        T1 wake c m by T2:1 @ take:3
        T1 w x 2 @ take:4
        T1 rel m @ take:5
        T3 acq m @ reset:20
        T3 w x 1 @ reset:21
        T3 rel m @ reset:22
    ";
    let trace = text::parse(trace).unwrap();
    // A region ends at a wait, so the analysis does not predict it; a user can declare it to be atomic.
    let other = text::parse(TWO_LOCKS).unwrap();
    let mut candidate = candidate(&other, BugClass::Atomicity, &["move:2", "set:22", "move:8"]);
    for (step, place) in candidate.steps.iter_mut().zip(["take:2", "reset:21", "take:4"]) {
        let is_there =
            |it: &&Event| trace.site(it.site).is_some_and(|it| it.place.as_deref() == Some(place));
        let event = trace.threads.iter().flat_map(|it| &it.events).find(is_there).unwrap();
        let addr = event.op.access().unwrap().addr;
        *step = Step { event: event.id, site: event.site, addr, ..*step };
    }
    let possible = rewrite(&trace, &candidate, &[]).is_some_and(|it| check::is_possible(&it));
    assert!(possible, "nothing but the lack of a lock allows it");
    assert_eq!(described(&trace, &candidate), "none");
}

/// The threads of the recorded run were in the lines at the same time.
#[test]
fn lines_that_overlap_in_the_recorded_run_are_executed_one_after_the_other() {
    let trace = "
        T1 r x 0 @ add:1
        T2 r x 0 @ add:1
        T1 w x 1 @ add:2
        T2 w x 1 @ add:2
    ";
    let places = ["add:1", "add:2", "add:2"];
    insta::assert_snapshot!(fix(BugClass::Atomicity, &places, trace), @r"
    hold one new lock in add from a.c:1 to 2
    executed 2 times, 0 cycles
    ");
}

#[test]
fn objects_have_locks_of_their_own() {
    // Line 3 pays into the other account: its lock would be taken in both orders.
    let trace = "
        T1 acq a+0 @ pay:1
        T1 w a+40 1 @ pay:2
        T1 w a+140 1 @ pay:3
        T1 rel a+0 @ pay:4
        T2 acq a+100 @ pay:1
        T2 w a+140 2 @ pay:2
        T2 w a+40 2 @ pay:3
        T2 rel a+100 @ pay:4
    ";
    insta::assert_snapshot!(fix(BugClass::Race, &["pay:3", "pay:2"], trace), @r"
    hold one new lock in pay from a.c:2 to 3
    not `a`: some executions of these lines hold it already
    not `a+100`: holding it there may lead to a deadlock
    executed 2 times, 0 cycles
    ");
}

#[test]
fn lines_that_hold_the_lock_already_in_some_executions_are_no_place_for_it() {
    let trace = "
        T1 acq m @ top:1
        T1 w x 1 @ top:2/set:8
        T1 rel m @ top:3
        T2 w x 2 @ other:5/set:8
    ";
    let places = ["top:2/set:8", "other:5/set:8"];
    insta::assert_snapshot!(fix(BugClass::Race, &places, trace), @r"
    hold one new lock in set at a.c:8
    not `m`: some executions of these lines hold it already
    executed 2 times, 0 cycles
    ");
}
