//! `norn report`.

use std::path::PathBuf;

use clap::Args;

use super::{ReportFormat, report_format};

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn report run.norn --html report.html\n  \
                        norn report run.norn --format sarif -o norn.sarif\n  \
                        norn report run.norn --format github")]
pub(crate) struct Report {
    /// Folder in which `norn hunt` or `norn check` left its report; or a file that `--format json` or
    /// `--format jsonl` wrote
    #[arg(value_name = "REPORT")]
    pub(crate) path: PathBuf,
    /// Output format
    #[arg(long, default_value = ReportFormat::TEXT, value_parser = report_format(), env = "NORN_FORMAT")]
    pub(crate) format: ReportFormat,
    /// File to write to, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write a page to read in a browser: short for `--format html -o FILE`
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) html: Option<PathBuf>,
}
