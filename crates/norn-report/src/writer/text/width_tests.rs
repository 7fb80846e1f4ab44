//! On a terminal no line is wider than its window, except for words that would be useless if they were cut.

use super::{Text, fold::visible};
use crate::{
    Cause, Detail, ObservedFailure, Report,
    writer::{
        Layout,
        sample::{finding, hunt},
    },
};

/// The lines of a report on a terminal of this width.
fn lines(report: &Report, width: usize) -> Vec<String> {
    let layout = Layout { width, terminal: true, ..Layout::default() };
    let mut out = Vec::new();
    Text::new(layout).write_stories(report, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

fn report() -> Report {
    Report { details: vec![Detail { finding: 0, also: Vec::new() }], ..hunt(vec![finding()]) }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 200] {
        for line in lines(&report(), width) {
            let longest = line.split(' ').map(visible).max().unwrap_or(0);
            assert!(visible(&line) <= width.max(longest + width / 2), "{width}: {line}");
        }
    }
}

#[test]
fn a_narrow_terminal_still_has_a_column_for_each_thread() {
    let lines = lines(&report(), 60);
    let head = lines.iter().find(|it| it.contains("forced")).unwrap();
    assert!(head.contains("T0.1") && head.contains("T0.2"), "{head}");
}

#[test]
fn a_diagnosed_failure_reads_like_a_finding() {
    let finding = finding();
    let cause = Cause {
        class: finding.class,
        kind: finding.kind.clone(),
        name: finding.name.clone(),
        title: finding.title.clone(),
        variables: finding.variables.clone(),
        accesses: finding.accesses.clone(),
        order: finding.interleaving.clone().unwrap().forced,
        recorded: Vec::new(),
        fix: None,
    };
    let failure = ObservedFailure {
        consequence: finding.consequence.clone().unwrap(),
        bug: Some(2),
        cause: Some(cause),
        story: None,
        printed: vec!["till: wrong sum".to_owned()],
        older_loads: 0,
        fingerprint: String::new(),
        finding: None,
        suppressed_by: None,
        shown: true,
        clip: "run.norn/clips/observed-1.json".to_owned(),
        replay: ["norn", "replay", "run.norn/clips/observed-1.json"].map(str::to_owned).into(),
        executions: 7,
        not_reproduced: None,
    };
    let report = Report { observed: vec![failure], ..hunt(Vec::new()) };
    let mut out = Vec::new();
    Text::new(Layout::default()).write_stories(&report, &mut out).unwrap();
    let text = anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string();
    insta::assert_snapshot!(text, @r"
    2. atomicity violation on `till`: assertion failed: till == 3
       T0.1   reads  till = 100  pay till.c:12
                     called from main till.c:40
                     holding m (shared)
       T0.2   writes till = 101  pay till.c:13
                     called from main till.c:40
                     holding m (shared)
       T0.1   writes till = 102  pay till.c:13
                     called from main till.c:40
                     holding m (shared)

      as it happened  T0.1                T0.2
        till.c:12     1 read till = 100
        till.c:11                           lock m
        till.c:13                         2 write till = 101
        till.c:14                           unlock m
        till.c:13     3 write till = 102

       it was not predicted: a run under another schedule failed
       the program printed:
       | till: wrong sum
       reproduce: norn replay run.norn/clips/observed-1.json
    ");
}
