//! `norn run`.

use std::{ffi::OsString, path::PathBuf, sync::LazyLock};

use clap::{Args, ValueEnum, builder::PossibleValue};
use norn_abi::control::StrategyKind;

use super::{Batch, Functions, Limits, MemoryArg};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: the program's own. 1 also if norn ended the program (deadlock, livelock, \
                  memory error), if the check failed, or if one of several runs failed; 3 if the \
                  program was not built with norn.\n\n\
                  Examples:\n  norn run --seed 7 -- ./prog\n  \
                  norn run --strategy pct --depth 3 --seed 1 --save clip.json -- ./prog\n  \
                  norn run --times 1000 -j 8 --save clip.json -- ./prog\n  \
                  norn run --memory c11 --times 1000 -- ./prog\n  \
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
    /// Which values atomic loads may return
    #[arg(long, value_enum, default_value_t, value_name = "MODEL", help_heading = "Schedule")]
    pub(crate) memory: MemoryArg,
    /// Write the run as a clip for `norn replay`; with --times, the first run that failed
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Record input from outside, standard input included, in the trace and in the clip; `norn replay`
    /// feeds it back
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// Also collect interleaving patterns while the program runs, as `norn record --collect` does
    #[arg(long)]
    pub(crate) collect: bool,
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

/// A strategy that needs no schedule, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrategyArg(StrategyKind);

impl StrategyArg {
    pub(crate) fn kind(self) -> StrategyKind {
        self.0
    }
}

impl Default for StrategyArg {
    fn default() -> Self {
        Self(StrategyKind::Random)
    }
}

impl ValueEnum for StrategyArg {
    fn value_variants<'a>() -> &'a [Self] {
        static SELECTABLE: LazyLock<Vec<StrategyArg>> = LazyLock::new(|| {
            let selectable = StrategyKind::ALL.iter().filter(|it| it.is_selectable());
            selectable.copied().map(StrategyArg).collect()
        });
        &SELECTABLE
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}
