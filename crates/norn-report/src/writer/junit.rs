//! Reports for continuous integration: the XML of `JUnit`.
//!
//! Each bug and each failure is a test case that failed. What is not harmful is a test case that passed, and a
//! search that found nothing has one, too, since a suite without test cases is an error in some services.

use std::io::{self, Write};

use norn_model::is_printable;

use super::{
    Writer,
    entry::{Entry, Severity, entries},
};
use crate::{Command, Report};

/// Writes a report as the XML of `JUnit`.
#[derive(Clone, Copy, Debug)]
pub struct JUnit;

impl Writer for JUnit {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let entries = entries(report);
        let harmful = entries.iter().filter(|it| it.severity == Severity::Harmful).count();
        let failures = harmful.max(failed_batch(report));
        let tests = entries.len().max(1);
        let suite = escape(&suite(report));
        writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
        writeln!(
            out,
            r#"<testsuites name="norn" tests="{tests}" failures="{failures}" errors="0">"#
        )?;
        writeln!(
            out,
            r#"  <testsuite name="{suite}" tests="{tests}" failures="{failures}" errors="0" skipped="0">"#
        )?;
        for entry in &entries {
            test_case(out, entry, report)?;
        }
        if entries.is_empty() {
            summary(out, report, failures > 0)?;
        }
        writeln!(out, "  </testsuite>")?;
        writeln!(out, "</testsuites>")?;
        out.flush()
    }
}

fn suite(report: &Report) -> String {
    format!("norn {} {}", command(report.command), report.program.join(" ")).trim_end().to_owned()
}

fn command(command: Command) -> &'static str {
    match command {
        Command::Hunt => "hunt",
        Command::Check => "check",
        Command::Predict | Command::PredictProperty => "predict",
        Command::Run => "run",
        Command::Replay => "replay",
        Command::Localize => "localize",
    }
}

/// Whether runs of a batch failed, as one failure.
fn failed_batch(report: &Report) -> usize {
    report.batch.as_ref().map_or(0, |it| usize::from(it.failed > 0))
}

/// The only test case of a report without entries.
fn summary(out: &mut dyn Write, report: &Report, failed: bool) -> io::Result<()> {
    let class = format!("norn.{}", command(report.command));
    if let Some(batch) = report.batch.as_ref().filter(|_| failed) {
        writeln!(out, r#"    <testcase name="all runs pass" classname="{class}">"#)?;
        let text = format!("{} of {} runs failed", batch.failed, batch.runs);
        let repeat = escape(&batch.repeat.join(" "));
        writeln!(
            out,
            r#"      <failure message="{text}" type="run">reproduce: {repeat}</failure>"#
        )?;
        return writeln!(out, "    </testcase>");
    }
    let name = if report.batch.is_some() { "all runs pass" } else { "nothing harmful was found" };
    writeln!(out, r#"    <testcase name="{name}" classname="{class}"/>"#)
}

fn test_case(out: &mut dyn Write, entry: &Entry<'_>, report: &Report) -> io::Result<()> {
    let name = escape(&entry.headline);
    let (rule, title) = entry.rule();
    let class = format!("norn.{}.{rule}", command(report.command));
    writeln!(out, r#"    <testcase name="{name}" classname="{class}">"#)?;
    let text = escape(&entry.text(report));
    if entry.severity == Severity::Harmful {
        writeln!(out, r#"      <failure message="{name}" type="{title}">{text}</failure>"#)?;
    } else {
        writeln!(out, "      <system-out>{text}</system-out>")?;
    }
    writeln!(out, "    </testcase>")
}

/// A text that is only a text in XML. Characters that XML does not allow, and those that a terminal does not
/// show, are spelled out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push('\n'),
            it if is_printable(it) && !matches!(it, '\u{fffe}' | '\u{ffff}') => escaped.push(it),
            it => escaped.push_str(&it.escape_unicode().to_string()),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Batch, Detail,
        writer::sample::{finding, hunt},
    };

    fn junit(report: &Report) -> String {
        let mut out = Vec::new();
        JUnit.write(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_bug_is_a_failure() {
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        let report = Report {
            details,
            program: vec!["./till".to_owned(), "<3>".to_owned()],
            ..hunt(vec![finding()])
        };
        let text = junit(&report);
        let head: Vec<_> = text.lines().take(6).collect();
        insta::assert_snapshot!(head.join("\n"), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="norn" tests="1" failures="1" errors="0">
          <testsuite name="norn hunt ./till &lt;3&gt;" tests="1" failures="1" errors="0" skipped="0">
            <testcase name="atomicity violation on `till`: assertion failed: till == 3" classname="norn.hunt.atomicity">
              <failure message="atomicity violation on `till`: assertion failed: till == 3" type="atomicity violation">1. atomicity violation on `till`: assertion failed: till == 3
           T0.1   reads  till = 100  pay till.c:12
        "#);
        assert!(text.contains("reproduce: norn replay run.norn/clips/1.json"), "{text}");
        assert!(!text.contains('\x1b'), "{text}");
    }

    #[test]
    fn a_clean_search_is_a_test_that_passed() {
        insta::assert_snapshot!(junit(&hunt(Vec::new())), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="norn" tests="1" failures="0" errors="0">
          <testsuite name="norn hunt" tests="1" failures="0" errors="0" skipped="0">
            <testcase name="nothing harmful was found" classname="norn.hunt"/>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn runs_that_failed_are_one_failure() {
        let batch = Batch {
            runs: 12,
            failed: 2,
            stopped: 0,
            kinds: Vec::new(),
            usual: None,
            segments: None,
            control: None,
            repeat: ["norn", "run", "--seed", "4"].map(str::to_owned).into(),
        };
        let report = Report { batch: Some(batch), ..Report::new(Command::Run, "0.1.0") };
        insta::assert_snapshot!(junit(&report), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="norn" tests="1" failures="1" errors="0">
          <testsuite name="norn run" tests="1" failures="1" errors="0" skipped="0">
            <testcase name="all runs pass" classname="norn.run">
              <failure message="2 of 12 runs failed" type="run">reproduce: norn run --seed 4</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn texts_are_only_texts() {
        assert_eq!(escape("a<b>&\"\u{1b}\u{0}"), "a&lt;b&gt;&amp;&quot;\\u{1b}\\u{0}");
    }
}
