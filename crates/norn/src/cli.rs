//! The command line: one file per command, and one per group of options that commands share.

mod batch;
mod build;
mod count;
mod force;
mod format;
mod hunt;
mod limit;
mod name;
mod predict;
mod property;
mod record;
mod replay;
mod run;
mod search;
mod trace;

use clap::{Parser, Subcommand};

pub(crate) use self::{
    batch::Batch,
    build::{Build, Compiler},
    count::{Counting, FailOn, Suppressions},
    force::Forcing,
    format::{Format, ReportFormat, report_format},
    hunt::Hunt,
    limit::Limits,
    predict::Predict,
    property::{Check, Property},
    record::{Functions, Record},
    replay::{AfterArg, Replay},
    run::{Run, StrategyArg},
    search::Search,
    trace::{Dump, Export, Info, TraceArg},
};

/// Find concurrency bugs that a run did not show, and prove them on the real program.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit status: 0 nothing harmful found, 1 something harmful happened, 2 wrong usage or\n\
                  an error of norn, 3 nothing that could be recorded. `norn record` and `norn run`\n\
                  pass the subject's status on; `norn run` exits with 1 when it had to end the\n\
                  subject (deadlock, livelock, hang, memory error) or its check failed, and of many\n\
                  runs when one failed. `norn replay` exits with 1 when the failure happened again\n\
                  (of many runs: in one of them), with 0 when it did not.\n\n\
                  Examples:\n  norn build make\n  \
                  norn record -o run.norn -- ./prog args\n  norn info run.norn\n  norn dump run.norn\n  \
                  norn run --seed 7 --save clip.json -- ./prog\n  norn replay clip.json"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a build, with Norn's hooks in whatever it compiles
    Build(Build),
    /// Compile C as the usual compiler does, with Norn's hooks (all arguments are the compiler's)
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile C++ as the usual compiler does, with Norn's hooks
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    /// Find concurrency bugs in a program and prove them: record, predict, force, report
    Hunt(Hunt),
    /// Say what a trace allows, without running the program: candidates and schedules
    Predict(Predict),
    /// Check properties of your own against a program: record, predict, force, report
    Check(Check),
    /// Lint property files, and list or print the built-in properties
    #[command(subcommand)]
    Property(Property),
    /// Print the patterns that `norn hunt` and `norn predict` look for
    Patterns,
    /// Run a program and record what its threads do
    Record(Record),
    /// Run a program and decide which of its threads goes next, recording what they do
    Run(Run),
    /// Run a program as a clip says: the same threads in the same order
    Replay(Replay),
    /// Say what is in a trace: threads, events, modules, losses, how the run ended
    Info(Info),
    /// Print the events of a trace, one a line
    Dump(Dump),
    /// Write a trace in RAPID's STD format, for other tools
    Export(Export),
    /// Print `norn.h`, by which a program marks events and atomic regions
    Header,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
