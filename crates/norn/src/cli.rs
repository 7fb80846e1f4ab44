//! The command line, nothing else.

mod count;
mod force;
mod name;
mod property;
mod search;

use std::{
    ffi::OsString,
    num::{NonZeroU64, NonZeroUsize},
    path::PathBuf,
};

use clap::{Args, Parser, Subcommand, ValueEnum};
use norn_model::Order;
use norn_trace::{Run as RecordedRun, Strategy, TraceError};

pub(crate) use self::{
    count::{Counting, FailOn, Suppressions},
    force::Forcing,
    property::{Check, Property},
    search::Search,
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

#[derive(Args, Debug)]
#[command(
    after_help = "The compilers that are on the PATH go through `norn cc` and `norn c++`, whatever the\n\
                  build calls them: gcc, clang++, gcc-12 …; only one that is named by its path does\n\
                  not. What was compiled before is not compiled again: clean first. The exit status\n\
                  is the build's.\n\n\
                  Examples:\n  norn build make -j4\n  norn build ./configure && norn build make\n  \
                  norn build sh -c 'cmake -B out && cmake --build out'"
)]
pub(crate) struct Build {
    /// The command that builds, and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<OsString>,
}

/// Taken over before these arguments are read; here for `norn --help`.
#[derive(Args, Debug)]
pub(crate) struct Compiler {
    /// The compiler's arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Exit status: 0 nothing harmful, 1 something harmful was confirmed or observed.\n\n\
                        Examples:\n  norn hunt -- ./prog args\n  norn hunt prog.c\n  \
                        norn hunt --budget 500 -j 8 --format json -- ./prog\n  \
                        norn hunt --atomic-set queue.first,queue.count -- ./prog\n  \
                        norn hunt --suppressions tsan.supp -- ./prog\n  \
                        norn hunt --write-baseline known.json -- ./prog\n  \
                        norn hunt --baseline known.json -- ./prog"
)]
pub(crate) struct Hunt {
    /// Now and then, and when nothing is left to try: run so often in all under random schedules, to see
    /// what happens
    #[arg(long, default_value_t = 60, value_name = "NUMBER")]
    pub(crate) explore: usize,
    #[command(flatten)]
    pub(crate) search: Search,
    #[command(flatten)]
    pub(crate) counting: Counting,
    #[command(flatten)]
    pub(crate) forcing: Forcing,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn record -- ./prog\n  norn predict run.norn\n  \
                        norn predict --suppressions tsan.supp run.norn\n  \
                        norn predict --property auth.norn run.norn")]
pub(crate) struct Predict {
    /// Report which properties of this file the trace violates or could violate, instead of looking for
    /// patterns; or the name of a built-in property
    #[arg(long, value_name = "PROPERTIES")]
    pub(crate) property: Vec<String>,
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    #[command(flatten)]
    pub(crate) search: Search,
    #[command(flatten)]
    pub(crate) suppressions: Suppressions,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn record -- ./prog\n  \
                        norn record -o run.norn --order global -- ./server --port 7000")]
pub(crate) struct Record {
    /// Folder for the trace
    #[arg(short, long, default_value = "run.norn", value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// `local`: each thread in order, and all synchronisation. `global`: one total order, slower
    #[arg(long, value_enum, default_value_t)]
    pub(crate) order: OrderArg,
    /// Do not keep the values that were read and written
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Stop recording, not the program, when the trace has this size (K, M, G)
    #[arg(long, default_value = "8G", value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: u64,
    #[command(flatten)]
    pub(crate) functions: Functions,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn run --seed 7 -- ./prog\n  \
                        norn run --strategy pct --depth 3 --seed 1 --save clip.json -- ./prog\n  \
                        norn run --times 1000 -j 8 --save clip.json -- ./prog\n  \
                        norn run --record-inputs --save clip.json -- ./server\n  \
                        norn run --times 50 --check 'grep -q done \"$NORN_STDOUT\"' -- ./prog")]
pub(crate) struct Run {
    /// How the next thread is chosen
    #[arg(long, value_enum, default_value_t)]
    pub(crate) strategy: StrategyArg,
    /// Feeds everything that is random: the same seed, the same run
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    pub(crate) seed: u64,
    /// For `pct`: how many orders of events a bug needs, at most
    #[arg(long, default_value_t = 3, value_name = "NUMBER")]
    pub(crate) depth: u32,
    /// For `round-robin`: events of a turn; for `random`: their mean number (0: the seed chooses)
    #[arg(long, default_value_t = 0, value_name = "EVENTS")]
    pub(crate) quantum: u32,
    /// For `pct`: how many events the program has, about; if not given, a run that does not count
    /// tells
    #[arg(long, value_name = "EVENTS")]
    pub(crate) expected: Option<u64>,
    /// Write what happened as a clip, which `norn replay` shows again; of many runs the first that
    /// failed
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Keep what the program gets from outside, standard input included, with the trace and the
    /// clip: `norn replay` feeds it back
    #[arg(long)]
    pub(crate) record_inputs: bool,
    /// Folder for the trace [default: run.norn]; of many runs, for one of each kind [default: none]
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) batch: Batch,
    /// With --times: end with the first failure
    #[arg(long, requires = "times")]
    pub(crate) until_failure: bool,
    #[command(flatten)]
    pub(crate) functions: Functions,
    #[command(flatten)]
    pub(crate) limits: Limits,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) command: Vec<OsString>,
}

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
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Which functions' calls are recorded.
#[derive(Args, Debug)]
pub(crate) struct Functions {
    /// Record calls of the functions of this name, with arguments and result; * stands for any text
    #[arg(long = "function", value_name = "NAME")]
    pub(crate) names: Vec<String>,
}

/// What a controlled run must not go beyond.
#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// Count the run as hanging after so many events
    #[arg(long, default_value_t = 1_000_000_000, value_name = "EVENTS")]
    pub(crate) max_steps: u64,
    /// Count the run as hanging after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
    /// Do not keep the values that were read and written
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Stop recording, not the program, when the trace has this size (K, M, G)
    #[arg(long, default_value = "8G", value_name = "SIZE", value_parser = size)]
    pub(crate) max_size: u64,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn info run.norn\n  norn info --format json run.norn")]
pub(crate) struct Info {
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  norn dump run.norn | less\n  \
                        norn dump --thread T0.1 run.norn\n  norn dump --sync run.norn")]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) trace: TraceArg,
    /// Only this thread, by name (T0.1)
    #[arg(long, value_name = "NAME")]
    pub(crate) thread: Option<String>,
    /// Only what is not a plain memory access
    #[arg(long)]
    pub(crate) sync: bool,
    /// With each event the calls that led to it
    #[arg(long)]
    pub(crate) stacks: bool,
    /// How to print
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
    /// The trace's folder; for `info` and `dump` also a file in RAPID's STD format
    #[arg(value_name = "TRACE")]
    pub(crate) folder: PathBuf,
    /// Which process, if there are several [default: the first of those with the most threads]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) process: Option<u32>,
}

impl TraceArg {
    /// The process that was asked for, or is of interest.
    pub(crate) fn process(&self) -> Result<u32, TraceError> {
        self.process.map_or_else(|| Ok(RecordedRun::open(&self.folder)?.busiest()), Ok)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(crate) enum OrderArg {
    #[default]
    Local,
    Global,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StrategyArg {
    /// Any thread, for a random number of events
    #[default]
    Random,
    /// By priorities that change at a few random events
    Pct,
    /// By a random priority of each event
    Pos,
    /// In turn
    RoundRobin,
}

impl From<StrategyArg> for Strategy {
    fn from(strategy: StrategyArg) -> Self {
        match strategy {
            StrategyArg::Random => Strategy::Random,
            StrategyArg::Pct => Strategy::Pct,
            StrategyArg::Pos => Strategy::Pos,
            StrategyArg::RoundRobin => Strategy::RoundRobin,
        }
    }
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

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Local => Order::Local,
            OrderArg::Global => Order::Global,
        }
    }
}

/// A number of bytes: `500M`, `2G`, `65536`.
fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'm' | 'M')) => (&text[..at], 20),
        Some((at, 'g' | 'G')) => (&text[..at], 30),
        _ => (text, 0),
    };
    let number: u64 =
        digits.parse().map_err(|_| "expected a number of bytes such as 500M or 2G")?;
    number.checked_mul(1 << shift).ok_or_else(|| "is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(size("65536"), Ok(65536));
        assert_eq!(size("500M"), Ok(500 << 20));
        assert_eq!(size("2g"), Ok(2 << 30));
        assert!(size("").is_err());
        assert!(size("12 apples").is_err());
        assert!(size("99999999999G").is_err());
    }
}
