//! The run from which all else is predicted: one that passes. If the first fails, that is a finding
//! of its own, and another schedule may give one that does not.

use std::path::PathBuf;

use norn_abi::control::{Plan, strategy};
use norn_model::Consequence;
use norn_record::Control;
use norn_replay::{Clock, ReplayError, capture};

use crate::{
    Options,
    attempt::{Output, Scratch, make},
    source::Source,
};

/// How many schedules are tried for a run that passes.
const SEEDS: u64 = 8;

/// The recorded run.
#[derive(Debug)]
pub struct Base {
    /// What it led to.
    pub consequence: Consequence,
    /// Its events.
    pub events: u64,
    /// Its threads.
    pub threads: usize,
    /// Runs that failed before it, the first of each kind, with their clips.
    pub observed: Vec<(Consequence, PathBuf)>,
    /// Runs that it took.
    pub executions: usize,
    /// What it printed.
    pub(crate) output: Output,
}

/// Records a run that passes; if none does, one that fails. Nothing if nothing can be recorded.
pub(crate) fn base(
    options: &Options,
    scratch: &Scratch,
) -> Result<Option<(Base, Source)>, ReplayError> {
    let mut observed: Vec<(Consequence, PathBuf)> = Vec::new();
    for seed in 0..SEEDS {
        let plan = plan(options, seed);
        let control = Control { plan, ..Control::default() };
        let folder = options.output.clone();
        let run = scratch.run(options, control, folder.clone())?;
        let Some(process) = run.process() else { return Ok(None) };
        let failed = run.consequence.is_failure();
        if !failed || seed + 1 == SEEDS {
            let source = Source::open(&folder, process)?;
            let base = Base {
                consequence: run.consequence,
                events: source.trace.len() as u64,
                threads: source.trace.threads.len(),
                observed,
                executions: usize::try_from(seed).unwrap_or(0) + 1,
                output: run.output,
            };
            return Ok(Some((base, source)));
        }
        if observed.iter().all(|(it, _)| *it != run.consequence) {
            let scene = norn_replay::Scene::open(&folder, process)?;
            let mut clip = capture(&scene);
            clip.expect = Some(run.consequence.clone());
            let path = options.clips().join(format!("observed-{}.json", observed.len() + 1));
            make(&options.clips())?;
            clip.write(&path)?;
            observed.push((run.consequence, path));
        }
    }
    Ok(None)
}

/// The first run has long turns, as a run on its own would have; later ones are random.
fn plan(options: &Options, seed: u64) -> Plan {
    let clock = Clock::default();
    Plan {
        strategy: if seed == 0 { strategy::ROUND_ROBIN } else { strategy::RANDOM },
        seed,
        max_steps: options.max_steps,
        realtime: clock.realtime,
        monotonic: clock.monotonic,
        ..Plan::default()
    }
}
