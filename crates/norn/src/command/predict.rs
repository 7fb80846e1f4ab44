//! `norn predict`: what a trace allows, without running the program.

use std::io::Write;

use norn_hunt::{Prospect, outlook};
use serde_json::json;

use crate::{
    cli::{Format, Predict},
    command::hunt::{atomic_sets, looked_for, suppressions},
    exit::Exit,
    finding, omission, property_file, suppress,
    suppression::Suppression,
    verbosity, violation,
};

pub(super) fn run(args: &Predict) -> anyhow::Result<Exit> {
    if !args.property.is_empty() {
        return property(args);
    }
    let options = looked_for(&args.search)?;
    let suppressions = suppressions(&args.suppressions)?;
    let mut used = vec![0; suppressions.len()];
    let sets = atomic_sets(&args.search);
    let engines = args.search.engine.into();
    let process = args.trace.process()?;
    let mut outlook = outlook(&args.trace.folder, process, &options, &sets, engines)?;
    outlook.prospects.retain(|it| {
        let covers = |given: &Suppression| given.covers(it.candidate.class(), &it.description);
        let suppression = suppressions.iter().position(covers);
        suppression.inspect(|at| used[*at] += 1).is_none()
    });
    let used = || suppressions.iter().zip(used.iter().copied());
    let mut out = anstream::stdout().lock();
    if args.format == Format::Json {
        let prospects: Vec<_> = outlook.prospects.iter().map(json).collect();
        let suppressions: Vec<_> = used().map(|(it, used)| it.json(used)).collect();
        let all = json!({
            "candidates": prospects,
            "incomplete": outlook.incomplete,
            "not_looked_at": omission::json(&outlook.omitted),
            "suppressions": suppressions,
        });
        writeln!(out, "{all}")?;
        return Ok(Exit::Clean);
    }
    for (number, prospect) in outlook.prospects.iter().enumerate() {
        tell(&mut out, number + 1, prospect)?;
    }
    let possible = outlook.prospects.iter().filter(|it| it.witness.is_ok()).count();
    writeln!(
        out,
        "{} candidates, {possible} with a schedule; `norn hunt` tries them",
        outlook.prospects.len()
    )?;
    omission::text(&mut out, &outlook.omitted)?;
    suppress::write_usage(&mut out, used(), verbosity::is_verbose())?;
    Ok(Exit::Clean)
}

fn tell(out: &mut impl Write, number: usize, prospect: &Prospect) -> anyhow::Result<()> {
    let title = finding::title(&prospect.candidate, &prospect.description);
    writeln!(out, "{number}. {title}")?;
    finding::accesses(out, &prospect.description)?;
    if let Some(remark) = &prospect.remark {
        finding::remarks(out, remark)?;
    }
    match &prospect.witness {
        Ok(witness) => {
            let turns = prospect.turns.iter().map(|(thread, until)| format!("{thread}:{until}"));
            let turns = turns.collect::<Vec<_>>().join(" ");
            let (grade, engine) = (witness.grade, witness.engine);
            writeln!(out, "   schedule ({grade:?}, {engine}): {turns}\n")?;
        }
        Err(why) => writeln!(out, "   {why}\n")?,
    }
    Ok(())
}

/// Predicts violations of properties instead of built-in patterns.
fn property(args: &Predict) -> anyhow::Result<Exit> {
    let Some(properties) = property_file::load(&args.property)? else { return Ok(Exit::Error) };
    let forecast = norn_hunt::forecast(&args.trace.folder, args.trace.process()?, &properties)?;
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Text => violation::forecast(&mut out, &forecast)?,
        Format::Json => violation::forecast_json(&mut out, &forecast)?,
    }
    Ok(Exit::Clean)
}

fn json(prospect: &Prospect) -> serde_json::Value {
    let engine = match &prospect.witness {
        Ok(witness) => Some(witness.engine),
        Err(why) => why.engine(),
    };
    let mut value = json!({
        "candidate": prospect.candidate,
        "accesses": finding::json_accesses(&prospect.description),
        "grade": prospect.witness.as_ref().ok().map(|it| it.grade),
        "engine": engine.map(|it| it.to_string()),
        "schedule": prospect.turns,
        "why": prospect.witness.as_ref().err().map(ToString::to_string),
    });
    if let Some(all) = value.as_object_mut() {
        all.extend(prospect.remark.iter().flat_map(finding::json_remark));
    }
    value
}
