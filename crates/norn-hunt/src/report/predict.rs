//! The reports of predictions from a trace, without running the program.

use norn_report::{Command, Detail, Finding, Omissions, Report, Status, Summary, Suppression};

use super::{check, counts, finding, omissions, property};
use crate::{Forecast, Foreseen, Outlook};

/// The report of what a trace allows.
pub fn outlook(outlook: &Outlook, suppressions: Vec<Suppression>, version: &str) -> Report {
    let findings: Vec<_> = outlook.prospects.iter().map(finding::prospect).collect();
    let not_examined = outlook.prospects.iter().filter(|it| it.witness.is_none()).count();
    let incomplete = outlook.incomplete;
    Report {
        details: all(&findings),
        summary: Summary { sources: 1, incomplete, not_examined, ..counts(&findings, &[]) },
        findings,
        not_looked_at: omissions(&outlook.omitted),
        suppressions,
        ..Report::new(Command::Predict, version)
    }
}

/// The report of properties that a trace violates, or would violate in another order.
pub fn forecast(forecast: &Forecast, version: &str) -> Report {
    let observed = forecast.observed.iter().map(|it| Finding {
        status: Status::Observed,
        harmful: true,
        ..check::violation(it)
    });
    let findings: Vec<_> = observed.chain(forecast.predicted.iter().map(foreseen)).collect();
    let instances = forecast.properties.iter().map(|it| it.instances).sum();
    Report {
        details: all(&findings),
        summary: Summary { sources: 1, instances, ..counts(&findings, &[]) },
        findings,
        properties: forecast.properties.iter().map(property::property).collect(),
        not_looked_at: Omissions { events: forecast.left_out, ..Omissions::default() },
        ..Report::new(Command::PredictProperty, version)
    }
}

/// A violation with a schedule is still to be tried.
fn foreseen(foreseen: &Foreseen) -> Finding {
    let Foreseen { violation, grade, turns } = foreseen;
    let found = check::violation(violation);
    match grade {
        Some(grade) => Finding {
            status: Status::Untried,
            why: None,
            schedule: Some(finding::schedule(*grade, turns)),
            ..found
        },
        None => found,
    }
}

/// Nothing was tried, so everything is shown.
fn all(findings: &[Finding]) -> Vec<Detail> {
    (0..findings.len()).map(|finding| Detail { finding, also: Vec::new() }).collect()
}
