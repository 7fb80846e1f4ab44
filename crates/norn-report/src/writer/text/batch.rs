//! Many runs: whether they were the same, or what came of different seeds.

use std::io::{self, Write};

use super::{columns, paint, run};
use crate::{
    Batch, EventRow, RunKind, Verdict,
    vocabulary::{self, consequence, obstacle},
};

/// What came of many runs.
pub(super) fn batch(out: &mut dyn Write, batch: &Batch) -> io::Result<()> {
    match batch.segments {
        Some(segments) => same(out, batch, segments)?,
        None => explored(out, batch)?,
    }
    if batch.stopped > 0 {
        let runs = batch.stopped;
        writeln!(out, "in {runs} of them the trace was cut short: see --max-size")?;
    }
    if !batch.repeat.is_empty() {
        writeln!(out, "reproduce the first failure: {}", batch.repeat.join(" "))?;
    }
    Ok(())
}

/// Whether all runs of a schedule were the same, and how they differ if not.
fn same(out: &mut dyn Write, batch: &Batch, segments: usize) -> io::Result<()> {
    let usual = batch.usual.and_then(|at| Some((at, batch.kinds.get(at)?)));
    let Some((at, usual)) = usual else { return writeln!(out, "no run has ended") };
    let (count, all) = (batch.runs, usual.count);
    let what = sentence(usual, segments);
    let are = if count == 1 { "run is" } else { "runs are" };
    writeln!(out, "{all} of {count} {are} the same: {what}")?;
    left(out, usual)?;
    for (_, kind) in batch.kinds.iter().enumerate().filter(|it| it.0 != at) {
        let differ = if kind.count == 1 { "differs" } else { "differ" };
        let fields = kind.differs.join(", ");
        writeln!(out, "{} {differ} in {fields}: {}", kind.count, sentence(kind, segments))?;
        if let Some(it) = &kind.parting {
            let (usual, here) = (event(it.usual.as_ref()), event(it.here.as_ref()));
            writeln!(
                out,
                "  from event {} of all on:\n  usual   {usual}\n  here    {here}",
                it.event
            )?;
        }
        doubts(out, kind)?;
        left(out, kind)?;
    }
    if let Some(control) = &batch.control {
        run::doubts(out, control)?;
    }
    if batch.kinds.len() > 1 && usual.kept.is_none() {
        writeln!(out, "hint: -o FOLDER keeps the trace and output of one run of each kind")?;
    }
    Ok(())
}

/// Why runs of a kind may differ from others though the schedule is the same.
fn doubts(out: &mut dyn Write, kind: &RunKind) -> io::Result<()> {
    let RunKind { away, stopped, .. } = *kind;
    if away > 0 {
        writeln!(
            out,
            "  in {away} of them other threads ran while one was in code that is not instrumented"
        )?;
    }
    if stopped > 0 {
        writeln!(out, "  in {stopped} of them the trace was cut short")?;
    }
    Ok(())
}

/// Where runs of a kind left the path of the clip, and where one of them is kept.
fn left(out: &mut dyn Write, kind: &RunKind) -> io::Result<()> {
    if let (Some(detour), Some(verdict)) = (&kind.detour, &kind.verdict) {
        run::detour(out, detour, verdict)?;
    }
    if let Some(it) = &kind.claim {
        run::claim(out, it)?;
    }
    kept(out, kind)
}

fn kept(out: &mut dyn Write, kind: &RunKind) -> io::Result<()> {
    match &kind.kept {
        Some(path) => writeln!(out, "  one of them is in {path}"),
        None => Ok(()),
    }
}

/// What came of a program's runs with different seeds.
fn explored(out: &mut dyn Write, batch: &Batch) -> io::Result<()> {
    writeln!(out, "{} runs, {} failed", batch.runs, batch.failed)?;
    let width = batch.kinds.iter().map(|it| it.count).max().unwrap_or(0).to_string().len();
    for kind in &batch.kinds {
        let what = consequence(&kind.consequence);
        let what = paint::headline(what, kind.consequence.is_failure());
        writeln!(out, "{:>width$}  {what}, first with seed {}", kind.count, kind.seed)?;
        kept(out, kind)?;
    }
    Ok(())
}

fn sentence(kind: &RunKind, count: usize) -> String {
    let what = consequence(&kind.consequence);
    let Some(verdict) = &kind.verdict else { return what };
    let word = vocabulary::verdict(verdict);
    match verdict {
        Verdict::Followed(segments) => format!("{word} {segments} of {count} segments, {what}"),
        Verdict::Diverged(departure) | Verdict::Infeasible(departure) => {
            let (segment, thread) = (departure.segment + 1, &departure.thread);
            let why = obstacle(departure.why);
            format!("{word} in segment {segment} of {count} ({thread} {why}), {what}")
        }
    }
}

fn event(row: Option<&EventRow>) -> String {
    let Some(row) = row else { return "no more events".to_owned() };
    let at = row.at.as_ref().map_or_else(String::new, |it| format!(" at {}", paint::place(it)));
    format!("{} {}{at}", row.thread, columns::event(row))
}
