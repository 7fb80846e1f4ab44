//! `norn hunt`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use norn_hunt::CandidateSource;

use super::{Counting, Forcing, KindArg, MemoryArg, Search};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 nothing harmful, 1 something harmful was confirmed or observed, 2 usage \
                  error or error of norn, 3 the program was not built with norn.\n\n\
                  Examples:\n  norn hunt -- ./prog args\n  norn hunt prog.c\n  \
                  norn hunt --budget 500 -j 8 --format json -- ./prog\n  \
                  norn hunt --time 10m --stop-at-first --format jsonl -- ./prog\n  \
                  norn hunt --atomic-set queue.first,queue.count -- ./prog\n  \
                  norn hunt --suppressions tsan.supp -- ./prog\n  \
                  norn hunt --write-baseline known.json -- ./prog\n  \
                  norn hunt --baseline known.json -- ./prog\n  \
                  norn hunt --store postgres://norn@db/prog -- ./prog\n  \
                  norn hunt --store postgres://norn@db/prog --worker -j 2"
)]
pub(crate) struct Hunt {
    /// Number of runs under random schedules, in between and when there are no candidates left
    #[arg(long, default_value_t = 60, value_name = "NUMBER", help_heading = "Search")]
    pub(crate) explore: usize,
    /// Where candidates come from
    #[arg(long, value_enum, default_value_t, help_heading = "Search")]
    pub(crate) from: FromArg,
    /// Maximum number of dependence steps from a visible failure back to the reads that decide it; 0 to try
    /// candidates without regard to failures
    #[arg(long, default_value_t = norn_sites::DISTANCE, value_name = "N", help_heading = "Search")]
    pub(crate) distance: u32,
    /// Only visible failures of this kind; may be repeated
    #[arg(long, value_enum, value_name = "KIND", help_heading = "Search")]
    pub(crate) failure: Vec<KindArg>,
    /// Also reads at which another order can break one of these invariants: a file of `norn learn`
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) invariants: Option<PathBuf>,
    /// Which values atomic loads may return in runs under random schedules
    #[arg(long, value_enum, default_value_t, value_name = "MODEL", help_heading = "Search")]
    pub(crate) memory: MemoryArg,
    #[command(flatten)]
    pub(crate) search: Search,
    #[command(flatten)]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) forcing: Forcing,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum FromArg {
    /// All analyses; what can lead to a visible failure is tried first
    #[default]
    All,
    /// Only reads that decide a visible failure and can see something else
    Failures,
}

impl From<FromArg> for CandidateSource {
    fn from(from: FromArg) -> Self {
        match from {
            FromArg::All => CandidateSource::All,
            FromArg::Failures => CandidateSource::Failures,
        }
    }
}
