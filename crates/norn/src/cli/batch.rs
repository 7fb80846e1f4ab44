//! Many runs of one program, for `norn run` and `norn replay`.

use std::num::{NonZeroU64, NonZeroUsize};

use clap::Args;

use super::{ReportFormat, report_format};

/// Many runs, and what a person says of one.
#[derive(Args, Debug)]
pub(crate) struct Batch {
    /// Run it so many times, side by side, without input and with its output kept from sight, and
    /// say what came of it: `run` with one seed after another, `replay` always in the same way
    #[arg(long, value_name = "NUMBER")]
    pub(crate) times: Option<NonZeroU64>,
    /// With --times: how many runs at once [default: as many as there are processors]
    #[arg(short, long, value_name = "NUMBER", requires = "times")]
    pub(crate) jobs: Option<NonZeroUsize>,
    #[arg(
        long,
        value_name = "COMMAND",
        help = "When the program has ended by itself, ask this command of the shell whether all is \
                well: the program's output is in the file $NORN_STDOUT, its exit status is \
                $NORN_STATUS"
    )]
    pub(crate) check: Option<String>,
    /// How to print what came of it; `json` is the last line of standard output
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format())]
    pub(crate) format: ReportFormat,
}
