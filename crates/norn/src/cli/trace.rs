//! Commands that read a trace: `norn info`, `norn dump` and `norn export`.

use std::path::PathBuf;

use clap::Args;
use norn_trace::{Run as RecordedRun, TraceError};

use super::Format;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn info run.norn\n  norn info --format json run.norn")]
pub(crate) struct Info {
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn dump run.norn | less\n  \
                        norn dump --thread T0.1 run.norn\n  norn dump --sync run.norn")]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    /// Only events of this thread, for example T0.1
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// Only synchronisation: no plain memory accesses
    #[arg(long)]
    pub(crate) sync: bool,
    /// Print the call stack of each event
    #[arg(long)]
    pub(crate) stacks: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  norn export run.norn > run.std")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) trace: TraceArg,
}

#[derive(Args, Debug)]
pub(crate) struct TraceArg {
    /// Folder of the trace; for `info`, `dump` and `predict` also a file in RAPID's
    /// STD format
    #[arg(value_name = "TRACE")]
    pub(crate) folder: PathBuf,
    /// Number of the process, if there are several [default: the first with the most threads]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) process: Option<u32>,
}

impl TraceArg {
    /// The process that the user chose, or the one with the most threads.
    pub(crate) fn process(&self) -> Result<u32, TraceError> {
        self.process.map_or_else(|| Ok(RecordedRun::open(&self.folder)?.busiest()), Ok)
    }
}
