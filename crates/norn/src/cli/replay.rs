//! `norn replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Batch, Limits};

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn replay clip.json\n  \
                        norn replay --after stop -o run.norn clip.json\n  \
                        norn replay --times 1000 clip.json\n  \
                        norn replay clip.json -- ./other-build args\n  \
                        norn replay --gdb clip.json\n  \
                        norn replay --gdb clip.json -- -batch -ex run -ex bt\n\n\
                        docs/schedules.md says how a clip is written by hand.")]
pub(crate) struct Replay {
    /// The clip
    #[arg(value_name = "CLIP")]
    pub(crate) clip: PathBuf,
    /// What comes after the end of the schedule
    #[arg(long, value_enum, default_value_t)]
    pub(crate) after: AfterArg,
    /// Run the program in gdb: stops and steps do not change the order of its threads
    #[arg(long, conflicts_with_all = ["times", "check"])]
    pub(crate) gdb: bool,
    /// Keep the trace in this folder; of many runs, one of each kind
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) batch: Batch,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Another program than the clip's, and its arguments; it runs in the current folder. With
    /// --gdb: arguments for gdb
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) rest: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum AfterArg {
    /// The threads go on in turn
    #[default]
    Fair,
    /// Nobody decides any more
    Free,
    /// The program is ended
    Stop,
}
