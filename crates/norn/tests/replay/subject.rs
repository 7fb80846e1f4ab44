//! Real programs with real bugs, each with a schedule under which it always fails, one under
//! which it never does, and a fixed twin that never fails.
//!
//! The programs are in `subjects/control`; the comment at the head of each announces its consequence.
//! `cargo xtask schedules` does the same a thousand times over.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Command,
};

use norn_e2e::subject::{Build, CLANG, GCC, Subject};
use serde_json::Value;
use tempfile::TempDir;

use crate::kit;

/// Runs of each schedule.
const RUNS: &str = "10";
/// Strategies for the twins, each with its number of runs.
const STRATEGIES: [(&str, &str); 4] =
    [("random", "8"), ("pos", "5"), ("pct", "5"), ("round-robin", "2")];

#[test]
fn schedules_decide_with_gcc() {
    check(GCC.at("-O0"));
}

#[test]
fn schedules_decide_with_optimizing_gcc() {
    check(GCC.at("-O2"));
}

#[test]
fn schedules_decide_with_clang() {
    if kit::is_installed(CLANG.cc) && kit::is_installed(CLANG.cxx) {
        check(CLANG.at("-O0"));
    }
}

/// Tests all subjects with a compiler, and lists all that fail the test.
fn check(build: Build) {
    let bench = Bench { folder: tempfile::tempdir().unwrap(), build };
    let all = Subject::all("control");
    let pairs = all.chunks(2).filter(|it| it[0].clip("fail").exists());
    let wrong: Vec<_> = pairs.flat_map(|it| bench.wrong(&it[0], &it[1])).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Bench {
    folder: TempDir,
    build: Build,
}

impl Bench {
    /// Why a subject fails the test.
    fn wrong(&self, subject: &Subject, twin: &Subject) -> Vec<String> {
        let [program, fixed] = [subject, twin].map(|it| self.compile(it));
        let announced = subject.announced.as_ref().unwrap();
        let fails = self.replay(&subject.clip("fail"), &program, |it| announced.is_consequence(it));
        let passes = self.replay(&subject.clip("pass"), &program, |it| it == "none");
        let twins = STRATEGIES.iter().filter_map(|it| self.run(*it, &fixed));
        fails.into_iter().chain(passes).chain(twins).collect()
    }

    fn compile(&self, subject: &Subject) -> PathBuf {
        let program = self.folder.path().join(subject.source.file_stem().unwrap());
        succeed(subject.compile(self.norn::<&str>([]), &program, self.build));
        program
    }

    /// Replays a schedule repeatedly: all runs must be the same, and as `expected` says.
    fn replay(
        &self,
        clip: &Path,
        program: &Path,
        expected: impl Fn(&Value) -> bool,
    ) -> Option<String> {
        let mut command = self.norn(["replay", "--timeout", "20", "--times", RUNS]);
        command.args(["--format", "json", "--jobs", "1"]).arg(clip).arg("--").arg(program);
        let json = result(command);
        let kinds = json["batch"]["kinds"].as_array().map_or(&[][..], Vec::as_slice);
        let right = matches!(kinds, [only] if expected(&only["consequence"])
            && only["verdict"]["followed"].is_u64());
        (!right).then(|| format!("{} at {}: {json:#}", clip.display(), self.build))
    }

    /// Runs a twin repeatedly: it must never fail.
    fn run(&self, (strategy, times): (&str, &str), program: &Path) -> Option<String> {
        let mut command = self.norn(["run", "--timeout", "20", "--strategy", strategy]);
        command.args(["--format", "json", "--times", times, "--jobs", "1", "--"]).arg(program);
        let json = result(command);
        let name = program.file_name().unwrap().display();
        (json["batch"]["failed"] != 0)
            .then(|| format!("{name} by {strategy} at {}: {json:#}", self.build))
    }

    fn norn<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        kit::norn(words, self.folder.path())
    }
}

fn succeed(command: Command) {
    let words = format!("{command:?}");
    let ran = kit::run(command);
    assert!(ran.status.success(), "{words}: {ran:?}");
}

fn result(command: Command) -> Value {
    let words = format!("{command:?}");
    let ran = kit::run(command);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {words}: {ran:?}"))
}
