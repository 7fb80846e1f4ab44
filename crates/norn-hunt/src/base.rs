//! The run from which all else is predicted: one that passes. If the first fails, that is a finding
//! of its own, and another schedule may give one that does not.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use norn_abi::control::{Plan, strategy};
use norn_model::Consequence;
use norn_record::Control;
use norn_replay::{Clock, ReplayError};

use crate::{
    Options,
    campaign::ClipStore,
    executor::{Native, Output},
    observe::Observations,
    source::Source,
};

/// How many schedules are tried for a run that passes.
const SEEDS: u64 = 8;
/// How long the recorded run may take, if no limit is given.
const LONGEST_BASE: Duration = Duration::from_mins(2);
/// How long any other run may take at least, if no limit is given.
const SHORTEST: Duration = Duration::from_secs(10);

/// The recorded run.
#[derive(Debug)]
pub struct Base {
    /// What it led to.
    pub consequence: Consequence,
    /// Its events.
    pub events: u64,
    /// Its threads.
    pub threads: usize,
    /// Runs that it took.
    pub executions: usize,
    /// How long it took.
    pub time: Duration,
    /// Which of its processes is looked at.
    pub(crate) process: u32,
    /// What it printed.
    pub(crate) output: Output,
}

/// What a campaign begins with.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) base: Base,
    pub(crate) source: Source,
    /// Makes all further runs.
    pub(crate) executor: Native,
    /// The options with the limit of time for further runs.
    pub(crate) options: Options,
    /// Failures that were seen on the way.
    pub(crate) observations: Observations,
    pub(crate) clips: ClipStore,
}

/// Records a run that passes; if none does, one that fails. Nothing if nothing can be recorded.
pub(crate) fn record(options: &Options, scratch: &Path) -> Result<Option<Recorded>, ReplayError> {
    let given = options.run.timeout;
    let executor = Native::new(options.limited(given.unwrap_or(LONGEST_BASE)), scratch);
    let mut clips = ClipStore::new(options.output.join("clips"));
    let mut observations = Observations::default();
    for seed in 0..SEEDS {
        let control = Control { plan: plan(options, seed), ..Control::default() };
        let start = Instant::now();
        let run = executor.record(control, &options.output)?;
        let time = start.elapsed();
        let Some(process) = run.process() else { return Ok(None) };
        let executions = 1 + usize::try_from(seed).unwrap_or(0);
        observations.add(&mut clips, &run, executions, None)?;
        if run.consequence().is_failure() && seed + 1 < SEEDS {
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
        let executor = executor.again(options.clone(), &source);
        return Ok(Some(Recorded { base, source, executor, options, observations, clips }));
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
