//! Reports for GitHub Actions: annotations of source lines, by workflow commands on standard output.

use std::io::{self, Write};

use norn_model::printable;

use super::{
    Layout, Writer,
    entry::{Entry, Severity, entries},
    source_files::below,
};
use crate::Report;

/// GitHub shows this many annotations of a level for each step of a job.
const MAX_OF_LEVEL: usize = 10;

/// Writes a report as annotations.
#[derive(Clone, Copy, Debug)]
pub struct GitHub {
    layout: Layout,
}

impl GitHub {
    /// A writer for this layout.
    pub fn new(layout: Layout) -> GitHub {
        GitHub { layout }
    }
}

impl Writer for GitHub {
    fn write(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let entries = entries(report);
        for level in ["error", "warning", "notice"] {
            let all: Vec<_> = entries.iter().filter(|it| self::level(it) == level).collect();
            // The last one counts the others, so that nothing is dropped without a word.
            let fits = all.len() <= MAX_OF_LEVEL;
            let shown = if fits { all.len() } else { MAX_OF_LEVEL - 1 };
            for entry in &all[..shown] {
                self.annotate(out, level, entry)?;
            }
            if !fits {
                let more = all.len() - shown;
                writeln!(
                    out,
                    "::{level} title=norn::{more} more findings; see the report of norn"
                )?;
            }
        }
        out.flush()
    }
}

impl GitHub {
    fn annotate(&self, out: &mut dyn Write, level: &str, entry: &Entry<'_>) -> io::Result<()> {
        write!(out, "::{level} title={}", property(entry.rule().1))?;
        if let Some(at) = entry.location()
            && let (Some(file), Some(line)) = (&at.file, at.line)
        {
            let root = self.layout.sources.root();
            let file = below(file, root.as_deref()).unwrap_or(file);
            write!(out, ",file={},line={line}", property(file))?;
            if let Some(column) = at.column.filter(|it| *it > 0) {
                write!(out, ",col={column}")?;
            }
        }
        let accesses = entry.stacks().into_iter().filter_map(|(text, frames)| {
            Some(format!("{text} at {}", crate::vocabulary::place(frames.first()?)))
        });
        let mut lines = vec![entry.headline.clone()];
        lines.extend(accesses);
        lines.extend(entry.fix().map(|it| format!("possible fix: {}", crate::vocabulary::fix(it))));
        if !entry.replay().is_empty() {
            lines.push(format!("reproduce: {}", entry.replay().join(" ")));
        }
        let lines: Vec<_> = lines.iter().map(|it| data(it)).collect();
        writeln!(out, "::{}", lines.join("%0A"))
    }
}

fn level(entry: &Entry<'_>) -> &'static str {
    match entry.severity {
        Severity::Harmful => "error",
        Severity::Unreproducible => "warning",
        Severity::Harmless | Severity::Undecided => "notice",
    }
}

/// A text in the message of a command. Line ends, which would begin another command, are spelled out.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25")
}

/// A text in a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Detail, Finding,
        writer::sample::{finding, hunt},
    };

    fn github(findings: Vec<Finding>) -> String {
        let detail = |finding| Detail { finding, also: Vec::new() };
        let details = (0..findings.len()).map(detail).collect();
        let mut out = Vec::new();
        let report = Report { details, ..hunt(findings) };
        GitHub::new(Layout::default()).write(&report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_bug_is_an_error_at_its_first_access() {
        insta::assert_snapshot!(github(vec![finding()]), @"::error title=atomicity violation,file=shop/till.c,line=12::atomicity violation on `till`: assertion failed: till == 3%0AT0.1 reads till = 100 at pay till.c:12%0AT0.2 writes till = 101 at pay till.c:13%0AT0.1 writes till = 102 at pay till.c:13%0Areproduce: norn replay run.norn/clips/1.json");
    }

    #[test]
    fn no_text_begins_another_command() {
        let title = "50% done\n::error::forged, really: yes".to_owned();
        let text = github(vec![Finding { title, ..finding() }]);
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("50%25 done"), "{text}");
    }

    #[test]
    fn what_exceeds_the_limit_is_counted() {
        let text = github(vec![finding(); 12]);
        assert_eq!(text.lines().count(), MAX_OF_LEVEL);
        assert!(text.ends_with("::3 more findings; see the report of norn\n"), "{text}");
    }
}
