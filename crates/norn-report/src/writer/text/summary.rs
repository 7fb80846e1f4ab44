//! The last lines: counts, what was not looked at, what is suppressed.

use std::io::{self, Write};

use crate::{
    Command, ExitMeaning, Omissions, Report, Status, Summary,
    vocabulary::{consequence, note, status},
};

/// Threads that are named.
const NAMED: usize = 5;

/// Counts, and what was not looked at.
pub(super) fn summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    match report.command {
        Command::Check => check(out, report)?,
        Command::Predict | Command::PredictProperty => predict(out, report)?,
        Command::Hunt | Command::Run | Command::Replay | Command::Localize => hunt(out, report)?,
    }
    let failed = report.run.as_ref().filter(|it| it.consequence.is_failure());
    if let Some(run) = failed {
        let what = consequence(&run.consequence);
        writeln!(out, "no run passed: the last one led to: {what}")?;
    }
    if report.summary.inconclusive > 0 {
        let count = report.summary.inconclusive;
        writeln!(
            out,
            "{count} more are inconclusive: no schedule was found, and none is excluded"
        )?;
    }
    for it in &report.notes {
        writeln!(out, "{}", note(it))?;
    }
    omissions(out, &report.not_looked_at)?;
    let predicts = matches!(report.command, Command::Predict | Command::PredictProperty);
    if report.summary.untried > 0 && report.summary.budget_spent && !predicts {
        writeln!(out, "hint: --budget sets the maximum number of executions")?;
    }
    Ok(())
}

fn hunt(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Summary { candidates, confirmed, harmful, .. } = report.summary;
    let executions = executions(&report.summary);
    let run = run(report);
    let (result, shown) = (result(report), shown_by(&report.summary));
    let (candidates, rest) = (counted(candidates, "candidate"), rest(&report.summary));
    writeln!(
        out,
        "{result}{shown}; {candidates} in {run}: {confirmed} confirmed ({harmful} harmful), {rest}; \
         {executions}"
    )
}

/// `1 candidate`, `2 candidates`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// `12 executions and 2 replays`.
fn executions(summary: &Summary) -> String {
    let Summary { executions, replays, .. } = *summary;
    let executions = counted(executions, "execution");
    match replays {
        0 => executions,
        _ => format!("{executions} and {}", counted(replays, "replay")),
    }
}

fn check(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Summary { observed, confirmed, instances, .. } = report.summary;
    let executions = executions(&report.summary);
    let (run, rest) = (run(report), rest(&report.summary));
    let properties = match report.properties.len() {
        1 => "1 property".to_owned(),
        count => format!("{count} properties"),
    };
    let instances = counted(instances, "instance");
    let observed = counted(observed, "violation");
    writeln!(
        out,
        "{properties} with {instances} in {run}: {observed} recorded, {confirmed} confirmed; {rest}; \
         {executions}"
    )
}

fn predict(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Summary { candidates, observed, scheduled, not_examined, .. } = report.summary;
    if report.command == Command::Predict {
        let rest =
            if not_examined > 0 { format!(", {not_examined} not examined") } else { String::new() };
        return writeln!(
            out,
            "{candidates} candidates, {scheduled} with a schedule{rest}; `norn hunt` tries them"
        );
    }
    let predicted = candidates - observed;
    writeln!(
        out,
        "{observed} violations recorded; {predicted} candidates, {scheduled} with a schedule; \
         `norn check` tries them"
    )
}

/// `21 events of 3 threads`.
fn run(report: &Report) -> String {
    let run = report.run.as_ref();
    let events = run.and_then(|it| it.events).unwrap_or_default();
    let threads = run.and_then(|it| it.threads).unwrap_or_default();
    format!("{events} events of {threads} threads")
}

fn rest(summary: &Summary) -> String {
    let Summary { infeasible, unconfirmed, untried, .. } = summary;
    let counts = [
        (infeasible, Status::Infeasible),
        (unconfirmed, Status::Unconfirmed),
        (untried, Status::Untried),
    ];
    let mut words = counts.map(|(count, it)| format!("{count} {}", status(it))).to_vec();
    if summary.not_reproducible > 0 {
        words.push(format!("{} {}", summary.not_reproducible, status(Status::NotReproducible)));
    }
    words.join(", ")
}

/// What the exit status says: `2 bugs, 1 of them not predicted`.
fn result(report: &Report) -> String {
    let Summary { bugs, unpredicted_bugs, suppressed, known, .. } = report.summary;
    let failed = report.exit.meaning == ExitMeaning::Harmful;
    match (bugs, unpredicted_bugs) {
        (0, _) if failed => "nothing harmful, but findings that --fail-on counts".to_owned(),
        (0, _) if suppressed + known > 0 => "nothing harmful that counts".to_owned(),
        (0, _) => "nothing harmful".to_owned(),
        (1, 0) => "1 bug".to_owned(),
        (1, _) => "1 bug, not predicted".to_owned(),
        (_, 0) => format!("{bugs} bugs"),
        _ => format!("{bugs} bugs, {unpredicted_bugs} of them not predicted"),
    }
}

/// `, shown by 4 findings`, if there are more findings than bugs.
fn shown_by(summary: &Summary) -> String {
    let Summary { bugs, unpredicted_bugs, bug_findings, .. } = *summary;
    let bugs = bugs.saturating_sub(unpredicted_bugs);
    if bug_findings <= bugs {
        return String::new();
    }
    format!(", shown by {bug_findings} findings")
}

fn omissions(out: &mut dyn Write, omitted: &Omissions) -> io::Result<()> {
    if omitted.is_empty() {
        return Ok(());
    }
    writeln!(out, "not looked at:")?;
    if omitted.events > 0 {
        writeln!(out, "  {} events: the run is too long", omitted.events)?;
    }
    if omitted.sampled > 0 {
        let count = omitted.sampled;
        writeln!(out, "  some bytes of large blocks, in {count} accesses to them")?;
    }
    if omitted.variable_pairs > 0 {
        let count = omitted.variable_pairs;
        writeln!(out, "  {count} pairs of variables, at places that use too many variables")?;
    }
    for name in &omitted.patterns {
        writeln!(out, "  some matches of the pattern {name}: there are too many")?;
    }
    if omitted.lock_requests > 0 {
        let count = omitted.lock_requests;
        writeln!(
            out,
            "  some deadlocks, from {count} places that request locks: there are too many"
        )?;
    }
    if !omitted.threads.is_empty() {
        let names: Vec<_> = omitted.threads.iter().take(NAMED).map(ToString::to_string).collect();
        let more = omitted.threads.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(
            out,
            "  accesses of {}{more}: too many threads, or created by code that is not instrumented",
            names.join(", ")
        )?;
    }
    for name in &omitted.names {
        writeln!(out, "  {name}: no variable of that name was accessed")?;
    }
    if omitted.functions > 0 {
        let count = omitted.functions;
        writeln!(out, "  calls of {count} functions, which could not be instrumented")?;
    }
    Ok(())
}

/// How much does not count, and by which lines of suppression files.
pub(super) fn suppressions(out: &mut dyn Write, report: &Report, verbose: bool) -> io::Result<()> {
    let Summary { known, suppressed, .. } = report.summary;
    if known > 0 {
        writeln!(out, "{known} in the baseline, not reported")?;
    }
    if suppressed > 0 {
        writeln!(out, "{suppressed} suppressed")?;
    }
    for it in report.suppressions.iter().filter(|it| verbose || it.used > 0) {
        let often = match it.used {
            0 => "not used".to_owned(),
            1 => "used once".to_owned(),
            more => format!("used {more} times"),
        };
        writeln!(out, "  {} ({}:{}) {often}", it.suppression, it.file, it.line)?;
    }
    Ok(())
}
