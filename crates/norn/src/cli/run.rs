//! `norn run`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use norn_trace::Strategy;

use super::{Batch, Functions, Limits};

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn run --seed 7 -- ./prog\n  \
                        norn run --strategy pct --depth 3 --seed 1 --save clip.json -- ./prog\n  \
                        norn run --times 1000 -j 8 --save clip.json -- ./prog\n  \
                        norn run --record-inputs --save clip.json -- ./server\n  \
                        norn run --times 50 --check 'grep -q done \"$NORN_STDOUT\"' -- ./prog")]
pub(crate) struct Run {
    /// How the next thread is chosen
    #[arg(long, value_enum, default_value_t)]
    pub(crate) strategy: StrategyArg,
    /// Feeds everything that is random: the same seed, the same run
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// For `pct`: how many orders of events a bug needs, at most
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    pub(crate) depth: u32,
    /// For `round-robin`: events of a turn; for `random`: their mean number (0: the seed chooses)
    #[arg(long, default_value_t = 0, value_name = "EVENTS")]
    pub(crate) quantum: u32,
    /// For `pct`: how many events the program has, about; if not given, a run that does not count
    /// tells
    #[arg(long, value_name = "EVENTS")]
    pub(crate) expected: Option<u64>,
    /// Write what happened as a clip, which `norn replay` shows again; of many runs the first that
    /// failed
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Keep what the program gets from outside, standard input included, with the trace and the
    /// clip: `norn replay` feeds it back
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// Folder for the trace [default: run.norn]; of many runs, for one of each kind [default: none]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) batch: Batch,
    /// With --times: end with the first failure
    #[arg(long, requires = "times")]
    pub(crate) until_failure: bool,
    #[command(flatten)]
    pub(crate) functions: Functions,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyArg {
    /// Any thread, for a random number of events
    #[default]
    Random,
    /// By priorities that change at a few random events
    Pct,
    /// By a random priority of each event
    Pos,
    /// In turn
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
