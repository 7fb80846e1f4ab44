//! Options that say what counts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What counts of what was found.
#[derive(Args, Debug)]
pub(crate) struct Counting {
    /// What makes the exit status 1, apart from failures that were observed
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) suppressions: Suppressions,
    /// What is in this file is known and does not count
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write what counts to this file; from then on it is known
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<PathBuf>,
}

/// What the user does not want to hear of.
#[derive(Args, Debug)]
pub(crate) struct Suppressions {
    #[arg(
        long = "suppressions",
        value_name = "FILE",
        help = "Suppress what the lines of this file name, as ThreadSanitizer does: `race:function`, \
                `atomicity:file.c`, `*:variable`"
    )]
    pub(crate) files: Vec<PathBuf>,
    /// Name the suppressions that were not needed, too
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Failures, and data races
    #[default]
    Harmful,
    /// Also when the program prints something else than in the recorded run
    Output,
    /// All that is confirmed
    Any,
}
