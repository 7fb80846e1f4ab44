//! `norn cargo`, which `cargo norn` runs: commands of norn on the programs of a Rust workspace.
//!
//! Each command takes cargo's options, which select what is built and how, and the options of the command of
//! norn that it runs on the result. The latter are defined once, by that command: here they are passed on as
//! words.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, builder::ValueParser,
    parser::ValueSource,
};
use norn_cargo::Build;

use super::{Check, Hunt, Localize, Record, Replay, Run};

/// A command of norn that runs a program.
struct Forwarded {
    name: &'static str,
    about: &'static str,
    /// Adds its options to a command.
    augment: fn(Command) -> Command,
}

/// The commands that run one program of the workspace.
const FORWARDED: [Forwarded; 6] = [
    Forwarded {
        name: "hunt",
        about: "Find concurrency bugs in a program and confirm them",
        augment: Hunt::augment_args,
    },
    Forwarded {
        name: "check",
        about: "Check properties of your own against a program",
        augment: Check::augment_args,
    },
    Forwarded {
        name: "localize",
        about: "Rank the interleavings that make some runs of a program fail",
        augment: Localize::augment_args,
    },
    Forwarded {
        name: "record",
        about: "Run a program and record the events of its threads",
        augment: Record::augment_args,
    },
    Forwarded {
        name: "run",
        about: "Run a program under a chosen schedule, and record it",
        augment: Run::augment_args,
    },
    Forwarded {
        name: "replay",
        about: "Run the rebuilt program of a clip under the schedule of the clip",
        augment: Replay::augment_args,
    },
];

/// Positional arguments with the program to run, which comes from cargo here.
const PROGRAM: [&str; 2] = ["command", "rest"];

/// A command of `cargo norn`.
#[derive(Debug)]
pub(crate) struct Cargo {
    pub(crate) action: Action,
    pub(crate) build: Build,
    /// Options of the command of norn.
    pub(crate) options: Vec<OsString>,
    /// Arguments of the program, or of the test harness.
    pub(crate) rest: Vec<OsString>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Build only.
    Build,
    /// Hunt in each test whose name contains one of these texts.
    Test { filters: Vec<OsString> },
    /// Run the command of norn with this name.
    Forward(&'static str),
}

/// Options of cargo.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cargo options")]
#[allow(dead_code, clippy::struct_excessive_bools, reason = "they are passed to cargo as words")]
struct CargoOptions {
    /// Package to build (can be repeated)
    #[arg(short, long, value_name = "SPEC")]
    package: Vec<String>,
    /// Build all packages of the workspace
    #[arg(long)]
    workspace: bool,
    /// Package to leave out (can be repeated)
    #[arg(long, value_name = "SPEC")]
    exclude: Vec<String>,
    /// The library
    #[arg(long)]
    lib: bool,
    /// A binary (can be repeated)
    #[arg(long, value_name = "NAME")]
    bin: Vec<String>,
    /// All binaries
    #[arg(long)]
    bins: bool,
    /// An example (can be repeated)
    #[arg(long, value_name = "NAME")]
    example: Vec<String>,
    /// All examples
    #[arg(long)]
    examples: bool,
    /// An integration test (can be repeated)
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// All targets that are tests by default
    #[arg(long)]
    tests: bool,
    /// A benchmark (can be repeated)
    #[arg(long, value_name = "NAME")]
    bench: Vec<String>,
    /// All benchmarks
    #[arg(long)]
    benches: bool,
    /// All targets
    #[arg(long)]
    all_targets: bool,
    /// Features to enable (can be repeated)
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Vec<String>,
    /// Enable all features
    #[arg(long)]
    all_features: bool,
    /// Do not enable the default features
    #[arg(long)]
    no_default_features: bool,
    /// Build with optimization
    #[arg(short, long)]
    release: bool,
    /// Profile to build with
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Require that Cargo.lock is up to date
    #[arg(long)]
    locked: bool,
    /// Do not use the network
    #[arg(long)]
    offline: bool,
    /// Like --locked and --offline
    #[arg(long)]
    frozen: bool,
}

/// Options that decide where cargo reads and writes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Cargo options")]
struct CargoPaths {
    /// Path of Cargo.toml
    #[arg(long, value_name = "FILE")]
    manifest_path: Option<PathBuf>,
    /// Folder for builds; programs with hooks are in `norn` below it
    #[arg(long, value_name = "FOLDER", env = "CARGO_TARGET_DIR")]
    target_dir: Option<PathBuf>,
}

impl Args for Cargo {
    fn augment_args(command: Command) -> Command {
        let mut command = command
            .subcommand_required(true)
            .arg_required_else_help(true)
            .subcommand(with_cargo(Command::new("build").about("Build with instrumentation")))
            .subcommand(test());
        for it in FORWARDED {
            command = command.subcommand(forwarded(&it));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Cargo {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, given) = matches.subcommand().ok_or_else(missing)?;
        let paths = CargoPaths::from_arg_matches(given)?;
        let values = |id: &str| match given.try_get_raw(id) {
            Ok(Some(values)) => values.map(OsString::from).collect(),
            _ => Vec::new(),
        };
        let forwarded = FORWARDED.iter().find(|it| it.name == name);
        let (action, options) = match (name, forwarded) {
            ("test", _) => (Action::Test { filters: values("filter") }, words(given, &hunt())),
            (_, Some(it)) => (Action::Forward(it.name), words(given, &options_of(it))),
            _ => (Action::Build, Vec::new()),
        };
        let build = Build {
            tests: name == "test",
            options: words(given, &CargoOptions::augment_args(Command::new(""))),
            manifest: paths.manifest_path,
            target_dir: paths.target_dir,
        };
        Ok(Cargo { action, build, options, rest: values("arguments") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// `cargo norn test`: the options of a hunt, and those of `cargo test`.
fn test() -> Command {
    let filter = Arg::new("filter").num_args(0..).value_name("FILTER");
    let filter = filter
        .value_parser(ValueParser::os_string())
        .help("Hunt in tests whose names contain this");
    let command = Command::new("test").about("Find concurrency bugs in each test").arg(filter);
    let command = command.args(hunt().get_arguments().filter(|it| it.get_id() != "output"));
    with_cargo(command)
        .arg(rest("Arguments of the test harness, such as --ignored or --skip TEXT"))
        .after_help(
            "Each test runs in a process of its own. A test fails if it fails in any run, or if a \
             data race is confirmed in it.\n\n\
             Exit status: 0 nothing harmful, 1 something harmful was found in a test, 2 usage error or \
             error of norn, 3 a test program could not be hunted in.\n\n\
             Examples:\n  cargo norn test\n  cargo norn test -p queue --budget 50 push\n  \
             cargo norn test --release -- --include-ignored",
        )
}

/// The options of `norn hunt`, without its program.
fn hunt() -> Command {
    options_of(&FORWARDED[0])
}

fn forwarded(it: &Forwarded) -> Command {
    let command = Command::new(it.name).about(it.about);
    let command = command.args(options_of(it).get_arguments());
    with_cargo(command).arg(rest("Arguments of the program"))
}

fn options_of(it: &Forwarded) -> Command {
    let all = (it.augment)(Command::new(it.name));
    let is_option = |it: &&Arg| !PROGRAM.contains(&it.get_id().as_str());
    let options: Vec<Arg> = all.get_arguments().filter(is_option).cloned().collect();
    Command::new(it.name).args(options)
}

fn with_cargo(command: Command) -> Command {
    CargoPaths::augment_args(CargoOptions::augment_args(command))
}

fn rest(help: &'static str) -> Arg {
    let arg = Arg::new("arguments").num_args(0..).last(true).value_name("ARGUMENTS");
    arg.value_parser(ValueParser::os_string()).help(help)
}

/// The arguments of a definition that the command line gives, as words for another command line.
fn words(given: &ArgMatches, definition: &Command) -> Vec<OsString> {
    let mut words = Vec::new();
    for arg in definition.get_arguments() {
        let id = arg.get_id().as_str();
        if !matches!(given.try_contains_id(id), Ok(true))
            || given.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let name = arg.get_long().map(|it| format!("--{it}"));
        if let (ArgAction::SetTrue, Some(name)) = (arg.get_action(), &name) {
            words.push(name.into());
            continue;
        }
        for value in given.get_raw(id).into_iter().flatten() {
            let mut word = name.as_ref().map(|it| format!("{it}=").into()).unwrap_or_default();
            OsString::push(&mut word, value);
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Cargo {
        let command = Cargo::augment_args(Command::new("cargo"));
        let matches = command.try_get_matches_from(line.split(' ')).unwrap();
        Cargo::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn options_go_to_cargo_and_to_norn() {
        let cargo =
            parse("cargo hunt -p bank --bin teller -F log --budget 7 --stop-at-first -- -x 1");
        assert_eq!(cargo.action, Action::Forward("hunt"));
        assert_eq!(cargo.build.options, ["--package=bank", "--bin=teller", "--features=log"]);
        assert_eq!(cargo.options, ["--budget=7", "--stop-at-first"]);
        assert_eq!(cargo.rest, ["-x", "1"]);
        assert!(!cargo.build.tests);
    }

    #[test]
    fn tests_have_filters() {
        let cargo = parse("cargo test --release --explore 0 push pop -- --ignored");
        let filters = ["push", "pop"].map(OsString::from).to_vec();
        assert_eq!(cargo.action, Action::Test { filters });
        assert_eq!(cargo.build.options, ["--release"]);
        assert_eq!(cargo.options, ["--explore=0"]);
        assert_eq!(cargo.rest, ["--ignored"]);
        assert!(cargo.build.tests);
    }

    #[test]
    fn positional_arguments_of_norn_are_kept() {
        let cargo = parse("cargo replay --bin teller run.norn/clips/1.json");
        assert_eq!(cargo.options, ["run.norn/clips/1.json"]);
        assert_eq!(cargo.build.options, ["--bin=teller"]);
    }
}
