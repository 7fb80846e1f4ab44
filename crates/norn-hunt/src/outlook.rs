//! What a trace allows, without running anything: candidates, and schedules for them.

use std::path::Path;

use norn_model::{Candidate, ThreadName};
use norn_predict::{Options, Remark, predict};
use norn_replay::ReplayError;
use norn_witness::{Engines, Failure, Witness, Witnesses};

use crate::{Description, Omissions, atomic_set, describe::describe_all, source::Source};

/// What a trace allows.
#[derive(Debug)]
pub struct Outlook {
    /// The candidates, the likely ones first.
    pub prospects: Vec<Prospect>,
    /// The search for a pattern or for deadlocks was given up before its end.
    pub incomplete: bool,
    /// What was not looked at.
    pub omitted: Omissions,
}

/// A candidate, and the schedule that would make it happen.
#[derive(Debug)]
pub struct Prospect {
    /// What.
    pub candidate: Candidate,
    /// How often the trace allows it, and why it may be meant, if that is known.
    pub remark: Option<Remark>,
    /// Who does what to which variable where.
    pub description: Description,
    /// By which schedule, or why there is none.
    pub witness: Result<Witness, Failure>,
    /// The schedule's threads by name, each until before one of its events.
    pub turns: Vec<(ThreadName, u64)>,
}

/// Looks what a trace allows. The variables of each atomic set are given by their names.
pub fn outlook(
    folder: &Path,
    process: u32,
    options: &Options,
    atomic_sets: &[Vec<String>],
    engines: Engines,
) -> Result<Outlook, ReplayError> {
    let source = Source::open(folder, process)?;
    let (sets, unknown) = atomic_set::find(&source, atomic_sets);
    let prediction = predict(&source.trace, &Options { sets, ..options.clone() });
    let omitted = Omissions::new(&source, &prediction, unknown);
    let witnesses = Witnesses::with(&source.trace, engines);
    let violations = prediction.violations.into_iter().map(|(it, remark)| (it, Some(remark)));
    let all = prediction.candidates.into_iter().map(|it| (it, None)).chain(violations);
    let all: Vec<(Candidate, Option<Remark>)> = all.filter(|it| it.0.instance == 0).collect();
    let descriptions = describe_all(&source, &all.iter().map(|it| &it.0).collect::<Vec<_>>());
    let prospect = |((candidate, remark), description): ((Candidate, _), _)| {
        let witness = witnesses.witness(&candidate);
        let turns = witness.iter().flat_map(|it| &it.turns);
        let turns = turns.map(|it| (source.scene.thread(it.thread), it.until)).collect();
        Prospect { candidate, remark, description, witness, turns }
    };
    let prospects = all.into_iter().zip(descriptions).map(prospect).collect();
    Ok(Outlook { prospects, incomplete: prediction.incomplete, omitted })
}
