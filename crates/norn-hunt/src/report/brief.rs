//! Findings that take one line each in the report: confirmed, and harmless as far as is known.

use norn_model::Location;
use norn_report::{Action, BriefLine, BriefSection, Finding, Status, vocabulary};

/// Maximum number of lines in a section.
const LINES: usize = 10;

/// The non-empty sections.
pub(super) fn sections(findings: &[Finding]) -> Vec<BriefSection> {
    let counts = |it: &&(usize, &Finding)| {
        let listed = it.1.suppressed_by.is_some() || it.1.unrecorded_sync.is_some();
        it.1.status == Status::Confirmed && !it.1.harmful && !listed
    };
    let all: Vec<_> = findings.iter().enumerate().collect();
    let (other, mut same): (Vec<_>, Vec<_>) =
        all.iter().filter(counts).copied().partition(|it| it.1.other_output);
    same.sort_by_key(|it| expected(it.1).is_some());
    let sections = [
        section("confirmed, and the output differs from the recorded run", &other),
        BriefSection { harmless: true, ..section("confirmed, without visible harm", &same) },
    ];
    sections.into_iter().filter(|it| !it.lines.is_empty()).collect()
}

/// Findings with the same text share one line.
fn section(title: &str, findings: &[(usize, &Finding)]) -> BriefSection {
    let mut lines: Vec<(Key<'_>, BriefLine)> = Vec::new();
    for &(at, finding) in findings {
        let key = key(finding);
        match lines.iter_mut().find(|it| it.0 == key) {
            Some((_, line)) => line.times += 1,
            None => lines.push((key, BriefLine { finding: at, times: 1 })),
        }
    }
    let more = lines.iter().skip(LINES).map(|it| it.1.times).sum();
    let lines = lines.into_iter().take(LINES).map(|it| it.1).collect();
    BriefSection { title: title.to_owned(), lines, more, harmless: false }
}

/// What a line shows of a finding.
type Key<'a> = (&'a str, Option<&'a str>, Vec<(Action, Option<String>)>);

fn key(finding: &Finding) -> Key<'_> {
    let place = |stack: &[Location]| stack.first().map(vocabulary::place);
    let accesses = finding.accesses.iter().map(|it| (it.action, place(&it.stack)));
    (&finding.title, expected(finding), accesses.collect())
}

fn expected(finding: &Finding) -> Option<&str> {
    finding.remark.as_ref()?.expected.as_deref()
}
