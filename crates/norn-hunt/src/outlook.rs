//! The candidates that a trace allows, and schedules for them, without executing the program.

use std::path::Path;

use norn_frontend::FrontEnd;
use norn_model::{Candidate, ThreadName};
use norn_predict::{Options, Remark};
use norn_replay::ReplayError;
use norn_witness::{Engines, Failure, Witness, Witnesses};

use crate::{
    Description, Omissions, atomic_set,
    describe::describe_all,
    library_sync::predict_program,
    source::{Loading, Source},
};

/// The candidates that a trace allows.
#[derive(Debug)]
pub struct Outlook {
    /// The candidates, the most likely ones first.
    pub prospects: Vec<Prospect>,
    /// Whether the search for a pattern or for deadlocks reached its limit before its end.
    pub incomplete: bool,
    /// What was not analysed.
    pub omitted: Omissions,
}

/// A candidate, and the schedule that would produce it.
#[derive(Debug)]
pub struct Prospect {
    /// The candidate.
    pub candidate: Candidate,
    /// How often the trace allows it, and why it may be intended, if that is known.
    pub remark: Option<Remark>,
    /// Which thread does what to which variable at which place.
    pub description: Description,
    /// Its schedule, or why there is none.
    pub witness: Result<Witness, Failure>,
    /// The schedule: threads by name, each with the index of the event before which its turn ends.
    pub turns: Vec<(ThreadName, u64)>,
}

/// Predicts what a trace allows. Atomic sets are given as lists of variable names.
pub fn outlook(
    front_end: &dyn FrontEnd,
    folder: &Path,
    process: u32,
    options: &Options,
    atomic_sets: &[Vec<String>],
    engines: Engines,
) -> Result<Outlook, ReplayError> {
    let source = Source::open(front_end, folder, process, Loading::Relevant)?;
    let (sets, unknown) = atomic_set::find(&source, atomic_sets);
    let prediction = predict_program(&source, &Options { sets, ..options.clone() });
    let omitted = Omissions::new(&source, &prediction, unknown);
    let witnesses = Witnesses::with(&source.trace, engines);
    let violations = prediction.violations.into_iter().map(|(it, remark)| (it, Some(remark)));
    let all = prediction.candidates.into_iter().map(|it| (it, None)).chain(violations);
    let all: Vec<(Candidate, Option<Remark>)> = all.filter(|it| it.0.instance == 0).collect();
    witnesses.expect(all.len(), 0);
    let descriptions = describe_all(&source, &all.iter().map(|it| &it.0).collect::<Vec<_>>());
    let prospect = |((candidate, remark), description): ((Candidate, _), _)| {
        let witness = witnesses.witness(&candidate);
        let turns = witness.iter().flat_map(|it| source.turns(it));
        let turns = turns.map(|it| (source.symbolized.thread(it.0), it.1)).collect();
        Prospect { candidate, remark, description, witness, turns }
    };
    let prospects = all.into_iter().zip(descriptions).map(prospect).collect();
    Ok(Outlook { prospects, incomplete: prediction.incomplete, omitted })
}
