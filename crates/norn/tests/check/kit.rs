//! Runs `norn` and reads what it says.

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

/// `norn` in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>, folder: &TempDir) -> Ran {
    norn_with("gcc", words, folder)
}

/// `norn` with another compiler.
pub(crate) fn norn_with<S: AsRef<OsStr>>(
    compiler: &str,
    words: impl IntoIterator<Item = S>,
    folder: &TempDir,
) -> Ran {
    let mut command = Command::new(NORN);
    command.args(words).current_dir(folder.path()).env("NORN_CC", compiler);
    command.env("NORN_CACHE", cache()).env("LC_ALL", "C").env("NO_COLOR", "1");
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

/// Builds a subject; the program is `subject` in the folder.
pub(crate) fn build(source: &Path, folder: &TempDir) {
    let source = source.to_str().unwrap();
    let ran = norn(["cc", "-g", "-O1", "-pthread", "-o", "subject", source], folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// What came of checking properties.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) json: Value,
    pub(crate) code: Option<i32>,
    /// Where the clips are.
    pub(crate) folder: TempDir,
}

/// Checks properties against a program.
pub(crate) fn check(properties: &[&str], program: &Path) -> Checked {
    let folder = tempfile::tempdir().unwrap();
    let mut words = vec!["check", properties[0], "-j", "2", "--format", "json"];
    words.extend(properties[1..].iter().flat_map(|it| ["--property", it]));
    words.extend(["--", program.to_str().unwrap()]);
    let ran = norn(words, &folder);
    let json = serde_json::from_str(&ran.stdout);
    let json = json.unwrap_or_else(|error| panic!("{}: {error}\n{ran:?}", program.display()));
    Checked { json, code: ran.code, folder }
}

impl Checked {
    /// The violations that came to this.
    pub(crate) fn violations(&self, status: &str) -> Vec<&Value> {
        let all = self.json["findings"].as_array().unwrap().iter();
        all.filter(|it| it["status"] == status).collect()
    }
}

/// The folder with the subjects.
pub(crate) fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/property")
}

/// A folder that stays from test to test.
fn cache() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("check/cache");
    fs::create_dir_all(&path).unwrap();
    path
}
