//! `norn predict`.

use clap::Args;

use super::{ReportFormat, Search, Suppressions, TraceArg, report_format};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  norn record -- ./prog\n  norn predict run.norn\n  norn predict other_tool.std\n  \
                        norn predict --suppressions tsan.supp run.norn\n  \
                        norn predict --property auth.norn run.norn"
)]
pub(crate) struct Predict {
    /// Report which properties of this file the trace violates or could violate, instead of looking for
    /// patterns; or the name of a built-in property
    #[arg(long, value_name = "PROPERTIES")]
    pub(crate) property: Vec<String>,
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    #[command(flatten)]
    pub(crate) search: Search,
    /// Maximum number of candidates for which schedules are made, in the order in which a hunt would
    /// try them; the others are listed as not examined
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) schedules: usize,
    #[command(flatten)]
    pub(crate) suppressions: Suppressions,
    /// Output format
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format(), env = "NORN_FORMAT")]
    pub(crate) format: ReportFormat,
}
