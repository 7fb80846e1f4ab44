//! `norn run`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use norn_trace::Strategy;

use super::{Batch, Functions, Limits};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: the program's own. 1 also if norn ended the program (deadlock, livelock, hang, \
                  memory error), if the check failed, or if one of several runs failed; 3 if the \
                  program was not built with norn.\n\n\
                  Examples:\n  norn run --seed 7 -- ./prog\n  \
                  norn run --strategy pct --depth 3 --seed 1 --save clip.json -- ./prog\n  \
                  norn run --times 1000 -j 8 --save clip.json -- ./prog\n  \
                  norn run --record-inputs --save clip.json -- ./server\n  \
                  norn run --times 50 --check 'grep -q done \"$NORN_STDOUT\"' -- ./prog"
)]
pub(crate) struct Run {
    /// How to choose the next thread
    #[arg(long, value_enum, default_value_t, help_heading = "Schedule")]
    pub(crate) strategy: StrategyArg,
    /// Seed of all random choices: the same seed gives the same run
    #[arg(long, default_value_t = 0, value_name = "NUMBER", help_heading = "Schedule")]
    pub(crate) seed: u64,
    /// For `pct`: bug depth, the number of ordering constraints that a bug needs
    #[arg(long, default_value_t = 3, value_name = "NUMBER", help_heading = "Schedule")]
    pub(crate) depth: u32,
    /// Length of a turn: exact for `round-robin`, the mean for `random` (0: chosen by the seed)
    #[arg(long, default_value_t = 0, value_name = "EVENTS", help_heading = "Schedule")]
    pub(crate) quantum: u32,
    /// For `pct`: approximate number of events of the program; measured by one extra run if not given
    #[arg(long, value_name = "EVENTS", help_heading = "Schedule")]
    pub(crate) expected: Option<u64>,
    /// Write the run as a clip for `norn replay`; with --times, the first run that failed
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Record input from outside, standard input included, in the trace and in the clip; `norn replay`
    /// feeds it back
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// Folder for the trace [default: run.norn]; with --times, for one run of each kind [default: none]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) batch: Batch,
    /// With --times: stop after the first failure
    #[arg(long, requires = "times", help_heading = "Repeated runs")]
    pub(crate) until_failure: bool,
    #[command(flatten)]
    pub(crate) functions: Functions,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyArg {
    /// Random thread, for a random number of events
    #[default]
    Random,
    /// Probabilistic concurrency testing: thread priorities that change at a few random events
    Pct,
    /// Partial order sampling: a random priority for each event
    Pos,
    /// Each thread in turn
    RoundRobin,
}

impl From<StrategyArg> for Strategy {
    fn from(strategy: StrategyArg) -> Self {
        match strategy {
            StrategyArg::Random => Strategy::Random,
            StrategyArg::Pct => Strategy::Pct,
            StrategyArg::Pos => Strategy::Pos,
            StrategyArg::RoundRobin => Strategy::RoundRobin,
        }
    }
}
