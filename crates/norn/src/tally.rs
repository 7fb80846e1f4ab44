//! What a person, or a program, is told of many runs.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use norn_model::{Event, Schedule, Verdict};
use norn_replay::{Detour, Kind, Picture, Scene, Tally, parting};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::{
    detour,
    fact::{self, Known, address, fact},
    outcome,
};

/// Whether all runs of a schedule were the same, and how they differ if not.
pub(crate) fn same(
    out: &mut impl Write,
    tally: &Tally,
    kept: Option<&[PathBuf]>,
    schedule: &Schedule,
    detours: &[Option<Detour>],
) -> io::Result<()> {
    let Some(usual) = usual(tally) else { return writeln!(out, "no run has ended") };
    let (count, all) = (tally.count, usual.count);
    let what = sentence(&usual.picture, schedule);
    writeln!(out, "{all} of {count} {} the same: {what}", verb(count, "run is", "runs are"))?;
    detoured(out, tally, usual, detours)?;
    place(out, tally, usual, kept)?;
    for kind in tally.kinds.iter().filter(|it| it.first != usual.first) {
        let differ = verb(kind.count, "differs", "differ");
        let fields = differences(&kind.picture, &usual.picture).join(", ");
        let what = sentence(&kind.picture, schedule);
        writeln!(out, "{} {differ} in {fields}: {what}", kind.count)?;
        if let Some(Parting { event, usual, here }) = part(usual, kind) {
            writeln!(out, "  from event {event} of all on:\n  usual   {usual}\n  here    {here}")?;
        }
        unsure(out, kind)?;
        detoured(out, tally, kind, detours)?;
        place(out, tally, kind, kept)?;
    }
    if let (2.., Some(controlled)) = (tally.kinds.len(), &usual.recording.run.controlled) {
        outcome::doubts(out, controlled)?;
    }
    if tally.kinds.len() > 1 && kept.is_none() {
        writeln!(out, "hint: -o FOLDER keeps what one run of each kind left")?;
    }
    stopped(out, tally)
}

/// Why runs of a kind may differ from others though the schedule is the same.
fn unsure(out: &mut impl Write, kind: &Kind) -> io::Result<()> {
    let Kind { away, stopped, .. } = *kind;
    if away > 0 {
        writeln!(
            out,
            "  in {away} of them others could go on while a thread was where we do not see it"
        )?;
    }
    if stopped > 0 {
        writeln!(out, "  in {stopped} of them the trace was cut short")?;
    }
    Ok(())
}

/// What came of a program's runs with different seeds.
pub(crate) fn explored(
    out: &mut impl Write,
    tally: &Tally,
    kept: Option<&[PathBuf]>,
) -> io::Result<()> {
    writeln!(out, "{} runs, {} failed", tally.count, tally.failures())?;
    let width = tally.kinds.iter().map(|it| it.count).max().unwrap_or(0).to_string().len();
    for kind in &tally.kinds {
        let what = &kind.picture.consequence;
        writeln!(out, "{:>width$}  {what}, first with seed {}", kind.count, kind.seed)?;
        place(out, tally, kind, kept)?;
    }
    stopped(out, tally)
}

fn stopped(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    match tally.stopped {
        0 => Ok(()),
        runs => writeln!(out, "in {runs} of them the trace was cut short: see --max-size"),
    }
}

/// The same for programs.
pub(crate) fn json(tally: &Tally, kept: Option<&[PathBuf]>, detours: &[Option<Detour>]) -> Json {
    let kinds = tally.kinds.iter().enumerate().map(|(at, kind)| {
        let Kind { count, away, stopped, first, seed, .. } = kind;
        let mut json = json!({ "count": count, "run": first, "seed": seed });
        if let (Some(json), Ok(Json::Object(picture))) =
            (json.as_object_mut(), serde_json::to_value(&kind.picture))
        {
            json.extend(picture);
            let usual = usual(tally).filter(|it| it.first != kind.first);
            if let (Some(usual), Some(_)) = (usual, &kind.picture.print) {
                json.insert("differs".into(), json!(differences(&kind.picture, &usual.picture)));
                json.insert("parting".into(), json!(part(usual, kind)));
            }
            for (name, runs) in [("away", away), ("stopped", stopped)] {
                if *runs > 0 {
                    json.insert(name.into(), json!(runs));
                }
            }
            if let Some(Some(detour)) = detours.get(at) {
                json.insert("detour".to_owned(), json!(detour));
            }
            if let Some(path) = kept.and_then(|it| it.get(at)) {
                json.insert("kept".to_owned(), json!(path));
            }
        }
        json
    });
    json!({
        "runs": tally.count,
        "failed": tally.failures(),
        "stopped": tally.stopped,
        "kinds": kinds.collect::<Vec<_>>(),
    })
}

/// The kind that most runs are of.
fn usual(tally: &Tally) -> Option<&Kind> {
    tally.kinds.iter().max_by_key(|it| (it.count, std::cmp::Reverse(it.first)))
}

fn verb(count: u64, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

fn sentence(picture: &Picture, schedule: &Schedule) -> String {
    let count = schedule.segments.len();
    let (word, departure) = match &picture.verdict {
        None => return picture.consequence.to_string(),
        Some(Verdict::Followed(segments)) => {
            return format!("followed {segments} of {count} segments, {}", picture.consequence);
        }
        Some(Verdict::Diverged(departure)) => ("diverged", departure),
        Some(Verdict::Infeasible(departure)) => ("infeasible", departure),
    };
    let (segment, thread, why) = (departure.segment + 1, &departure.thread, departure.why);
    let what = &picture.consequence;
    format!("{word} in segment {segment} of {count} ({thread} {why}), {what}")
}

fn differences(one: &Picture, other: &Picture) -> Vec<&'static str> {
    let print = |get: fn(&norn_replay::Print) -> u64| {
        one.print.as_ref().map(get) != other.print.as_ref().map(get)
    };
    let all = [
        ("verdict", one.verdict != other.verdict),
        ("consequence", one.consequence != other.consequence),
        ("events", print(|it| it.events)),
        ("standard output", print(|it| it.stdout)),
        ("standard error", print(|it| it.stderr)),
    ];
    all.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

/// Where runs of a kind left the path.
fn detoured(
    out: &mut impl Write,
    tally: &Tally,
    kind: &Kind,
    detours: &[Option<Detour>],
) -> io::Result<()> {
    let at = tally.kinds.iter().position(|it| it.first == kind.first);
    let found = at.and_then(|at| detours.get(at)?.as_ref());
    match (found, &kind.picture.verdict) {
        (Some(found), Some(verdict)) => detour::tell(out, found, verdict),
        _ => Ok(()),
    }
}

fn place(
    out: &mut impl Write,
    tally: &Tally,
    kind: &Kind,
    kept: Option<&[PathBuf]>,
) -> io::Result<()> {
    let at = tally.kinds.iter().position(|it| it.first == kind.first);
    match at.and_then(|at| kept?.get(at)) {
        Some(path) => writeln!(out, "  one of them is in {}", path.display()),
        None => Ok(()),
    }
}

/// Where the events of two kinds part.
#[derive(Serialize)]
struct Parting {
    /// The first event that differs, in the order of all.
    event: u64,
    usual: String,
    here: String,
}

fn part(usual: &Kind, other: &Kind) -> Option<Parting> {
    let open = |kind: &Kind| Scene::open(&kind.folder.join("trace"), 0).ok();
    let (usual, other) = (open(usual)?, open(other)?);
    let (event, events) = parting(&usual.trace, &other.trace)?;
    let usual = said(events[0].as_ref(), &usual);
    Some(Parting { event, usual, here: said(events[1].as_ref(), &other) })
}

fn said(event: Option<&Event>, scene: &Scene) -> String {
    let Some(event) = event else { return "no more events".to_owned() };
    let fact = fact(&event.op, scene.trace.names(), |id| scene.thread(id).0);
    let target = fact.target.map_or_else(String::new, |(addr, _)| {
        let name = scene.modules.variable(addr, 1).map_or_else(|| address(addr), |it| it.name);
        format!(" {name}")
    });
    let value = match fact.value {
        Known::Value(value) => format!(" = {}", fact::number(value)),
        Known::Unknown => " = ?".to_owned(),
        Known::Nothing => String::new(),
    };
    let details = fact.details.iter().map(|(name, it)| format!(" {name} {it}"));
    let details = details.collect::<Vec<_>>().concat();
    let pc = scene.trace.site(event.site).map_or(0, |it| it.pc);
    let at = scene.site(pc).unwrap_or_else(|| address(pc));
    format!("{} {}{target}{value}{details} at {at}", scene.thread(event.id.thread), fact.op)
}
