//! Tests of reports that are written while the command runs.

use norn_model::Consequence;

use super::{
    super::{
        Json, JsonLines, Layout, Writer,
        sample::{finding, hunt},
    },
    Text,
};
use crate::{AlsoSeen, Detail, Finding, Line, Progress, Report, Update};

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
fn a_finding_is_written_once() {
    let lines = [Line::Finding(Box::new(finding())), update(false), end()];
    let text = text(&lines);
    assert_eq!(text.matches("1. atomicity violation on `till`").count(), 1, "{text}");
    assert_eq!(text.matches("reproduce: ").count(), 1, "{text}");
    let rest = text.split_once("clips/1.json\n\n").unwrap().1;
    insta::assert_snapshot!(rest, @r"
    bug 1 was also seen as: order violation (run.norn/clips/2.json)
    nothing harmful; 0 candidates in 90 events of 3 threads: 0 confirmed (0 harmful), 0 infeasible, 0 not confirmed, 0 not tried; 0 executions
    ");
}

/// A search announces a bug as soon as it has found it, and may understand it only later.
#[test]
fn a_finding_that_shows_the_bug_better_is_written_at_the_end() {
    let first = Finding { title: "order violation on `change`".to_owned(), ..finding() };
    let best = Finding { announced: false, ..finding() };
    let details = vec![Detail { finding: 0, also: Vec::new() }];
    let end = Report { details, ..hunt(vec![best, first.clone()]) };
    let text = text(&[Line::Finding(Box::new(first)), Line::End(Box::new(end))]);
    let better = "bug 1 is shown best by another finding:\n1. atomicity violation on `till`: ";
    assert!(
        text.starts_with("1. order violation on `change`: ") && text.contains(better),
        "{text}"
    );
}

#[test]
fn the_first_failure_of_a_bug_is_written() {
    insta::assert_snapshot!(text(&[update(true)]), @r"
    1. also: order violation on `till`: deadlock
       reproduce: norn replay run.norn/clips/1.json
    ");
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
