//! The command line: one file per command, and one per group of options that commands share.

mod batch;
mod build;
mod campaign;
mod cargo;
mod count;
mod doctor;
mod duration;
mod exit_codes;
mod force;
mod format;
mod generate;
mod global;
mod hunt;
mod learn;
mod limit;
mod localize;
mod memory;
mod name;
mod parse;
mod predict;
mod property;
mod record;
mod replay;
mod report;
mod run;
mod search;
mod share;
mod show;
mod sites;
mod trace;

use clap::{Parser, Subcommand};

pub(crate) use self::{
    batch::Batch,
    build::{Build, Compiler},
    campaign::{Campaign, CampaignMerge, CampaignShow},
    cargo::{Action, Cargo},
    count::{Counting, FailOn, Suppressions},
    doctor::Doctor,
    duration::parse as duration,
    exit_codes::EXIT_CODES,
    force::Forcing,
    format::{Format, ReportFormat, ranking_format, report_format},
    generate::{Completions, Man},
    global::{ColorArg, Global},
    hunt::Hunt,
    learn::Learn,
    limit::Limits,
    localize::{FormulaArg, Localize},
    memory::MemoryArg,
    parse::{choices, command, parse},
    predict::Predict,
    property::{Check, Property},
    record::{Functions, Record},
    replay::{AfterArg, Expect, Replay},
    report::Report,
    run::Run,
    search::Search,
    share::Sharing,
    show::Show,
    sites::{KindArg, Sites},
    trace::{Dump, Export, Info, TraceArg},
};

/// Find concurrency bugs that a run did not show, and prove them on the real program.
#[derive(Debug, Parser)]
#[command(
    name = "norn",
    version,
    after_help = "Exit status: 0 nothing harmful found, 1 something harmful happened, 2 usage error or \
                  error of norn, 3 the job could not be done. `norn help exit-codes` has the details.\n\n\
                  Options have defaults in norn.toml and in environment variables: see \
                  docs/configuration.md.\n\n\
                  Examples:\n  norn hunt prog.c\n  norn build make && norn hunt -- ./prog args\n  \
                  norn replay run.norn/clips/1.json\n  norn record -o run.norn -- ./prog args\n  \
                  norn info run.norn\n  norn doctor"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a build command with instrumenting compilers
    Build(Build),
    /// Compile C with instrumentation (all arguments are the compiler's)
    #[command(disable_help_flag = true)]
    Cc(Compiler),
    /// Compile C++ with instrumentation (all arguments are the compiler's)
    #[command(name = "c++", disable_help_flag = true)]
    Cxx(Compiler),
    /// Compile Rust with instrumentation (all arguments are the compiler's)
    #[command(disable_help_flag = true)]
    Rustc(Compiler),
    /// Build Rust packages with instrumentation, and hunt in their tests and programs (`cargo norn`)
    Cargo(Cargo),
    /// Find concurrency bugs in a program and confirm them: record, predict, force, report
    Hunt(Hunt),
    /// List the candidates and schedules of a trace, without running the program
    Predict(Predict),
    /// Learn what holds at the reads of shared variables in passing runs
    Learn(Learn),
    /// Rank the interleavings that make some runs of a program fail
    Localize(Localize),
    /// Show and merge stored campaigns of `norn localize`
    #[command(subcommand)]
    Campaign(Campaign),
    /// Check properties of your own against a program: record, predict, force, report
    Check(Check),
    /// Lint property files, and list or print the built-in properties
    #[command(subcommand)]
    Property(Property),
    /// Print the patterns that `norn hunt` and `norn predict` look for
    Patterns,
    /// Explain a name from a report: a class or kind of bug, a verdict, a consequence
    Explain {
        /// The name; without one, all names are listed
        name: Option<String>,
    },
    /// Run a program and record the events of its threads
    Record(Record),
    /// Run a program under a chosen schedule, and record it
    Run(Run),
    /// Run a program under the schedule of a clip
    Replay(Replay),
    /// Write the report of a hunt or check as a page, as SARIF or in another format
    Report(Report),
    /// Show the story of a clip, without running its program
    Show(Show),
    /// List where a program can visibly fail, and the shared reads that decide whether it does
    Sites(Sites),
    /// Summarize a trace: threads, events, modules, losses, how the run ended
    Info(Info),
    /// Print the events of a trace, one per line
    Dump(Dump),
    /// Write a trace in RAPID's STD format, for other tools
    Export(Export),
    /// Print `norn.h`, with which a program marks events and atomic regions
    Header,
    /// Check whether this machine can run norn
    Doctor(Doctor),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Write the manual pages
    Man(Man),
    /// Explain the exit statuses
    #[command(long_about = EXIT_CODES)]
    ExitCodes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_definition_is_valid() {
        command().debug_assert();
    }
}
