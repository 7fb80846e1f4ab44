//! `norn replay`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};

use super::{Batch, Limits};

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 1 the expected failure happened again (with --times: in at least one run), 0 \
                  the schedule was followed and the failure did not happen, 3 the schedule could not be \
                  followed (with --times: in no run), so nothing was shown. A clip that expects no \
                  particular failure expects any. With --expect: 0 it is as expected, 1 it is not, 3 \
                  nothing was shown.\n\n\
                  Examples:\n  norn replay clip.json\n  \
                  norn replay --after stop -o run.norn clip.json\n  \
                  norn replay --times 1000 clip.json\n  \
                  norn replay clip.json -- ./other-build args\n  \
                  norn replay --expect fixed clip.json\n  \
                  norn replay --gdb clip.json\n  \
                  norn replay --gdb clip.json -- -batch -ex run -ex bt\n\n\
                  docs/schedules.md describes how to write a clip by hand."
)]
pub(crate) struct Replay {
    /// Clip to replay
    #[arg(value_name = "CLIP")]
    pub(crate) clip: PathBuf,
    /// What happens after the end of the schedule
    #[arg(long, value_enum, default_value_t)]
    pub(crate) after: AfterArg,
    /// What the clip is to show as a regression test. `fixed`: the failure does not happen, although the
    /// threads reach the events that led to it. `fails`: it happens
    #[arg(long, value_enum, value_name = "RESULT", conflicts_with_all = ["gdb", "times"])]
    pub(crate) expect: Option<Expect>,
    /// Run the program in gdb; breakpoints and steps do not change the order of its threads
    #[arg(long, conflicts_with_all = ["times", "check"])]
    pub(crate) gdb: bool,
    /// Keep the trace in this folder; with --times, one of each kind
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Let the clip set variables by which libc loads other code into the program, such as `LD_PRELOAD`;
    /// only for clips that you trust
    #[arg(long)]
    pub(crate) allow_loader_variables: bool,
    #[command(flatten)]
    pub(crate) batch: Batch,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// Program to run instead of the clip's, and its arguments; it runs in the current folder. With
    /// --gdb: arguments of gdb
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) rest: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Expect {
    /// The failure does not happen, and the events that led to it are reached
    Fixed,
    /// The failure happens
    Fails,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum AfterArg {
    /// The threads continue in turn
    #[default]
    Fair,
    /// The operating system schedules the threads
    Free,
    /// The program ends
    Stop,
}
