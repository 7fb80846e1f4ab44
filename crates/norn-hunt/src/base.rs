//! The run from which all else is predicted: one that passes. If the first fails, that is a finding
//! of its own, and another schedule may give one that does not.

use std::time::{Duration, Instant};

use norn_abi::control::{Plan, strategy};
use norn_model::Consequence;
use norn_record::Control;
use norn_replay::{Clock, ReplayError};

use crate::{
    Options,
    attempt::{Output, Scratch},
    observe::Observations,
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
    /// Runs that it took.
    pub executions: usize,
    /// How long it took.
    pub time: Duration,
    /// Which of its processes is looked at.
    pub(crate) process: u32,
    /// What it printed.
    pub(crate) output: Output,
}

/// Records a run that passes; if none does, one that fails. Nothing if nothing can be recorded.
pub(crate) fn base(
    options: &Options,
    scratch: &Scratch,
    observations: &mut Observations,
) -> Result<Option<(Base, Source)>, ReplayError> {
    for seed in 0..SEEDS {
        let control = Control { plan: plan(options, seed), ..Control::default() };
        let start = Instant::now();
        let run = scratch.run(options, control, &options.output)?;
        let time = start.elapsed();
        let Some(process) = run.process() else { return Ok(None) };
        let executions = 1 + usize::try_from(seed).unwrap_or(0);
        observations.add(options, &run, &options.output, executions, None)?;
        if run.consequence.is_failure() && seed + 1 < SEEDS {
            continue;
        }
        let source = Source::open(&options.output, process)?;
        let base = Base {
            consequence: run.consequence,
            events: source.trace.len() as u64,
            threads: source.trace.threads.len(),
            executions,
            time,
            process,
            output: run.output,
        };
        return Ok(Some((base, source)));
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
