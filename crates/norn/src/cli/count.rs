//! Options that decide which findings count.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which findings count.
#[derive(Args, Debug)]
#[command(next_help_heading = "Findings that count")]
pub(crate) struct Counting {
    /// Which confirmed findings make the exit status 1; observed failures always do
    #[arg(long, value_enum, default_value_t, value_name = "WHAT", env = "NORN_FAIL_ON")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) suppressions: Suppressions,
    /// File with known findings, which do not count
    #[arg(long, value_name = "FILE", env = "NORN_BASELINE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the findings that count to a new baseline file
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// Findings to suppress.
#[derive(Args, Debug)]
#[command(next_help_heading = "Findings that count")]
pub(crate) struct Suppressions {
    #[arg(
        long = "suppressions",
        value_name = "FILE",
        env = "NORN_SUPPRESSIONS",
        help = "File with suppressions in ThreadSanitizer's format: `race:function`, \
                `atomicity:file.c`, `*:variable` (can be repeated; -v lists unused ones)"
    )]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Failures and data races
    #[default]
    Harmful,
    /// Also findings whose output differs from the recorded run
    Output,
    /// All confirmed findings
    Any,
}
