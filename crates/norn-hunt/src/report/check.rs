//! The report of a check of properties.

use norn_report::{
    Command, Ended, Finding, Harm, ObservedFailure, Omissions, Report, Status, Summary,
};

use super::{Marks, counts, details, finding, hunt, marked, notes, property, replay, run};
use crate::{Check, State, Violation};

/// Why a property cannot be violated although there are schedules.
const SPOILED: &str = "each schedule has an event in between that the property allows";

/// The report of a check of properties.
pub fn check(check: &Check, marks: &Marks, version: &str) -> Report {
    let finding = |at: &usize| Some(marked(violation(check.violations.get(*at)?), marks, *at));
    let findings: Vec<_> = marks.ranked.iter().filter_map(finding).collect();
    let observed = check.observed.iter().enumerate().map(|(at, it)| {
        let suppressed_by = marks.observed.get(at).cloned().flatten();
        let shown = suppressed_by.is_none();
        let bug = marks.failures.get(at).copied().flatten();
        ObservedFailure { suppressed_by, shown, bug, ..hunt::unmarked(it) }
    });
    let observed = observed.collect();
    let details = details(marks, &findings);
    let summary = Summary {
        bugs: marks.bugs.len(),
        unpredicted_bugs: marks.bugs.iter().filter(|it| it.is_empty()).count(),
        bug_findings: marks.bugs.iter().map(Vec::len).sum(),
        suppressed: marks.suppressed,
        known: marks.known,
        executions: check.executions,
        replays: check.replays,
        budget_spent: check.executions >= check.budget,
        ended: check.ended,
        interrupted: check.ended == Ended::Interrupted,
        sources: check.sources,
        instances: check.properties.iter().map(|it| it.instances).sum(),
        ..counts(&findings, &check.observed)
    };
    Report {
        run: Some(run(&check.base)),
        details,
        findings,
        observed,
        suppressions: marks.suppressions.clone(),
        properties: check.properties.iter().map(property::property).collect(),
        notes: notes(&check.base, check.ended),
        not_looked_at: Omissions {
            events: check.left_out,
            functions: check.refused,
            ..Omissions::default()
        },
        summary,
        ..Report::new(Command::Check, version)
    }
}

/// A violated property is always harmful: the user declared it.
pub(super) fn violation(violation: &Violation) -> Finding {
    let bare = Finding {
        harmful: violation.is_real(),
        harm: violation.harm.as_ref().map(harm),
        ..finding::violation(violation)
    };
    match &violation.state {
        State::Observed(clip) => Finding {
            status: Status::Observed,
            clip: Some(clip.display().to_string()),
            replay: replay(clip),
            ..bare
        },
        State::NotReproducible(clip, instead) => Finding {
            status: Status::NotReproducible,
            not_reproduced: Some((**instead).clone()),
            clip: Some(clip.display().to_string()),
            replay: replay(clip),
            ..bare
        },
        State::Confirmed(how) => finding::confirmed(bare, how),
        State::Infeasible(why) => finding::failed(bare, why),
        State::Spoiled => {
            Finding { status: Status::Infeasible, why: Some(SPOILED.to_owned()), ..bare }
        }
        State::Unconfirmed(verdict) => {
            Finding { status: Status::Unconfirmed, verdict: Some(verdict.into()), ..bare }
        }
        State::Untried => bare,
    }
}

fn harm(harm: &crate::Harm) -> Harm {
    Harm {
        consequence: harm.consequence.clone(),
        story: harm.story.clone(),
        clip: harm.clip.display().to_string(),
        replay: replay(&harm.clip),
    }
}
