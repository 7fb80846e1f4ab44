//! Parses the command line, with defaults from the environment and from `norn.toml`.
//!
//! clap gives the command line precedence over environment variables, and these over defaults. So the
//! values of `norn.toml` become defaults of the options before the command line is parsed. The command
//! line itself may name the file, so it is parsed twice.

use std::{ffi::OsString, path::PathBuf};

use clap::{
    Arg, ArgMatches, CommandFactory as _, FromArgMatches as _, ValueEnum as _,
    error::{ContextKind, ContextValue, ErrorKind},
    parser::ValueSource,
};
use norn_cc::RuntimeImage;

use super::{Cli, ColorArg};
use crate::config::{Config, Source};

/// Commands that run a program which `norn.toml` may name.
const FORCING: [&str; 2] = ["hunt", "check"];
/// Commands whose output format `norn.toml` may set.
const REPORTING: [&str; 3] = ["hunt", "check", "predict"];

/// Commands about norn itself, which ignore `norn.toml`.
const UNCONFIGURED: [&str; 3] = ["completions", "man", "exit-codes"];

/// The command line definition of clap.
pub(crate) fn command() -> clap::Command {
    let runtime = RuntimeImage::embedded().id;
    let runtime = runtime.rsplit_once('-').map_or(runtime, |it| it.1);
    let (version, commit) = (env!("CARGO_PKG_VERSION"), env!("BUILD_COMMIT"));
    // Help must not depend on the environment in which it was printed.
    let hide = |arg: Arg| arg.hide_env_values(true);
    Cli::command()
        .version(format!("{version} (commit {commit}, runtime {runtime})"))
        .mut_args(hide)
        .mut_subcommands(move |it| it.mut_args(hide))
}

/// Parses the command line and reads the configuration.
pub(crate) fn parse(words: &[OsString]) -> anyhow::Result<Cli> {
    let first = first_pass(words).inspect_err(|_| color(words))?;
    let config = Config::load(&source(&first))?;
    Ok(second_pass(words, &first, config)?)
}

/// Parses the command line without a configuration, and without requiring arguments that a configuration
/// may give. Help and usage errors come from the full definition, which requires them.
fn first_pass(words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let parsed = command().mut_subcommands(optional).try_get_matches_from(words);
    parsed.map_err(|error| command().try_get_matches_from(words).err().unwrap_or(error))
}

/// Parses the command line with the defaults of a configuration.
fn second_pass(
    words: &[OsString],
    first: &ArgMatches,
    mut config: Config,
) -> Result<Cli, clap::Error> {
    let check = first.subcommand_matches("check");
    if check.is_some_and(|it| matches!(it.try_contains_id("properties"), Ok(true))) {
        // Properties on the command line replace all of the configuration, not only the first.
        config.properties.clear();
    }
    let configured = command().mut_args(|it| global(it, &config));
    let configured = configured.mut_subcommands(|it| subcommand(it, &config));
    // The program of a worker is in the store.
    let is_worker = |it: &ArgMatches| matches!(it.try_get_one("worker"), Ok(Some(true)));
    let is_worker = first.subcommand().is_some_and(|(_, it)| is_worker(it));
    let configured = if is_worker { configured.mut_subcommands(optional) } else { configured };
    let matches = configured.try_get_matches_from(words)?;
    jobs_without_times(&matches)?;
    Cli::from_arg_matches(&matches)
}

/// Makes arguments optional that `norn.toml` may give.
fn optional(command: clap::Command) -> clap::Command {
    if !FORCING.contains(&command.get_name()) {
        return command;
    }
    command.mut_args(|it| if it.is_positional() { it.required(false) } else { it })
}

/// The source of the configuration. The options `--config` and `--no-config` both have precedence over
/// both environment variables.
fn source(matches: &ArgMatches) -> Source {
    let given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let file = matches.get_one::<PathBuf>("config").cloned();
    let none = matches.get_flag("no_config") && (given("no_config") || !given("config"));
    let unused = matches.subcommand_name().is_some_and(|it| UNCONFIGURED.contains(&it));
    match file {
        _ if none || unused => Source::Nothing,
        Some(file) => Source::File(file),
        None => Source::Nearest,
    }
}

fn global(arg: Arg, config: &Config) -> Arg {
    match (arg.get_long(), &config.color) {
        (Some("color"), Some(color)) => arg.default_value(color.clone()),
        _ => arg,
    }
}

fn subcommand(command: clap::Command, config: &Config) -> clap::Command {
    let name = command.get_name().to_owned();
    command.mut_args(|arg| {
        if arg.is_positional() && FORCING.contains(&name.as_str()) {
            return positional(arg, config);
        }
        match arg.get_long() {
            Some("format") if !REPORTING.contains(&name.as_str()) => arg,
            Some("property") => more_properties(arg, &name, config),
            Some(long) => match config.option(long) {
                [] => arg,
                values => arg.default_values(values),
            },
            None => arg,
        }
    })
}

/// The program, and the properties of `norn check`. The properties can be omitted only together with the
/// program: otherwise the program would be parsed as a property.
fn positional(arg: Arg, config: &Config) -> Arg {
    if config.command.is_empty() {
        return arg;
    }
    match (arg.get_id().as_str(), config.properties.first()) {
        ("command", _) => arg.required(false).default_values(&config.command),
        (_, Some(first)) => arg.required(false).default_value(first),
        (_, None) => arg,
    }
}

/// The properties after the first.
fn more_properties(arg: Arg, command: &str, config: &Config) -> Arg {
    match config.properties.as_slice() {
        [_, rest @ ..] if command == "check" && !rest.is_empty() && !config.command.is_empty() => {
            arg.default_values(rest)
        }
        _ => arg,
    }
}

/// Rejects `-j` for a single run, where it has no effect. Environment and configuration may still set it.
fn jobs_without_times(matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name @ ("run" | "replay"), given)) = matches.subcommand() else { return Ok(()) };
    let jobs = given.value_source("jobs") == Some(ValueSource::CommandLine);
    if !jobs || given.contains_id("times") {
        return Ok(());
    }
    let mut command = command();
    command.build();
    let command = command.find_subcommand(name).cloned().unwrap_or(command);
    let mut error = clap::Error::new(ErrorKind::MissingRequiredArgument).with_cmd(&command);
    let missing = ContextValue::Strings(vec!["--times <NUMBER>".to_owned()]);
    error.insert(ContextKind::InvalidArg, missing);
    Err(error)
}

/// Usage errors obey `--color`, although the command line could not be parsed.
fn color(words: &[OsString]) {
    let mut words = words.iter().map_while(|it| it.to_str().filter(|it| *it != "--"));
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => continue,
        };
        if let Some(color) = value.and_then(|it| ColorArg::from_str(it, false).ok()) {
            color.apply();
        }
    }
}

/// The values that an option accepts, if it is a choice.
pub(crate) fn choices(long: &str) -> Vec<String> {
    let command = command();
    let hunt = command.find_subcommand("hunt").into_iter().flat_map(clap::Command::get_arguments);
    let arg = command.get_arguments().chain(hunt).find(|it| it.get_long() == Some(long));
    let values = arg.map(Arg::get_possible_values).unwrap_or_default();
    values.iter().map(|it| it.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::{Check, Command, Forcing, Hunt};

    fn parse(text: &str, words: &str) -> Result<Command, clap::Error> {
        let config = Config::parse(text, Path::new("norn.toml"), Path::new("/project")).unwrap();
        let words: Vec<_> = words.split_whitespace().map(OsString::from).collect();
        second_pass(&words, &first_pass(&words)?, config).map(|it| it.command)
    }

    fn hunt(text: &str, words: &str) -> Hunt {
        match parse(text, words) {
            Ok(Command::Hunt(hunt)) => hunt,
            other => panic!("{other:?}"),
        }
    }

    fn check(text: &str, words: &str) -> Check {
        match parse(text, words) {
            Ok(Command::Check(check)) => check,
            other => panic!("{other:?}"),
        }
    }

    fn program(forcing: &Forcing) -> String {
        let words: Vec<_> = forcing.command.iter().map(|it| it.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn the_command_line_wins_over_the_configuration() {
        let config = "budget = 7\nformat = 'json'\ntimeout = 3\nsuppressions = ['a', 'b']\n";
        let hunt = hunt(config, "norn hunt --budget 9 --suppressions c ./prog");
        assert_eq!(hunt.forcing.budget.get(), 9);
        assert_eq!(hunt.forcing.format.0.name, "json");
        assert_eq!(hunt.forcing.limits.timeout, Some(3));
        assert_eq!(hunt.forcing.time, None);
        assert_eq!(hunt.counting.suppressions.files, [Path::new("c")]);
    }

    #[test]
    fn the_configuration_wins_over_defaults() {
        let hunt = hunt("budget = 7\nsuppressions = ['a', 'b']\n", "norn hunt ./prog");
        assert_eq!(hunt.forcing.budget.get(), 7);
        let files = &hunt.counting.suppressions.files;
        assert_eq!(files, &[Path::new("/project/a"), Path::new("/project/b")]);
        assert!(hunt.forcing.format.is_text());
    }

    #[test]
    fn budgets_can_be_configured() {
        let seconds = |hunt: &Hunt| hunt.forcing.time.map(|it| it.as_secs());
        let config = "time = '10m'\nstop_at_first = true\n";
        let configured = hunt(config, "norn hunt ./prog");
        assert_eq!((seconds(&configured), configured.forcing.stop_at_first), (Some(600), true));
        let given = hunt("time = '10m'", "norn hunt --time 5s --stop-at-first ./prog");
        assert_eq!((seconds(&given), given.forcing.stop_at_first), (Some(5), true));
        assert!(!hunt("stop_at_first = false", "norn hunt ./prog").forcing.stop_at_first);
        assert!(parse("", "norn hunt --time soon ./prog").is_err());
    }

    #[test]
    fn the_configuration_can_name_the_program() {
        let config = "command = ['./prog', '-v']\n";
        assert_eq!(program(&hunt(config, "norn hunt -j1").forcing), "/project/prog -v");
        assert_eq!(program(&hunt(config, "norn hunt ./other -v").forcing), "./other -v");
        assert!(parse("", "norn hunt").is_err());
        assert!(parse("properties = ['data-race']", "norn check").is_err());
        assert!(parse(config, "norn record").is_err());
    }

    #[test]
    fn the_configuration_can_name_properties() {
        let config = "command = ['./prog']\nproperties = ['data-race', 'a.norn']\n";
        let both = check(config, "norn check");
        assert_eq!(
            (&*both.properties, both.more),
            ("data-race", vec!["/project/a.norn".to_owned()])
        );
        assert_eq!(program(&both.forcing), "/project/prog");
        let own = check(config, "norn check b.norn");
        assert_eq!((&*own.properties, own.more), ("b.norn", Vec::new()));
    }

    #[test]
    fn jobs_are_rejected_for_a_single_run() {
        assert!(parse("", "norn run -j2 ./prog").is_err());
        assert!(parse("jobs = 2", "norn run ./prog").is_ok());
        assert!(parse("", "norn run -j2 --times 3 ./prog").is_ok());
    }
}
