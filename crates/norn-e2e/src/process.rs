//! Runs commands to their end or to a time limit, including the processes that they start.

use std::{
    ffi::OsStr,
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::disposition;

/// Time limit of a command in a test. Only what hangs reaches it: the slowest commands build the crates of others, for minutes
/// on a busy machine.
const LIMIT: Duration = Duration::from_mins(10);

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// How it ended.
    pub status: ExitStatus,
    /// Its exit status, unless a signal ended it.
    pub code: Option<i32>,
}

impl Ran {
    /// The last line of standard output, which is JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        let line = self.stdout.lines().last().unwrap_or("");
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A `norn` command line that depends on nothing but its arguments: no colours, no translated
/// messages, and the runtime unpacked below `cache`, which stays from test to test.
pub fn norn<S: AsRef<OsStr>>(
    binary: &Path,
    cache: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Command {
    let mut command = Command::new(binary);
    command.args(arguments).env("LC_ALL", "C").env("NO_COLOR", "1");
    command.env("NORN_CACHE", folder(cache, "cache"));
    disposition::set_defaults(&mut command);
    command
}

/// Runs a command to its end; panics if that takes longer than the limit.
pub fn run(command: Command) -> Ran {
    let name = format!("{command:?}");
    finish(&name, start(command))
}

/// Starts a command with its output piped, as the leader of a process group of its own.
pub fn start(mut command: Command) -> Child {
    disposition::set_defaults(&mut command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// Waits for a command that [`start`] started, and returns its output.
pub fn finish(name: &str, child: Child) -> Ran {
    let group = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(LIMIT).unwrap_or_else(|_| {
        kill("-KILL", &format!("-{group}"));
        panic!("killed after {LIMIT:?}: {name}");
    });
    let output = output.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (stdout, stderr, status) = (text(output.stdout), text(output.stderr), output.status);
    Ran { stdout, stderr, status, code: status.code() }
}

/// Sends a signal to a process, or to a group (`-123`), that the test started.
pub fn kill(signal: &str, process: &str) {
    Command::new("kill").args([signal, "--", process]).status().unwrap();
}

/// A folder below another one, created if it does not exist.
pub fn folder(below: &Path, name: &str) -> PathBuf {
    let path = below.join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command)
    }

    #[test]
    fn output_and_status_are_separate() {
        let ran = shell("echo out; echo err >&2; exit 3");
        assert_eq!((&*ran.stdout, &*ran.stderr, ran.code), ("out\n", "err\n", Some(3)));
    }

    #[test]
    fn a_signal_is_not_a_status() {
        assert_eq!(shell("kill -9 $$").code, None);
    }
}
