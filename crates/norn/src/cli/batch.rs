//! Repeated runs of one program, for `norn run` and `norn replay`.

use std::num::{NonZeroU64, NonZeroUsize};

use clap::Args;

use super::{ReportFormat, report_format};

/// Repeated runs, and the user's own check of each.
#[derive(Args, Debug)]
#[command(next_help_heading = "Repeated runs")]
pub(crate) struct Batch {
    #[arg(
        long,
        value_name = "NUMBER",
        help = "Number of runs: `run` uses one seed after another, `replay` the same schedule each \
                time. They run in parallel, without input; their output is not shown, only a summary"
    )]
    pub(crate) times: Option<NonZeroU64>,
    /// Number of runs in parallel, with --times [default: number of processors]
    #[arg(short, long, value_name = "NUMBER", env = "NORN_JOBS")]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[arg(
        long,
        value_name = "COMMAND",
        help = "Shell command that decides whether a run that ended by itself was correct: the \
                program's output is in the file $NORN_STDOUT, its exit status is $NORN_STATUS"
    )]
    pub(crate) check: Option<String>,
    /// Output format of the result; `json` is the last line of standard output
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format())]
    pub(crate) format: ReportFormat,
}
