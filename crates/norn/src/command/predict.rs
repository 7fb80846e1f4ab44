//! `norn predict`: what a trace allows, without running the program.

use std::io::Write as _;

use norn_hunt::{Prospect, outlook};
use serde_json::json;

use crate::{
    cli::{Format, Predict},
    command::hunt::wanted,
    exit::Exit,
    finding,
};

pub(super) fn run(args: &Predict) -> anyhow::Result<Exit> {
    let options =
        norn_predict::Options { unmarked: !args.marked_only, ..wanted(&args.pattern, &args.only)? };
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
        if let Some(remark) = &prospect.remark {
            finding::remarks(&mut out, remark)?;
        }
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

fn json(prospect: &Prospect) -> serde_json::Value {
    let mut value = json!({
        "candidate": prospect.candidate,
        "accesses": finding::json_accesses(&prospect.description),
        "grade": prospect.witness.as_ref().ok().map(|it| it.grade),
        "schedule": prospect.turns,
        "why": prospect.witness.as_ref().err().map(ToString::to_string),
    });
    if let Some(all) = value.as_object_mut() {
        all.extend(prospect.remark.iter().flat_map(finding::json_remark));
    }
    value
}
