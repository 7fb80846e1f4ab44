//! What a hunt found, for people and for programs.

use std::io::{self, Write};

use norn_hunt::{Confirmed, Description, Finding, Hunt, Status};
use norn_model::{Access, Anomaly, Candidate, Consequence};
use serde_json::{Value, json};

use crate::story;

/// Candidates that are not confirmed and still told, by kind.
const TOLD: usize = 10;

/// For people: confirmed and harmful first, then the rest.
pub(crate) fn text(out: &mut impl Write, hunt: &Hunt) -> anyhow::Result<()> {
    let confirmed = |harmful: bool| {
        let chosen = hunt.findings.iter().filter(move |it| it.is_harmful() == harmful);
        chosen.filter_map(|it| Some((it, it.confirmed()?)))
    };
    let mut harmful: Vec<_> = confirmed(true).collect();
    harmful.sort_by_key(|(it, how)| (weight(&how.consequence), it.candidate.class));
    for (number, (finding, how)) in harmful.iter().enumerate() {
        write!(out, "{}. ", number + 1)?;
        tell(out, finding, how)?;
    }
    let harmless: Vec<_> = confirmed(false).collect();
    if !harmless.is_empty() {
        writeln!(out, "confirmed, without visible harm:")?;
    }
    for (finding, how) in harmless.into_iter().take(TOLD) {
        writeln!(out, "  {}: norn replay {}", line(finding), how.clip.display())?;
    }
    observed(out, hunt)?;
    summary(out, hunt, harmful.len())
}

/// What was seen without having been predicted.
fn observed(out: &mut impl Write, hunt: &Hunt) -> io::Result<()> {
    let told = |it: &&norn_hunt::Observed| {
        let confirmed = hunt.findings.iter().filter_map(Finding::confirmed);
        confirmed.into_iter().all(|how| how.consequence != it.consequence)
    };
    for it in hunt.observed.iter().filter(told) {
        writeln!(out, "seen under another schedule: {}", it.consequence)?;
        if let Some(finding) = it.finding.and_then(|it| hunt.findings.get(it)) {
            writeln!(out, "   on the way to: {}", line(finding))?;
        }
        if let Some(story) = &it.story {
            story::tell(out, story)?;
        }
        writeln!(out, "   again: norn replay {}\n", it.clip.display())?;
    }
    Ok(())
}

/// The worse, the earlier.
fn weight(consequence: &Consequence) -> u32 {
    u32::from(!consequence.is_failure())
}

fn tell(out: &mut impl Write, finding: &Finding, how: &Confirmed) -> io::Result<()> {
    let leads = match &how.consequence {
        Consequence::None => String::new(),
        it => format!(": {it}"),
    };
    writeln!(out, "{}{leads}", title(&finding.candidate, &finding.description))?;
    accesses(out, &finding.description)?;
    if how.other_output {
        writeln!(out, "   the program prints something else than in the recorded run")?;
    }
    if let Some(story) = &how.story {
        story::tell(out, story)?;
    }
    writeln!(out, "   again: norn replay {}\n", how.clip.display())
}

/// Who does what to which variable where.
pub(crate) fn accesses(out: &mut impl Write, description: &Description) -> io::Result<()> {
    for access in &description.accesses {
        let value = access.value.map_or_else(String::new, |it| format!(" = {it}"));
        let does = match access.does {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Free => "frees",
            Access::Event => "does",
        };
        let mut calls = access.calls.iter();
        let place = calls.next().map_or("?", |it| it.as_str());
        writeln!(out, "   {:6} {does:6} {}{value}  {place}", access.thread, access.variable)?;
        for caller in calls {
            writeln!(out, "                 called from {caller}")?;
        }
        if !access.locks.is_empty() {
            writeln!(out, "                 holding {}", access.locks.join(", "))?;
        }
    }
    Ok(())
}

/// What it is and to what, in words.
pub(crate) fn title(candidate: &Candidate, description: &Description) -> String {
    let variables = description.variables.join(" and ");
    let what = match candidate.class {
        Anomaly::Race => "data race on",
        Anomaly::Atomicity => "another thread comes between two accesses to",
        Anomaly::AtomicSet => "accesses that belong together are mixed:",
        Anomaly::Lifetime => "memory is used after it was freed:",
        Anomaly::Pattern | Anomaly::Property => candidate.pattern.as_str(),
    };
    format!("{what} {variables}")
}

fn line(finding: &Finding) -> String {
    let places = finding
        .description
        .accesses
        .iter()
        .map(|it| format!("{} {}", it.does, it.calls.first().map_or("?", |it| it.as_str())));
    format!(
        "{}, {}",
        title(&finding.candidate, &finding.description),
        places.collect::<Vec<_>>().join(" | ")
    )
}

fn summary(out: &mut impl Write, hunt: &Hunt, harmful: usize) -> anyhow::Result<()> {
    let count = |f: fn(&Status) -> bool| hunt.findings.iter().filter(|it| f(&it.status)).count();
    let confirmed = count(|it| matches!(it, Status::Confirmed(_)));
    let infeasible = count(|it| matches!(it, Status::Infeasible(_)));
    let unconfirmed = count(|it| matches!(it, Status::Unconfirmed(_)));
    let untried = count(|it| matches!(it, Status::Untried));
    writeln!(
        out,
        "{} candidates in {} events of {} threads: {confirmed} confirmed, {harmful} of them harmful; \
         {infeasible} infeasible, {unconfirmed} not confirmed, {untried} not tried; {} executions",
        hunt.findings.len(),
        hunt.base.events,
        hunt.base.threads,
        hunt.executions,
    )?;
    if hunt.base.consequence.is_failure() {
        writeln!(out, "no run passed: the last one led to: {}", hunt.base.consequence)?;
    }
    if hunt.incomplete {
        writeln!(out, "the search for a pattern was given up before its end")?;
    }
    if untried > 0 {
        writeln!(out, "hint: --budget sets how many executions there may be")?;
    }
    Ok(())
}

/// For programs.
pub(crate) fn json(out: &mut impl Write, hunt: &Hunt) -> anyhow::Result<()> {
    let observed = hunt.observed.iter().map(|it| {
        json!({
            "consequence": it.consequence,
            "clip": it.clip,
            "executions": it.executions,
            "finding": it.finding,
            "story": it.story,
        })
    });
    let value = json!({
        "events": hunt.base.events,
        "threads": hunt.base.threads,
        "consequence": hunt.base.consequence,
        "observed": observed.collect::<Vec<_>>(),
        "executions": hunt.executions,
        "sources": hunt.sources,
        "incomplete": hunt.incomplete,
        "findings": hunt.findings.iter().map(finding).collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{value:#}")?)
}

/// The same for programs.
pub(crate) fn json_accesses(description: &Description) -> Vec<Value> {
    let accesses = description.accesses.iter().map(|it| {
        json!({
            "thread": it.thread,
            "access": it.does,
            "variable": it.variable,
            "value": it.value.map(|it| it.to_string()),
            "calls": it.calls,
            "locks": it.locks,
        })
    });
    accesses.collect()
}

fn finding(finding: &Finding) -> Value {
    let mut value = json!({
        "class": finding.candidate.class,
        "pattern": finding.candidate.pattern,
        "scope": finding.candidate.scope,
        "harmful": finding.is_harmful(),
        "accesses": json_accesses(&finding.description),
        "source": finding.source,
    });
    let more = match &finding.status {
        Status::Confirmed(it) => json!({
            "status": "confirmed",
            "consequence": it.consequence,
            "story": it.story,
            "other_output": it.other_output,
            "grade": it.grade(),
            "switches": it.witness.turns.len(),
            "clip": it.clip,
            "executions": it.executions,
        }),
        Status::Infeasible(why) => json!({ "status": "infeasible", "why": why.to_string() }),
        Status::Unconfirmed(verdict) => json!({ "status": "unconfirmed", "verdict": verdict }),
        Status::Untried => json!({ "status": "untried" }),
    };
    if let (Some(all), Value::Object(more)) = (value.as_object_mut(), more) {
        all.extend(more);
    }
    value
}
