//! Options of commands that force schedules on a program: `norn hunt` and `norn check`.

use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf, thread::available_parallelism};

use clap::{Args, builder::Resettable};

use super::{Limits, ReportFormat, report_format};

#[derive(Args, Debug)]
#[command(next_help_heading = "Runs")]
pub(crate) struct Forcing {
    /// Folder for the recorded run and the clips
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Maximum number of executions
    #[arg(long, default_value = "200", value_name = "NUMBER", env = "NORN_BUDGET")]
    pub(crate) budget: NonZeroUsize,
    /// Number of runs in parallel [default: number of processors]
    #[arg(short, long, value_name = "NUMBER", env = "NORN_JOBS")]
    jobs: Option<NonZeroUsize>,
    /// Number of occurrences of a candidate to try, at the same source locations, before giving up
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    pub(crate) instances: usize,
    /// Record input from outside, standard input included, in runs that are not forced, and feed it back
    /// in forced runs and in replays of the clips
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// Output format
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format(), env = "NORN_FORMAT")]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Program and its arguments; or a C or C++ source file, which is compiled first
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_name = "PROGRAM",
        help_heading = Resettable::Reset
    )]
    pub(crate) command: Vec<OsString>,
}

impl Forcing {
    /// Number of runs in parallel.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}
