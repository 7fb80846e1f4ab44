//! Builds subjects, runs them under control, writes and reads clips.

use std::{
    ffi::OsStr,
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");
/// No run of anything takes longer.
const LIMIT: Duration = Duration::from_mins(1);

/// A subject in a folder of its own.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) folder: TempDir,
    source: String,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: ExitStatus,
}

/// Builds a subject of `subjects/replay`.
pub(crate) fn subject(source: &str) -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject { folder, source: source.to_owned() };
    subject.build(&[]);
    subject
}

impl Subject {
    /// Builds it, or builds it anew in another way.
    pub(crate) fn build(&self, flags: &[&str]) {
        let mut words = vec!["cc", "-g", "-pthread", "-o", "subject"];
        words.extend(flags);
        let source = subjects().join(&self.source);
        let ran = self.norn(words.into_iter().map(OsStr::new).chain([source.as_os_str()]));
        assert!(ran.status.success(), "{} does not compile:\n{}", self.source, ran.stderr);
    }

    /// `norn run` with these options.
    pub(crate) fn run(&self, options: &[&str]) -> Ran {
        self.norn([&["run"], options, &["--", "./subject"]].concat())
    }

    /// `norn replay` of a clip, by its name in the folder.
    pub(crate) fn replay(&self, clip: &str, options: &[&str]) -> Ran {
        self.norn([&["replay"], options, &[clip]].concat())
    }

    /// `norn replay` of a schedule: of each segment its thread and its end.
    pub(crate) fn follow(&self, schedule: &[(&str, Value)]) -> Ran {
        let segments: Vec<_> = schedule
            .iter()
            .map(|(thread, until)| json!({"thread": thread, "until": until}))
            .collect();
        let clip = json!({"norn": 1, "command": ["./subject"], "schedule": segments});
        fs::write(self.file("clip.json"), clip.to_string()).unwrap();
        self.replay("clip.json", &["--timeout", "20"])
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `file.c:12`, where the line that ends with this comment is.
    pub(crate) fn line(&self, comment: &str) -> String {
        let text = fs::read_to_string(subjects().join(&self.source)).unwrap();
        let line = text.lines().position(|it| it.ends_with(comment)).unwrap();
        format!("{}:{}", self.source, line + 1)
    }

    /// A command of norn in the folder.
    pub(crate) fn norn<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Ran {
        self.norn_with(words, &[])
    }

    /// The same, with other variables in its environment.
    pub(crate) fn norn_with<S: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = S>,
        environment: &[(&str, &str)],
    ) -> Ran {
        let mut command = Command::new(NORN);
        command.args(words).current_dir(self.folder.path());
        command.env("NORN_CACHE", place("cache")).env("LC_ALL", "C").env("NO_COLOR", "1");
        command.envs(environment.iter().copied());
        run(command)
    }
}

/// Runs to the end, or fails when that takes too long.
fn run(mut command: Command) -> Ran {
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
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status }
}

fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/replay")
}

/// A folder that stays from test to test.
fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay").join(name);
    fs::create_dir_all(&path).unwrap();
    path
}
