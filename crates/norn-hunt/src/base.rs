//! The base run: the recorded, passing run from which everything else is predicted. If the first
//! run fails, that failure is a finding of its own, and other schedules are tried to obtain a run
//! that passes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use norn_frontend::{Cancel, Plan};
use norn_model::Consequence;
use norn_replay::ReplayError;
use norn_trace::Strategy;

use crate::{
    Options,
    campaign::ClipStore,
    executor::{LocalExecutor, Output},
    observe::Observations,
    source::Source,
};

/// Number of schedules that are tried to obtain a passing run.
const SEEDS: u64 = 8;
/// Timeout of the recorded run if the user gives none.
const LONGEST_BASE: Duration = Duration::from_mins(2);
/// Minimum timeout of every other run if the user gives none.
const SHORTEST: Duration = Duration::from_secs(10);

/// The recorded run.
#[derive(Debug)]
pub struct Base {
    /// The consequence of the run.
    pub consequence: Consequence,
    /// Number of its events.
    pub events: u64,
    /// Number of its threads.
    pub threads: usize,
    /// Number of executions that were needed to obtain it.
    pub executions: usize,
    /// Its duration.
    pub time: Duration,
    /// The process of the run that is analysed.
    pub(crate) process: u32,
    /// The output of the program.
    pub(crate) output: Output,
}

/// The starting point of a campaign.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) base: Base,
    pub(crate) source: Source,
    /// Executes all further runs.
    pub(crate) executor: LocalExecutor,
    /// The options, with the timeout for further runs.
    pub(crate) options: Options,
    /// Failures that were observed while the base run was being recorded.
    pub(crate) observations: Observations,
    pub(crate) clips: ClipStore,
}

/// Records a passing run, or a failing one if no schedule passes. Returns `None` if the program
/// records no events.
pub(crate) fn record(options: &Options, scratch: &Path) -> Result<Option<Recorded>, ReplayError> {
    let given = options.launch.timeout;
    let executor = LocalExecutor::new(options.limited(given.unwrap_or(LONGEST_BASE)), scratch);
    let mut clips = ClipStore::new(options.output.join("clips"));
    let mut observations = Observations::default();
    for seed in 0..SEEDS {
        let start = Instant::now();
        let run = executor.record(plan(options, seed), (&options.output, &Cancel::default()))?;
        let time = start.elapsed();
        let Some(process) = run.process() else { return Ok(None) };
        let executions = 1 + usize::try_from(seed).unwrap_or(0);
        observations.add(&mut clips, &run, executions, None)?;
        let passed = !run.consequence().is_failure() && !run.consequence().is_unfinished();
        if !passed && seed + 1 < SEEDS {
            continue;
        }
        let (output, consequence) = (run.output.clone(), run.consequence().clone());
        run.source()?;
        let Some(source) = run.into_trace().1 else { return Ok(None) };
        let base = Base {
            consequence,
            events: source.trace.len() as u64,
            threads: source.trace.threads.len(),
            executions,
            time,
            process,
            output,
        };
        let options = options.limited(given.unwrap_or_else(|| (time * 20).max(SHORTEST)));
        let executor = executor.with_options(options.clone());
        return Ok(Some(Recorded { base, source, executor, options, observations, clips }));
    }
    Ok(None)
}

/// The first run has long turns, as an uncontrolled run would have; later ones are random.
fn plan(options: &Options, seed: u64) -> Plan {
    Plan {
        strategy: if seed == 0 { Strategy::RoundRobin } else { Strategy::Random },
        seed,
        max_steps: options.max_steps,
        ..Plan::default()
    }
}
