//! Options of commands that force schedules on a program: `norn hunt` and `norn check`.

use std::{
    ffi::OsString,
    num::NonZeroUsize,
    path::PathBuf,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use clap::{
    Args,
    builder::{FalseyValueParser, Resettable},
};

use super::{Limits, ReportFormat, Sharing, duration, report_format};

#[derive(Args, Debug)]
#[command(next_help_heading = "Runs")]
pub(crate) struct Forcing {
    /// Folder for the recorded run and the clips
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Maximum number of executions
    #[arg(long, default_value = "200", value_name = "NUMBER", env = "NORN_BUDGET")]
    pub(crate) budget: NonZeroUsize,
    /// Maximum time of the search, such as 90s, 10m or 2h; what is found until then is reported
    #[arg(long, value_name = "TIME", value_parser = duration::parse, env = "NORN_TIME")]
    pub(crate) time: Option<Duration>,
    /// End the search at the first harmful finding
    #[arg(long, env = "NORN_STOP_AT_FIRST", value_parser = FalseyValueParser::new())]
    pub(crate) stop_at_first: bool,
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
    /// Write the report also as a page to read in a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) sharing: Sharing,
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
    /// When the search must end, if it begins now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.time.and_then(|it| Instant::now().checked_add(it))
    }

    /// Number of runs in parallel.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs.or_else(|| available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}
