//! How a program is run to prove something, on the command line.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, thread::available_parallelism};

use clap::Args;

use super::{Limits, ReportFormat, report_format};

#[derive(Args, Debug)]
pub(crate) struct Forcing {
    /// Folder for the recorded run and the clips
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Run the program so often at most
    #[arg(long, default_value = "200", value_name = "NUMBER")]
    pub(crate) budget: NonZeroUsize,
    /// So many runs side by side [default: one for each processor]
    #[arg(short, long, value_name = "NUMBER")]
    jobs: Option<NonZeroUsize>,
    /// Try so many occurrences of a candidate, at the same places, before giving it up
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    pub(crate) instances: usize,
    /// Keep what the program gets from outside in runs that are not forced, standard input included,
    /// and feed it back in those that are, and in replays of the clips
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// How to print
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format())]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The program and its arguments; or a C or C++ file, which is compiled first
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

impl Forcing {
    /// How many runs there are side by side.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}
