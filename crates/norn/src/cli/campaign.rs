//! `norn campaign`.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand};

use super::{FormulaArg, ReportFormat, ranking_format};

#[derive(Debug, Subcommand)]
pub(crate) enum Campaign {
    /// Print the ranking of a stored campaign, and how far it is
    Show(CampaignShow),
    /// Write the runs of several campaigns of one command to a new store
    Merge(CampaignMerge),
}

#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0 if no run failed, 1 if one did.\n\n\
                        Examples:\n  norn campaign show flaky.db\n  \
                        norn campaign show postgres://norn@db/flaky --format json")]
pub(crate) struct CampaignShow {
    /// File or postgres:// address of the campaign
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// Formula of the scores
    #[arg(long, value_enum, default_value_t, value_name = "FORMULA")]
    pub(crate) score: FormulaArg,
    /// Number of patterns that are shown for each failure
    #[arg(long, default_value = "5", value_name = "NUMBER")]
    pub(crate) top: NonZeroUsize,
    /// Output format
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = ranking_format(), env = "NORN_FORMAT")]
    pub(crate) format: ReportFormat,
}

#[derive(Args, Debug)]
#[command(after_help = "Exit status: 0 if the store was written, 2 if not.\n\n\
                        Examples:\n  norn campaign merge monday.db tuesday.db -o both.db")]
pub(crate) struct CampaignMerge {
    /// Files or postgres:// addresses of the campaigns; of runs with the same seed, the first counts
    #[arg(value_name = "STORE", required = true, num_args = 2..)]
    pub(crate) stores: Vec<String>,
    /// File or postgres:// address of the new campaign
    #[arg(short, long, value_name = "STORE")]
    pub(crate) output: String,
}
