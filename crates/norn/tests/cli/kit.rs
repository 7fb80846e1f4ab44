//! Runs norn in a folder.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// The output and the status of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// Runs norn in a folder of its own.
pub(crate) fn norn(words: &[&str]) -> Ran {
    let folder = folder(&[]);
    run(&mut command(words, folder.path()))
}

/// A command of norn, without the settings of the user who runs the tests.
pub(crate) fn command<S: AsRef<OsStr>>(words: &[S], folder: &Path) -> Command {
    let mut command = Command::new(NORN);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|it| it.starts_with("NORN_")) {
            command.env_remove(name);
        }
    }
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(words).current_dir(folder).env("NORN_CACHE", cache()).env("LC_ALL", "C");
    command.stdin(Stdio::null());
    command
}

pub(crate) fn run(command: &mut Command) -> Ran {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
}

/// A program that loses an update under some schedules.
pub(crate) fn lost_update() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/replay/lost_update.c")
}

/// A folder that stays from test to test.
fn cache() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli/cache");
    fs::create_dir_all(&path).unwrap();
    path
}
