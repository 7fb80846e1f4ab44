//! What a hunt found, for people and for programs.

use std::io::{self, Write};

use norn_hunt::{Confirmed, Description, Failure, Finding, Hunt, Status};
use norn_model::{Access, BugClass, Candidate, CandidateKind, Consequence};
use norn_predict::Remark;
use serde_json::{Value, json};

use crate::{
    group::{self, Member},
    interleaving, omission, story,
    suppress::ReportFilter,
};

/// Candidates that are not confirmed and still told, by kind.
const TOLD: usize = 10;

/// For people: confirmed and harmful first, then the rest.
pub(crate) fn text(out: &mut impl Write, hunt: &Hunt, filter: &ReportFilter) -> anyhow::Result<()> {
    let groups = group::groups(hunt, filter);
    for (number, members) in groups.iter().enumerate() {
        write!(out, "{}. ", number + 1)?;
        tell(out, members)?;
    }
    let harmless = filter.findings(hunt).filter(|it| !it.is_harmful());
    let harmless = harmless.filter_map(|it| Some((it, it.confirmed()?)));
    let (other, mut same): (Vec<_>, Vec<_>) = harmless.partition(|it| it.1.other_output);
    same.sort_by_key(|(it, _)| it.remark.is_some_and(|it| it.expected.is_some()));
    briefly(out, "confirmed, and the program prints something else:", &other)?;
    briefly(out, "confirmed, without visible harm:", &same)?;
    observed(out, hunt, filter)?;
    summary(out, hunt, &groups)
}

/// A line for each, but one for all that read the same.
fn briefly(
    out: &mut impl Write,
    title: &str,
    findings: &[(&Finding, &Confirmed)],
) -> io::Result<()> {
    if !findings.is_empty() {
        writeln!(out, "{title}")?;
    }
    let mut lines: Vec<(String, &Confirmed, usize)> = Vec::new();
    for (finding, how) in findings {
        let expected = finding.remark.and_then(|it| it.expected);
        let expected = expected.map_or_else(String::new, |it| format!(" (expected: {it})"));
        let line = line(finding) + &expected;
        match lines.iter_mut().find(|it| it.0 == line) {
            Some((.., times)) => *times += 1,
            None => lines.push((line, how, 1)),
        }
    }
    for (line, how, times) in lines.iter().take(TOLD) {
        let times = if *times > 1 { format!(", {times} times") } else { String::new() };
        writeln!(out, "  {line}{times}: norn replay {}", how.clip.display())?;
    }
    let more: usize = lines.iter().skip(TOLD).map(|(.., times)| times).sum();
    if more > 0 {
        writeln!(out, "  and {more} more; --format json has them all")?;
    }
    Ok(())
}

/// What was seen without having been predicted.
fn observed(out: &mut impl Write, hunt: &Hunt, filter: &ReportFilter) -> io::Result<()> {
    let told = |it: &&norn_hunt::Observed| {
        let confirmed = filter.findings(hunt).filter_map(Finding::confirmed);
        confirmed.into_iter().all(|how| how.consequence != it.consequence)
    };
    for it in filter.observed(hunt).filter(told) {
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

/// The first in full, and what else it was seen as.
fn tell(out: &mut impl Write, members: &[Member<'_>]) -> io::Result<()> {
    let Some((Member { finding, how, .. }, others)) = members.split_first() else { return Ok(()) };
    let leads = match &how.consequence {
        Consequence::None => String::new(),
        it => format!(": {it}"),
    };
    writeln!(out, "{}{leads}", title(&finding.candidate, &finding.description))?;
    let deadlock = finding.candidate.class() == BugClass::Deadlock;
    // The story of a deadlock says who holds and wants what, and where.
    if !deadlock || how.story.is_none() {
        accesses(out, &finding.description)?;
        interleaving::text(out, &how.interleaving)?;
    }
    if let Some(remark) = &finding.remark {
        remarks(out, remark)?;
    }
    if how.other_output && !deadlock {
        writeln!(out, "   the program prints something else than in the recorded run")?;
    }
    if let Some(story) = &how.story {
        story::tell(out, story)?;
    }
    if let Some(also) = group::also(others) {
        writeln!(out, "   {also}")?;
    }
    writeln!(out, "   again: norn replay {}\n", how.clip.display())
}

/// How often it can happen, and why it may be meant.
pub(crate) fn remarks(out: &mut impl Write, remark: &Remark) -> io::Result<()> {
    if remark.count > 1 {
        writeln!(out, "   {} times at these places in the recorded run", remark.count)?;
    }
    match remark.early {
        0 => {}
        early if early == remark.count => writeln!(out, "   nobody has written it before")?,
        early => writeln!(out, "   {early} of them before anybody has written it")?,
    }
    if let Some(expected) = remark.expected {
        writeln!(out, "   perhaps expected: {expected}")?;
    }
    Ok(())
}

/// Who does what to which variable where.
pub(crate) fn accesses(out: &mut impl Write, description: &Description) -> io::Result<()> {
    for access in &description.accesses {
        let value = access.shown.clone().or_else(|| Some(access.value?.to_string()));
        let value = value.map_or_else(String::new, |it| format!(" = {it}"));
        let does = match access.does {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Free => "frees",
            Access::Acquire | Access::Share if access.stuck => "wants",
            Access::Acquire | Access::Share => "locks",
            Access::Wait => "awaits",
            Access::Signal => "wakes",
            Access::Use => "uses",
            Access::Init => "initialises",
            Access::Destroy => "destroys",
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
    let variables = match description.variables.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => description.variables.concat(),
    };
    let what = match candidate.class() {
        BugClass::Race => "data race on",
        BugClass::Atomicity => "another thread comes between two accesses to",
        BugClass::AtomicSet => "accesses that belong together are mixed:",
        BugClass::Lifetime => "memory is used after it was freed:",
        BugClass::Order => match candidate.kind {
            CandidateKind::PrematureUse => "read after the write that was to follow:",
            CandidateKind::UseAfterDestroy => "used after it was destroyed:",
            CandidateKind::UseBeforeInit => "used before it is initialised:",
            CandidateKind::Timeout => {
                "the time of a wait runs out before it gets what it waits for:"
            }
            CandidateKind::LateWakeUp => {
                "the time of a wait runs out just when what it waits for comes:"
            }
            _ => "read before the write that it was to see:",
        },
        BugClass::Pattern | BugClass::Property => candidate.kind.name(),
        BugClass::Deadlock => deadlock(&candidate.kind),
    };
    format!("{what} {variables}")
}

fn deadlock(kind: &CandidateKind) -> &'static str {
    match kind {
        CandidateKind::JoinHoldingLock => "a thread is waited for with a lock that it needs:",
        CandidateKind::WaitHoldingLock => {
            "a thread waits with a lock that who would wake it needs:"
        }
        CandidateKind::LostWakeUp => "a wake-up can come before its wait, and is lost:",
        _ => "threads wait for each other's locks:",
    }
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

fn summary(out: &mut impl Write, hunt: &Hunt, groups: &[Vec<Member<'_>>]) -> anyhow::Result<()> {
    let bugs = group::count(groups).map_or_else(String::new, |it| format!(" ({it})"));
    let harmful = hunt.findings.iter().filter(|it| it.is_harmful()).count();
    let count = |f: fn(&Status) -> bool| hunt.findings.iter().filter(|it| f(&it.status)).count();
    let confirmed = count(|it| matches!(it, Status::Confirmed(_)));
    let open = count(|it| matches!(it, Status::Infeasible(Failure::Inconclusive)));
    let infeasible = count(|it| matches!(it, Status::Infeasible(_))) - open;
    let unconfirmed = count(|it| matches!(it, Status::Unconfirmed(_)));
    let untried = count(|it| matches!(it, Status::Untried));
    writeln!(
        out,
        "{} candidates in {} events of {} threads: {confirmed} confirmed, {harmful} of them harmful{bugs}; \
         {infeasible} infeasible, {unconfirmed} not confirmed, {untried} not tried; {} executions",
        hunt.findings.len(),
        hunt.base.events,
        hunt.base.threads,
        hunt.executions,
    )?;
    if hunt.base.consequence.is_failure() {
        writeln!(out, "no run passed: the last one led to: {}", hunt.base.consequence)?;
    }
    if open > 0 {
        writeln!(out, "{open} more are inconclusive: no schedule was found, and none is excluded")?;
    }
    omission::text(out, &hunt.omitted)?;
    if untried > 0 {
        writeln!(out, "hint: --budget sets how many executions there may be")?;
    }
    Ok(())
}

/// For programs.
pub(crate) fn json(out: &mut impl Write, hunt: &Hunt, filter: &ReportFilter) -> anyhow::Result<()> {
    let ranked = group::ranked(hunt);
    let groups = group::groups(hunt, filter);
    let group_of = |at: usize| {
        let mine = groups.iter().position(|it| it.iter().any(|member| member.at == at));
        mine.map(|it| it + 1)
    };
    let observed = hunt.observed.iter().enumerate().map(|(at, it)| {
        json!({
            "suppressed_by": filter.json_observed(at),
            "consequence": it.consequence,
            "clip": it.clip,
            "executions": it.executions,
            "finding": it.finding.and_then(|it| ranked.iter().position(|at| *at == it)),
            "story": it.story,
        })
    });
    let findings =
        ranked.iter().map(|&at| finding(&hunt.findings[at], &filter.json(at), group_of(at)));
    let value = json!({
        "events": hunt.base.events,
        "threads": hunt.base.threads,
        "consequence": hunt.base.consequence,
        "observed": observed.collect::<Vec<_>>(),
        "executions": hunt.executions,
        "sources": hunt.sources,
        "incomplete": hunt.incomplete,
        "not_looked_at": omission::json(&hunt.omitted),
        "findings": findings.collect::<Vec<_>>(),
        "suppressions": filter.usage().map(|(it, used)| it.json(used)).collect::<Vec<_>>(),
    });
    Ok(writeln!(out, "{value:#}")?)
}

/// The same for programs.
pub(crate) fn json_accesses(description: &Description) -> Vec<Value> {
    let accesses = description.accesses.iter().map(|it| {
        json!({
            "thread": it.thread,
            "access": it.does,
            "stuck": it.stuck,
            "variable": it.variable,
            "value": it.value.map(|it| it.to_string()),
            "calls": it.calls,
            "locks": it.locks,
        })
    });
    accesses.collect()
}

fn finding(finding: &Finding, suppressed_by: &Value, group: Option<usize>) -> Value {
    let mut value = json!({
        "class": finding.candidate.class(),
        "pattern": finding.candidate.kind,
        "scope": finding.candidate.scope,
        "harmful": finding.is_harmful(),
        "group": group,
        "suppressed_by": suppressed_by,
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
            "interleaving": interleaving::json(&it.interleaving),
            "clip": it.clip,
            "executions": it.executions,
        }),
        Status::Infeasible(why @ Failure::Inconclusive) => {
            json!({ "status": "inconclusive", "why": why.to_string() })
        }
        Status::Infeasible(why) => json!({ "status": "infeasible", "why": why.to_string() }),
        Status::Unconfirmed(verdict) => json!({ "status": "unconfirmed", "verdict": verdict }),
        Status::Untried => json!({ "status": "untried" }),
    };
    if let (Some(all), Value::Object(more)) = (value.as_object_mut(), more) {
        all.extend(more);
        all.extend(finding.remark.iter().flat_map(json_remark));
    }
    value
}

pub(crate) fn json_remark(remark: &Remark) -> impl Iterator<Item = (String, Value)> + use<> {
    let expected = remark.expected.map(|it| json!({ "as": it.name(), "why": it.to_string() }));
    let expected = expected.map(|it| ("expected".to_owned(), it));
    let counts = [("count", remark.count), ("early", remark.early)];
    counts.map(|(name, it)| (name.to_owned(), it.into())).into_iter().chain(expected)
}
