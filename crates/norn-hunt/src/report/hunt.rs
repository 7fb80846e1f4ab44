//! The report of a hunt.

use norn_report::{Command, Ended, ObservedFailure, Report, Summary};

use super::{Marks, brief, counts, details, finding, marked, notes, omissions, replay, run};
use crate::{Hunt, Observed, identity::fingerprint};

/// The report of a hunt.
pub fn hunt(hunt: &Hunt, marks: &Marks, version: &str) -> Report {
    let finding = |at: &usize| Some(marked(finding::finding(hunt.findings.get(*at)?), marks, *at));
    let findings: Vec<_> = marks.ranked.iter().filter_map(finding).collect();
    let place = |at: usize| marks.ranked.iter().position(|it| *it == at);
    let details = details(marks, &findings);
    let observed = hunt.observed.iter().enumerate().map(|(at, it)| {
        let suppressed_by = marks.observed.get(at).cloned().flatten();
        let finding = it.finding.and_then(place);
        let bug = marks.failures.get(at).copied().flatten();
        observed(it, ObservedFailure { suppressed_by, finding, bug, ..unmarked(it) }, hunt, marks)
    });
    let observed = observed.collect();
    let summary = Summary {
        bugs: marks.bugs.len(),
        unpredicted_bugs: marks.bugs.iter().filter(|it| it.is_empty()).count(),
        bug_findings: marks.bugs.iter().map(Vec::len).sum(),
        suppressed: marks.suppressed,
        known: marks.known,
        executions: hunt.executions,
        replays: hunt.replays,
        budget_spent: hunt.executions >= hunt.budget,
        ended: hunt.ended,
        interrupted: hunt.ended == Ended::Interrupted,
        sources: hunt.sources,
        incomplete: hunt.incomplete,
        ..counts(&findings, &hunt.observed)
    };
    Report {
        run: Some(run(&hunt.base)),
        brief: brief::sections(&findings),
        findings,
        details,
        observed,
        notes: notes(&hunt.base, hunt.ended),
        not_looked_at: omissions(&hunt.omitted),
        suppressions: marks.suppressions.clone(),
        summary,
        ..Report::new(Command::Hunt, version)
    }
}

/// A failure that happened without having been predicted.
pub(super) fn unmarked(it: &Observed) -> ObservedFailure {
    ObservedFailure {
        older_loads: it.older_loads,
        fingerprint: fingerprint(&it.bug()),
        consequence: it.consequence.clone(),
        bug: None,
        cause: it.cause.as_ref().map(finding::cause),
        story: it.story.clone(),
        printed: it.printed.clone(),
        finding: None,
        suppressed_by: None,
        shown: true,
        clip: it.clip.display().to_string(),
        replay: replay(&it.clip),
        executions: it.executions,
        not_reproduced: it.not_reproduced.clone(),
    }
}

/// A failure that is also the consequence of a finding is shown with that finding.
fn observed(
    it: &Observed,
    failure: ObservedFailure,
    hunt: &Hunt,
    marks: &Marks,
) -> ObservedFailure {
    let counts = |at: usize| marks.findings.get(at).is_none_or(Option::is_none);
    let findings = hunt.findings.iter().enumerate().filter(|found| counts(found.0));
    let mut confirmed = findings.filter_map(|found| found.1.confirmed());
    let known = confirmed.any(|how| how.failure.is_some() && how.failure == it.failure);
    ObservedFailure { shown: failure.suppressed_by.is_none() && !known, ..failure }
}
