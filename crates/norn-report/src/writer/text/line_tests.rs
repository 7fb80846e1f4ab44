//! Tests of reports that are written while the command runs.

use norn_model::Consequence;

use super::{
    super::{
        Json, JsonLines, Layout, Writer,
        sample::{finding, hunt},
    },
    Text,
};
use crate::{
    AlsoSeen, Cause, Detail, Finding, Line, Progress, Report, Update, vocabulary::announcement,
};

fn text(lines: &[Line]) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    for line in lines {
        Text::new(Layout { width: 120, ..Layout::default() }).write_line(line, &mut out).unwrap();
    }
    String::from_utf8(out.into_inner()).unwrap()
}

fn update(worse: bool) -> Line {
    let finding = Finding {
        title: "order violation on `till`".to_owned(),
        consequence: Some(Consequence::Deadlock),
        ..finding()
    };
    Line::Update(Box::new(Update { worse, finding }))
}

/// The last line: the finding, and another one of the same bug.
fn end() -> Line {
    let clips = vec!["run.norn/clips/2.json".to_owned()];
    let also = AlsoSeen { name: "order violation".to_owned(), clips, more: 0 };
    let details = vec![Detail { finding: 0, also: vec![also] }];
    Line::End(Box::new(Report { details, ..hunt(vec![finding()]) }))
}

#[test]
fn a_finding_is_written_once_and_at_the_end() {
    let before = [Line::Finding(Box::new(finding())), update(false), update(true)];
    assert_eq!(text(&before), "");
    let text = text(&[end()]);
    assert!(text.starts_with("1. atomicity violation on `till`"), "{text}");
    assert_eq!(text.matches("reproduce: ").count(), 1, "{text}");
    assert!(text.contains("also seen as: order violation (run.norn/clips/2.json)"), "{text}");
    assert!(text.contains("\nnothing harmful; 0 candidates in 90 events of 3 threads"), "{text}");
}

/// A search announces a bug as soon as it has found it, and may understand it only later.
#[test]
fn what_explains_a_bug_best_is_its_entry() {
    let first = Finding { title: "order violation on `change`".to_owned(), ..finding() };
    let best = Finding { announced: false, ..finding() };
    let details = vec![Detail { finding: 0, also: Vec::new() }];
    let end = Report { details, ..hunt(vec![best, first.clone()]) };
    let announced = Line::Finding(Box::new(first));
    let news = announcement(&announced).unwrap();
    assert!(news.starts_with("bug 1: order violation on `change`: "), "{news}");
    let text = text(&[announced, Line::End(Box::new(end))]);
    assert!(text.starts_with("1. atomicity violation on `till`: "), "{text}");
    assert!(!text.contains("order violation on `change`"), "{text}");
}

/// The recorded run may lack the write that matters, so that only a part was predicted.
#[test]
fn a_finding_is_named_by_what_happened() {
    let whole = finding();
    let cause = Cause {
        class: whole.class,
        kind: whole.kind.clone(),
        name: whole.name.clone(),
        title: whole.title.clone(),
        variables: whole.variables.clone(),
        accesses: whole.accesses.clone(),
        order: whole.interleaving.clone().unwrap().forced,
        recorded: whole.interleaving.clone().unwrap().recorded,
        fix: None,
    };
    let title = "order violation on `change`".to_owned();
    let found = Finding {
        title,
        accesses: Vec::new(),
        interleaving: None,
        cause: Some(cause),
        ..finding()
    };
    let details = vec![Detail { finding: 0, also: Vec::new() }];
    let text = text(&[Line::End(Box::new(Report { details, ..hunt(vec![found]) }))]);
    let orders = text.lines().find(|it| it.starts_with("  recorded ")).unwrap();
    assert!(orders.contains("forced "), "{text}");
    assert!(text.starts_with("1. atomicity violation on `till`: "), "{text}");
    assert!(text.contains("it was predicted as: order violation on `change`"), "{text}");
}

#[test]
fn formats_for_programs_have_lines_or_one_report() {
    let progress = Line::Progress(Progress { executions: 3, ..Progress::default() });
    let written = |writer: &dyn Writer| {
        let mut out = Vec::new();
        for line in [&progress, &end()] {
            writer.write_line(line, &mut out).unwrap();
        }
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().map(|it| serde_json::from_str(it).unwrap());
        lines.collect::<Vec<serde_json::Value>>()
    };
    let lines = written(&JsonLines);
    assert_eq!((&lines[0]["line"], &lines[0]["executions"]), (&"progress".into(), &3.into()));
    assert_eq!(lines[1]["line"], "end");
    let [report] = &written(&Json)[..] else { panic!("one line") };
    assert_eq!(report["findings"], lines[1]["findings"]);
    assert!(report["line"].is_null());
}
