//! Builds subjects, runs them under control, writes and reads clips.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use norn_e2e::{process, subject};
pub(crate) use norn_e2e::{
    process::{Ran, run},
    tool::is_installed,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// A subject in a folder of its own.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) folder: TempDir,
    source: String,
}

/// Builds a subject of `subjects/replay`.
pub(crate) fn subject(source: &str) -> Subject {
    subject_with(source, &[])
}

/// Builds a subject with more flags of the compiler.
pub(crate) fn subject_with(source: &str, flags: &[&str]) -> Subject {
    let folder = tempfile::tempdir().unwrap();
    let subject = Subject { folder, source: source.to_owned() };
    subject.build(flags);
    subject
}

impl Subject {
    /// Builds it, or rebuilds it with other flags.
    pub(crate) fn build(&self, flags: &[&str]) {
        self.compile(&subjects().join(&self.source), flags);
    }

    /// Rebuilds it with an edited source.
    pub(crate) fn edit(&self, before: &str, now: &str) {
        let text = fs::read_to_string(subjects().join(&self.source)).unwrap();
        assert_eq!(text.matches(before).count(), 1, "{before}");
        let source = self.file(&self.source);
        fs::write(&source, text.replace(before, now)).unwrap();
        self.compile(&source, &[]);
    }

    fn compile(&self, source: &Path, flags: &[&str]) {
        let is_cxx = source.extension().is_some_and(|it| it == "cc");
        let compiler = if is_cxx { "c++" } else { "cc" };
        let mut words = vec![compiler, "-g", "-pthread", "-o", "subject"];
        words.extend(flags);
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

    /// `norn replay` of a schedule.
    pub(crate) fn follow(&self, schedule: &[(&str, Value)]) -> Ran {
        self.write(&[], schedule);
        self.replay("clip.json", &["--timeout", "20"])
    }

    /// Writes `clip.json` by hand: arguments, and of each segment its thread and its end.
    pub(crate) fn write(&self, arguments: &[&str], schedule: &[(&str, Value)]) {
        let command = [&["./subject"], arguments].concat();
        let segments = schedule.iter();
        let segments = segments.map(|(thread, until)| json!({"thread": thread, "until": until}));
        let segments: Vec<_> = segments.collect();
        let clip = json!({"norn": 1, "command": command, "schedule": segments});
        fs::write(self.file("clip.json"), clip.to_string()).unwrap();
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `file.c:12`, the line that ends with this comment.
    pub(crate) fn line(&self, comment: &str) -> String {
        let text = fs::read_to_string(subjects().join(&self.source)).unwrap();
        let line = text.lines().position(|it| it.ends_with(comment)).unwrap();
        format!("{}:{}", self.source, line + 1)
    }

    /// A command of norn in the folder.
    pub(crate) fn norn<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Ran {
        run(self.command(words))
    }

    /// A command of norn in the folder that is not started yet.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        norn(words, self.folder.path())
    }
}

/// A command of norn in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>, folder: &Path) -> Command {
    let mut command = process::norn(Path::new(NORN), Path::new(env!("CARGO_TARGET_TMPDIR")), words);
    command.current_dir(folder);
    command
}

fn subjects() -> PathBuf {
    subject::subjects().join("replay")
}
