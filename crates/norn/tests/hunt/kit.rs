//! Hunts in programs and reads what was found.

use std::{
    ffi::OsStr,
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");
/// No command takes longer.
const LIMIT: Duration = Duration::from_mins(1);

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

/// What a hunt found.
#[derive(Debug)]
pub(crate) struct Hunt {
    pub(crate) json: Value,
    pub(crate) code: Option<i32>,
}

/// `norn hunt` in a folder.
pub(crate) fn norn_hunt<S: AsRef<OsStr>>(
    words: impl IntoIterator<Item = S>,
    folder: &TempDir,
) -> Ran {
    let mut command = Command::new(NORN);
    command.arg("hunt").args(words).current_dir(folder.path());
    command.env("NORN_CACHE", cache()).env("LC_ALL", "C").env("NO_COLOR", "1");
    run(command)
}

/// Hunts in a source file or a program, with so many runs without a prediction.
pub(crate) fn hunt(program: &Path, explore: u32) -> Hunt {
    let folder = tempfile::tempdir().unwrap();
    let explore = explore.to_string();
    let options = ["-j", "2", "--format", "json", "--explore", &explore, "--"];
    let words = options.map(OsStr::new).into_iter().chain([program.as_os_str()]);
    let ran = norn_hunt(words, &folder);
    let json = serde_json::from_str(&ran.stdout);
    let json = json.unwrap_or_else(|error| panic!("{}: {error}\n{ran:?}", program.display()));
    Hunt { json, code: ran.code }
}

impl Hunt {
    pub(crate) fn findings(&self) -> &[Value] {
        self.json["findings"].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn observed(&self) -> &[Value] {
        self.json["observed"].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn harmful(&self) -> impl Iterator<Item = &Value> {
        self.findings().iter().filter(|it| it["harmful"] == true)
    }
}

/// Runs to the end, or fails when that takes too long.
pub(crate) fn run(mut command: Command) -> Ran {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let group = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(LIMIT).unwrap_or_else(|_| {
        Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status().unwrap();
        panic!("killed after {LIMIT:?}: {command:?}");
    });
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
}

/// The folder with the subjects.
pub(crate) fn subjects() -> PathBuf {
    folder("hunt")
}

/// A folder with subjects.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects").join(name)
}

/// A folder that stays from test to test.
fn cache() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hunt/cache");
    fs::create_dir_all(&path).unwrap();
    path
}
