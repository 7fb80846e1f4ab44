//! The wrapper without the rest of Norn, which the tests pass to make, cmake and ccache.
//!
//! It behaves like `norn cc`, or like `norn c++` when called by a name that ends in `++`. It
//! installs a runtime below `NORN_TEST_CACHE`: the one in the directory `NORN_TEST_IMAGE`, or
//! Norn's own if that variable is not set.
#![allow(clippy::print_stderr, reason = "a program has to say what is wrong")]

use std::{
    env,
    error::Error,
    ffi::OsString,
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use norn_cc::{CcError, Compiler, Language, RuntimeDir, RuntimeImage, Settings, command_line};

fn main() -> ExitCode {
    let Err(error) = become_compiler();
    eprintln!("norn-cc: {error}");
    ExitCode::from(2)
}

/// Returns only on an error: otherwise the compiler replaces this process.
fn become_compiler() -> Result<std::convert::Infallible, Box<dyn Error>> {
    let mut words = env::args_os();
    let language = language(&words.next().unwrap_or_default());
    let settings = Settings {
        command: env::var_os(language.variable()),
        path: env::var_os("PATH").unwrap_or_default(),
        myself: env::current_exe()?,
    };
    let compiler = Compiler::choose(language, &settings)?;
    let arguments: Vec<OsString> = words.collect();
    let command = command_line(&compiler, &arguments, &runtime()?);
    let (program, arguments) = command.split_first().ok_or("there is no command")?;
    Err(Command::new(program).args(arguments).exec().into())
}

fn language(name: &OsString) -> Language {
    if name.as_encoded_bytes().ends_with(b"++") { Language::Cxx } else { Language::C }
}

fn runtime() -> Result<RuntimeDir, Box<dyn Error>> {
    let cache = env::var_os("NORN_TEST_CACHE").map(PathBuf::from).ok_or("no NORN_TEST_CACHE")?;
    match env::var_os("NORN_TEST_IMAGE") {
        Some(image) => test_runtime(Path::new(&image), &cache),
        None => Ok(RuntimeDir::install(&cache)?),
    }
}

fn test_runtime(image: &Path, cache: &Path) -> Result<RuntimeDir, Box<dyn Error>> {
    let installed: Result<RuntimeDir, CcError> = RuntimeImage {
        id: "test",
        dynamic_object: &fs::read(image.join("dynamic.o"))?,
        static_object: &fs::read(image.join("static.o"))?,
        exported: &fs::read_to_string(image.join("exported.txt"))?,
        wrapped: &fs::read_to_string(image.join("wrapped.txt"))?,
    }
    .install(cache);
    Ok(installed?)
}
