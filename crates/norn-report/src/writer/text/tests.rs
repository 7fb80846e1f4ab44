//! Texts of reports that are made by hand.

use norn_model::{Consequence, MemoryFault, Obstacle, Ordering};

use super::Text;
use crate::{
    AlsoSeen, Arrival, AtomicOperation, Batch, BriefLine, BriefSection, Command, Control,
    Departure, Detail, Finding, Fix, Inputs, Object, Omissions, Remark, Report, Run, RunKind,
    Summary, Suppression, Unordered, Verdict, WeakOperation,
    writer::{
        Layout, Writer as _,
        sample::{at, deadlock, finding, fix, hunt, thread},
    },
};

fn text(report: &Report, width: usize) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    Text::new(Layout { width, ..Layout::default() }).write(report, &mut out).unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn a_bug_in_full() {
    let also = AlsoSeen {
        name: "order violation".to_owned(),
        clips: vec!["run.norn/clips/2.json".to_owned()],
        more: 1,
    };
    let report = Report {
        details: vec![Detail { finding: 0, also: vec![also] }],
        summary: Summary {
            candidates: 4,
            confirmed: 3,
            harmful: 3,
            bugs: 1,
            bug_findings: 3,
            untried: 1,
            executions: 9,
            replays: 3,
            budget_spent: true,
            ..Summary::default()
        },
        ..hunt(vec![finding()])
    };
    insta::assert_snapshot!(text(&report, 120), @r"
    1. atomicity violation on `till`: assertion failed: till == 3
       T0.1   reads  till = 100  pay till.c:12
                     called from main till.c:40
                     holding m (shared)
       T0.2   writes till = 101  pay till.c:13
                     called from main till.c:40
                     holding m (shared)
       T0.1   writes till = 102  pay till.c:13
                     called from main till.c:40
                     holding m (shared)

      recorded     T0.1                T0.2                 forced       T0.1                T0.2
        till.c:12  1 read till = 100                          till.c:12  1 read till = 100
        till.c:13  3 write till = 102                         till.c:11                        lock m
        till.c:11                        lock m               till.c:13                      2 write till = 101
        till.c:13                      2 write till = 101     till.c:14                        unlock m
        till.c:14                        unlock m             till.c:13  3 write till = 102

       output differs from the recorded run
       also seen as: order violation (run.norn/clips/2.json, and 1 more)
       reproduce: norn replay run.norn/clips/1.json

    1 bug, shown by 3 findings; 4 candidates in 90 events of 3 threads: 3 confirmed (3 harmful), 0 infeasible, 0 not confirmed, 1 not tried; 9 executions and 3 replays
    hint: --budget sets the maximum number of executions
    ");
}

#[test]
fn a_suggested_fix_says_what_was_checked() {
    let shown = |fix: Fix| {
        let finding = Finding { fix: Some(fix), ..finding() };
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        let text = text(&Report { details, ..hunt(vec![finding]) }, 100);
        let lines = text.lines().skip_while(|it| !it.contains("possible fix"));
        lines.take_while(|it| !it.contains("reproduce:")).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(fix()), @r"
    possible fix: hold `m` in pay from till.c:12 to 13 and in refund at till.c:30, around the loop
      it is acquired inside, too (till.c:11): acquire it only once
      proved by the exact engine, for this run only: with the lock, the accesses cannot interleave like this, and there is no new deadlock (1 lock cycle was examined); other orders may still fail
      not `n`: holding it there may lead to a deadlock
    ");
    let new = Fix { lock: None, acquired_inside: Vec::new(), rejected: Vec::new(), ..fix() };
    let first = shown(new).lines().next().map(str::to_owned);
    let expected = "   possible fix: hold one new lock in pay from till.c:12 to 13 and in refund at \
                    till.c:30, around the loop";
    assert_eq!(first.as_deref(), Some(expected));
}

#[test]
fn a_race_across_a_relaxed_operation_has_its_reason() {
    let reason = |weak| {
        let finding = Finding { unordered: Some(Unordered { weak }), ..finding() };
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        let text = text(&Report { details, ..hunt(vec![finding]) }, 100);
        let line = text.lines().find(|it| it.contains("order nothing") || it.contains("orders"));
        line.map(|it| it.trim().to_owned())
    };
    let store = WeakOperation {
        operation: AtomicOperation::Store,
        variable: Object::named("ready"),
        ordering: Ordering::Relaxed,
        location: Some(at("publish", 7)),
    };
    let expected =
        "the store to `ready` at publish till.c:7 is relaxed, so nothing orders the two accesses";
    assert_eq!(reason(Some(store)).as_deref(), Some(expected));
    let expected = "the atomic operations between them order nothing";
    assert_eq!(reason(None).as_deref(), Some(expected));
}

#[test]
fn the_orders_are_one_below_the_other_where_there_is_no_room() {
    let report =
        Report { details: vec![Detail { finding: 0, also: Vec::new() }], ..hunt(vec![finding()]) };
    let text = text(&report, 100);
    let orders = text.split("\n\n").nth(1).unwrap();
    insta::assert_snapshot!(orders, @r"
    recorded     T0.1                T0.2
      till.c:12  1 read till = 100
      till.c:13  3 write till = 102
      till.c:11                        lock m
      till.c:13                      2 write till = 101
      till.c:14                        unlock m
    forced       T0.1                T0.2
      till.c:12  1 read till = 100
      till.c:11                        lock m
      till.c:13                      2 write till = 101
      till.c:14                        unlock m
      till.c:13  3 write till = 102
    ");
}

#[test]
fn harmless_findings_take_a_line() {
    let remark = Remark {
        count: 2,
        early: 0,
        expected: Some("in-turn".to_owned()),
        why: Some("both threads change it in turn".to_owned()),
    };
    let harmless = Finding { harmful: false, bug: None, remark: Some(remark), ..finding() };
    let brief = BriefSection {
        harmless: false,
        title: "confirmed, without visible harm".to_owned(),
        lines: vec![BriefLine { finding: 0, times: 2 }],
        more: 3,
    };
    let suppressions = [(0, 4), (2, 5)].map(|(used, line)| Suppression {
        suppression: "race:pay".to_owned(),
        file: "my.supp".to_owned(),
        line,
        used,
    });
    let report = Report {
        brief: vec![brief],
        suppressions: suppressions.into(),
        not_looked_at: Omissions {
            events: 9,
            sampled: 2,
            variable_pairs: 40,
            lock_requests: 3,
            patterns: vec!["torn".to_owned()],
            threads: (1..=7).map(|it| thread(&format!("T0.{it}"))).collect(),
            names: vec!["till.sum".to_owned()],
            functions: 1,
        },
        summary: Summary { inconclusive: 1, suppressed: 2, known: 1, ..Summary::default() },
        ..hunt(vec![harmless])
    };
    insta::assert_snapshot!(text(&report, 100), @r"
    confirmed, without visible harm:
      atomicity violation on `till`, read pay till.c:12 | write pay till.c:13 | write pay till.c:13 (expected: both threads change it in turn), 2 times: norn replay run.norn/clips/1.json
      and 3 more; --format json lists all of them
    nothing harmful that counts; 0 candidates in 90 events of 3 threads: 0 confirmed (0 harmful), 0 infeasible, 0 not confirmed, 0 not tried; 0 executions
    1 more are inconclusive: no schedule was found, and none is excluded
    not looked at:
      9 events: the run is too long
      some bytes of large blocks, in 2 accesses to them
      40 pairs of variables, at places that use too many variables
      some matches of the pattern torn: there are too many
      some deadlocks, from 3 places that request locks: there are too many
      accesses of T0.1, T0.2, T0.3, T0.4, T0.5 and 2 more: too many threads, or created by code that is not instrumented
      till.sum: no variable of that name was accessed
      calls of 1 functions, which could not be instrumented
    1 in the baseline, not reported
    2 suppressed
      race:pay (my.supp:5) used 2 times
    ");
}

fn control(strategy: &str) -> Control {
    Control {
        strategy: strategy.to_owned(),
        seed: 7,
        switches: 3,
        away: 1,
        older: 0,
        process_ids: 0,
        same_layout: false,
        inputs: Inputs { uncontrolled: 2, ..Inputs::default() },
    }
}

#[test]
fn a_replay_that_fails_again() {
    let run = Run {
        events: Some(14),
        verdict: Some(Verdict::Followed(3)),
        segments: Some(3),
        control: Some(control("follow")),
        story: Some(deadlock()),
        ..Run::new(Consequence::Deadlock)
    };
    let report = Report { run: Some(run), ..Report::new(Command::Replay, "0.1.0") };
    insta::assert_snapshot!(text(&report, 100), @r"
    norn: followed: 3 of 3 segments
    norn: deadlock (by the clip, 14 events, 3 switches)
    norn: addresses differ from run to run: the system does not let norn fix them
    norn: 1 times other threads ran while one was in code that is not instrumented
    norn: the program read 2 inputs that norn does not control
    hint: `norn run --record-inputs` records them and feeds them back

      T0.1  waits for the lock b at take till.c:10
            T0.2 took it for writing at take till.c:9
      T0.2  waits for the lock a at take till.c:10
            T0.1 took it for writing at take till.c:9
      T0.1  waits for T0.2, which waits for T0.1

      the last events  T0.1    T0.2
        pay till.c:9   lock a
        pay till.c:9           lock b
    ");
}

#[test]
fn a_replay_that_leaves_its_schedule() {
    let arrival = |event, operation: &str| Arrival {
        event,
        operation: operation.to_owned(),
        object: Some(Object::named("till")),
        at: Some(at("pay", 12)),
        code: None,
    };
    let departure = Departure {
        segment: 1,
        thread: thread("T0.1"),
        why: Obstacle::OtherEvent,
        until: Some("before lock in pay".to_owned()),
        actual: Some(arrival(3, "write")),
        before: Some(arrival(2, "read")),
    };
    let run = Run {
        verdict: Some(Verdict::Diverged(departure)),
        segments: Some(8),
        ..Run::new(Consequence::None)
    };
    let report = Report { run: Some(run), ..Report::new(Command::Replay, "0.1.0") };
    insta::assert_snapshot!(text(&report, 100), @r"
    norn: diverged in segment 2 of 8: T0.1 came to another event
      expected  T0.1 runs until before lock in pay
      actual    event 3, write of till at pay till.c:12
      before    event 2, read of till at pay till.c:12
    ");
}

#[test]
fn runs_with_many_seeds() {
    let kind = |count, seed, consequence| RunKind {
        claim: None,
        count,
        run: seed,
        seed,
        consequence,
        verdict: None,
        print: None,
        differs: Vec::new(),
        parting: None,
        away: 0,
        stopped: 0,
        detour: None,
        kept: None,
    };
    let batch = Batch {
        runs: 12,
        failed: 2,
        stopped: 0,
        kinds: vec![
            kind(10, 0, Consequence::None),
            kind(2, 4, Consequence::Memory(MemoryFault::DoubleFree)),
        ],
        usual: Some(0),
        segments: None,
        control: None,
        repeat: ["norn", "run", "--seed", "4", "--", "./prog"].map(str::to_owned).into(),
    };
    let report = Report { batch: Some(batch), ..Report::new(Command::Run, "0.1.0") };
    insta::assert_snapshot!(text(&report, 100), @r"
    12 runs, 2 failed
    10  no failure, first with seed 0
     2  double free, first with seed 4
    reproduce the first failure: norn run --seed 4 -- ./prog
    ");
}

/// Styles surround words, and not the spaces between them.
#[test]
fn headlines_and_places_have_styles() {
    let report =
        Report { details: vec![Detail { finding: 0, also: Vec::new() }], ..hunt(vec![finding()]) };
    let mut out = Vec::new();
    Text::new(Layout::default()).write(&report, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("1. \u{1b}[1m\u{1b}[31matomicity violation on `till`"), "{text:?}");
    assert!(text.contains("  \u{1b}[36mpay till.c:12\u{1b}[0m\n"), "{text:?}");
    assert!(text.lines().all(|it| !it.ends_with(' ')), "{text:?}");
}

#[test]
fn a_headline_does_not_repeat_its_consequence() {
    let headline = |title: &str| {
        let finding = Finding {
            title: title.to_owned(),
            consequence: Some(Consequence::Memory(MemoryFault::UseAfterFree)),
            ..finding()
        };
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        let text = text(&Report { details, ..hunt(vec![finding]) }, 80);
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(headline("use after free: `p`"), "1. use after free: `p`");
    assert_eq!(headline("data race on `p`"), "1. data race on `p`: use after free");
}
