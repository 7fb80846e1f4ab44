//! `norn cc` and `norn c++`: become the real compiler, with more arguments.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use norn_cargo::{INSIDE_CARGO, is_for_host as is_for_host_in};
use norn_cc::{Compiler, Language, RuntimeDir, Settings, command_line};

use crate::{
    config::{self, Config},
    exit::Exit,
};

/// Becomes the compiler that the user chose (`NORN_CC` or `NORN_CXX`, then `norn.toml`); else the one
/// under whose `name` norn was called; else the usual one.
pub(crate) fn run(
    language: Language,
    name: Option<&OsStr>,
    arguments: &[OsString],
) -> anyhow::Result<Exit> {
    let settings = settings(chosen(language)?.or(name.map(OsStr::to_owned)))?;
    let compiler = Compiler::choose(language, &settings)?;
    let command = if is_for_host() {
        compiler.program().iter().chain(arguments).cloned().collect()
    } else {
        command_line(&compiler, arguments, &RuntimeDir::install(&cache())?)
    };
    let (program, arguments) = command.split_first().context("no compiler found")?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run `{}`", program.display()))
}

/// Whether a build script of cargo compiles for the build itself, which must not contain hooks.
fn is_for_host() -> bool {
    let out_dir = env::var_os("OUT_DIR").filter(|_| env::var_os(INSIDE_CARGO).is_some());
    out_dir.is_some_and(|it| is_for_host_in(Path::new(&it)))
}

fn chosen(language: Language) -> anyhow::Result<Option<OsString>> {
    let variable = env::var_os(language.variable()).filter(|it| !it.is_empty());
    if variable.is_some() {
        return Ok(variable);
    }
    let config = Config::load(&config::environment())?;
    let configured = match language {
        Language::C => config.cc,
        Language::Cxx => config.cxx,
    };
    Ok(configured.map(Into::into))
}

pub(super) fn settings(command: Option<OsString>) -> anyhow::Result<Settings> {
    Ok(Settings {
        command,
        path: env::var_os("PATH").unwrap_or_default(),
        myself: env::current_exe().context("cannot find the program norn itself")?,
    })
}

/// Where the runtime is unpacked: in the user's cache folder.
pub(super) fn cache() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    set("NORN_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|it| it.join("norn")))
        .or_else(|| set("HOME").map(|it| it.join(".cache").join("norn")))
        .unwrap_or_else(|| env::temp_dir().join("norn-cache"))
}
