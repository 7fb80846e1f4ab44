//! `norn predict`: what a trace allows, without running the program.

use std::io::Write as _;

use norn_hunt::{Prospect, outlook};
use norn_model::NamePattern;
use serde_json::json;

use crate::{
    cli::{Format, Predict},
    command::hunt::patterns,
    exit::Exit,
    finding, rules, violation,
};

pub(super) fn run(args: &Predict) -> anyhow::Result<Exit> {
    if !args.property.is_empty() {
        return property(args);
    }
    let options = norn_predict::Options {
        patterns: patterns(&args.pattern)?,
        unmarked: !args.marked_only,
        functions: args.atomic_function.iter().map(|it| NamePattern::new(it)).collect(),
        ..norn_predict::Options::default()
    };
    let outlook = outlook(&args.trace.folder, args.trace.process, &options)?;
    let mut out = anstream::stdout().lock();
    if args.format == Format::Json {
        let prospects: Vec<_> = outlook.prospects.iter().map(json).collect();
        let all = json!({ "candidates": prospects, "incomplete": outlook.incomplete });
        writeln!(out, "{all}")?;
        return Ok(Exit::Clean);
    }
    for (number, prospect) in outlook.prospects.iter().enumerate() {
        writeln!(
            out,
            "{}. {}",
            number + 1,
            finding::title(&prospect.candidate, &prospect.description)
        )?;
        finding::accesses(&mut out, &prospect.description)?;
        match &prospect.witness {
            Ok(witness) => {
                let turns =
                    prospect.turns.iter().map(|(thread, until)| format!("{thread}:{until}"));
                let turns = turns.collect::<Vec<_>>().join(" ");
                writeln!(out, "   schedule ({:?}): {turns}\n", witness.grade)?;
            }
            Err(why) => writeln!(out, "   {why}\n")?,
        }
    }
    let possible = outlook.prospects.iter().filter(|it| it.witness.is_ok()).count();
    writeln!(
        out,
        "{} candidates, {possible} with a schedule; `norn hunt` tries them",
        outlook.prospects.len()
    )?;
    Ok(Exit::Clean)
}

/// The same for rules.
fn property(args: &Predict) -> anyhow::Result<Exit> {
    let Some(rules) = rules::load(&args.property)? else { return Ok(Exit::Error) };
    let forecast = norn_hunt::forecast(&args.trace.folder, args.trace.process, &rules)?;
    let mut out = anstream::stdout().lock();
    match args.format {
        Format::Text => violation::forecast(&mut out, &forecast)?,
        Format::Json => violation::forecast_json(&mut out, &forecast)?,
    }
    Ok(Exit::Clean)
}

fn json(prospect: &Prospect) -> serde_json::Value {
    json!({
        "candidate": prospect.candidate,
        "accesses": finding::json_accesses(&prospect.description),
        "grade": prospect.witness.as_ref().ok().map(|it| it.grade),
        "schedule": prospect.turns,
        "why": prospect.witness.as_ref().err().map(ToString::to_string),
    })
}
