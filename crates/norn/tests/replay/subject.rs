//! Real programs with real bugs, each with a schedule under which it always fails, one under
//! which it never does, and a fixed twin that never fails.
//!
//! The programs are in `subjects/control`; the comment at the head of each announces its consequence.
//! `cargo xtask schedules` does the same a thousand times over.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

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
    check("gcc", "g++", "-O0");
}

#[test]
fn schedules_decide_with_optimizing_gcc() {
    check("gcc", "g++", "-O2");
}

#[test]
fn schedules_decide_with_clang() {
    if kit::is_installed("clang-14") && kit::is_installed("clang++-14") {
        check("clang-14", "clang++-14", "-O0");
    }
}

/// Tests all subjects with a compiler, and lists all that fail the test.
fn check(cc: &'static str, cxx: &'static str, level: &'static str) {
    let bench = Bench { folder: tempfile::tempdir().unwrap(), cc, cxx, level };
    let names = names();
    assert!(!names.is_empty(), "there are no subjects");
    let wrong: Vec<_> = names.iter().flat_map(|it| bench.wrong(it)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Bench {
    folder: TempDir,
    cc: &'static str,
    cxx: &'static str,
    level: &'static str,
}

impl Bench {
    /// Why a subject fails the test.
    fn wrong(&self, name: &str) -> Vec<String> {
        let (subject, twin) = (self.build(name), self.build(&format!("{name}_fixed")));
        let announced = announced(&source(name));
        let fails = self.replay(name, "fail", &subject, |it| is(it, &announced));
        let passes = self.replay(name, "pass", &subject, |it| it == "none");
        let twins = STRATEGIES.iter().filter_map(|it| self.run(*it, &twin));
        fails.into_iter().chain(passes).chain(twins).collect()
    }

    fn build(&self, name: &str) -> PathBuf {
        let source = source(name);
        let program = self.folder.path().join(name);
        let word = if is_cxx(&source) { "c++" } else { "cc" };
        let mut command = self.norn([word, "-g", "-pthread", self.level]);
        command.env("NORN_CC", self.cc).env("NORN_CXX", self.cxx);
        command.arg(&source).arg("-o").arg(&program).args(self.library(&source));
        succeed(command);
        program
    }

    /// A subject may have a part that is built without norn: a library beside its source.
    fn library(&self, source: &Path) -> Vec<String> {
        let name = source.file_stem().unwrap().to_string_lossy().replace("_fixed", "");
        let part = subjects().join(format!("{name}_lib.c"));
        if !part.exists() {
            return Vec::new();
        }
        let folder = self.folder.path().display();
        let library = self.folder.path().join(format!("lib{name}.so"));
        let mut command = Command::new(self.cc);
        command.args(["-g", "-shared", "-fPIC", "-pthread"]).arg(part).arg("-o").arg(library);
        succeed(command);
        vec![format!("-L{folder}"), format!("-l{name}"), format!("-Wl,-rpath,{folder}")]
    }

    /// Replays a schedule repeatedly: all runs must be the same, and as `expected` says.
    fn replay(
        &self,
        name: &str,
        which: &str,
        program: &Path,
        expected: impl Fn(&Value) -> bool,
    ) -> Option<String> {
        let clip = subjects().join(format!("{name}.{which}.json"));
        let mut command = self.norn(["replay", "--timeout", "20", "--times", RUNS]);
        command.args(["--format", "json", "--jobs", "1"]).arg(clip).arg("--").arg(program);
        let json = result(command);
        let kinds = json["batch"]["kinds"].as_array().map_or(&[][..], Vec::as_slice);
        let right = matches!(kinds, [only] if expected(&only["consequence"])
            && only["verdict"]["followed"].is_u64());
        (!right).then(|| format!("{name}.{which} at {} {}: {json:#}", self.cc, self.level))
    }

    /// Runs a twin repeatedly: it must never fail.
    fn run(&self, (strategy, times): (&str, &str), program: &Path) -> Option<String> {
        let mut command = self.norn(["run", "--timeout", "20", "--strategy", strategy]);
        command.args(["--format", "json", "--times", times, "--jobs", "1", "--"]).arg(program);
        let json = result(command);
        let name = program.file_name().unwrap().display();
        (json["batch"]["failed"] != 0)
            .then(|| format!("{name} by {strategy} at {} {}: {json:#}", self.cc, self.level))
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

/// Whether a consequence is of the kind that was announced. A program that hangs may do so by
/// waiting or by spinning.
fn is(consequence: &Value, announced: &str) -> bool {
    let name = consequence.as_object().and_then(|it| it.keys().next().map(String::as_str));
    let name = name.or(consequence.as_str()).unwrap_or("?");
    match announced {
        "assertion" => name == "assertion",
        "crash" => name == "signal",
        "deadlock" => name == "deadlock",
        "hang" => ["deadlock", "livelock"].contains(&name),
        "uncaught exception" => name == "exception",
        "double free" => consequence["memory"] == "double-free",
        "use after free" => consequence["memory"] == "use-after-free",
        _ => panic!("a subject announces `{announced}`, which nobody knows"),
    }
}

/// `Consequence: deadlock, each holds …`
fn announced(source: &Path) -> String {
    let text = fs::read_to_string(source).unwrap();
    let line = text.lines().find_map(|it| it.strip_prefix("// Consequence: "));
    let line = line.unwrap_or_else(|| panic!("{} announces no consequence", source.display()));
    line.split([',', ';', '(', '.']).next().unwrap_or(line).trim().to_owned()
}

/// The subjects, by their schedules.
fn names() -> Vec<String> {
    let entries = fs::read_dir(subjects()).unwrap().flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> =
        names.filter_map(|it| it.strip_suffix(".fail.json").map(str::to_owned)).collect();
    names.sort();
    names
}

fn source(name: &str) -> PathBuf {
    let paths = ["c", "cc"].map(|it| subjects().join(format!("{name}.{it}")));
    paths.into_iter().find(|it| it.exists()).unwrap_or_else(|| panic!("there is no {name}"))
}

fn is_cxx(source: &Path) -> bool {
    source.extension().is_some_and(|it| it == "cc")
}

fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/control")
}
