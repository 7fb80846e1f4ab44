//! The `norn` command: arguments in, stages run, results out. The only crate that prints.

mod announce;
mod baseline;
mod bugs;
mod cli;
mod command;
mod config;
mod exit;
mod fact;
mod front_end;
mod function;
mod input;
mod output_lock;
mod progress;
mod property_file;
mod report;
mod results;
mod scratch;
mod source_files;
mod suppress;
mod suppression;
mod terminal;
mod text_file;
mod verbosity;
mod view;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use norn_cc::Language;
use norn_model::excerpt;

use crate::exit::Exit;

fn main() -> ExitCode {
    let words: Vec<OsString> = env::args_os().collect();
    let result = match (wrapper(&words), words.get(1)) {
        (Some((language, name, arguments)), _) => command::cc::run(language, name, arguments),
        (None, Some(word)) if word == "rustc" => command::rustc::run(&words[2..]),
        (None, _) => run(&words),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => report(&error).into(),
    }
}

/// Runs all commands except the compilers.
fn run(words: &[OsString]) -> anyhow::Result<Exit> {
    let cli = cli::parse(words)?;
    cli.global.apply();
    command::run(cli)
}

/// Runs `norn` as a compiler, if it is called as `norn cc …`, `norn c++ …`, by a link named `norn-cc` or
/// `norn-c++`, or by a link with the name of a compiler, which it then runs. No argument is interpreted.
fn wrapper(words: &[OsString]) -> Option<(Language, Option<&OsStr>, &[OsString])> {
    let name = Path::new(words.first()?).file_name()?;
    if let Some(language) = norn_cc::language_of(name) {
        return Some((language, Some(name), &words[1..]));
    }
    match name.to_str() {
        Some("norn-cc") => return Some((Language::C, None, &words[1..])),
        Some("norn-c++") => return Some((Language::Cxx, None, &words[1..])),
        _ => {}
    }
    let rest = words.get(2..).unwrap_or_default();
    match words.get(1)?.to_str()? {
        "cc" => Some((Language::C, None, rest)),
        "c++" => Some((Language::Cxx, None, rest)),
        _ => None,
    }
}

/// Prints an error and its causes. A closed pipe is not an error: the reader has ended.
fn report(error: &anyhow::Error) -> Exit {
    let closed = |it: &io::Error| it.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|it| it.downcast_ref()).any(closed) {
        return Exit::Clean;
    }
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Help and version are errors to clap, but not to the user.
        let _ = usage.print();
        return if usage.use_stderr() { Exit::Error } else { Exit::Clean };
    }
    let mut err = terminal::stderr();
    let _ = writeln!(err, "norn: {error}");
    let message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // A message that includes its cause may have shortened it.
        if !message.contains(&cause) && !message.contains(&excerpt(&cause)) {
            let _ = writeln!(err, "cause: {cause}");
        }
    }
    Exit::Error
}
