//! `norn cc` and `norn c++`: become the real compiler.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::Command,
};

use anyhow::Context as _;
use norn_cc::{Compiler, Language, RuntimeDir, Settings, command_line};

use crate::exit::Exit;

/// Where it was called under the `name` of a compiler, it becomes that one, unless another is
/// asked for.
pub(crate) fn run(
    language: Language,
    name: Option<&OsStr>,
    arguments: &[OsString],
) -> anyhow::Result<Exit> {
    let asked = env::var_os(language.variable()).filter(|it| !it.is_empty());
    let settings = settings(asked.or(name.map(OsStr::to_owned)))?;
    let compiler = Compiler::choose(language, &settings)?;
    let runtime = RuntimeDir::install(&cache())?;
    let command = command_line(&compiler, arguments, &runtime);
    let (program, arguments) = command.split_first().context("there is no compiler to run")?;
    let error = Command::new(program).args(arguments).exec();
    Err(error).with_context(|| format!("cannot run `{}`", program.display()))
}

pub(super) fn settings(command: Option<OsString>) -> anyhow::Result<Settings> {
    Ok(Settings {
        command,
        path: env::var_os("PATH").unwrap_or_default(),
        myself: env::current_exe().context("cannot find out where norn itself is")?,
    })
}

/// Where the runtime is unpacked: as other tools do, in the user's cache.
pub(super) fn cache() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    set("NORN_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|it| it.join("norn")))
        .or_else(|| set("HOME").map(|it| it.join(".cache").join("norn")))
        .unwrap_or_else(|| env::temp_dir().join("norn-cache"))
}
