//! `cargo norn` on a small workspace: a procedural macro, a build script, a part in C, tests of all kinds; and on
//! programs that use other people's crates.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use norn_e2e::{
    process::{Ran, finish, kill, norn, run, start},
    subject::subjects,
    tool::untested,
};
use tempfile::TempDir;

/// A copy of the workspace, with its builds.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Workspace {
        Workspace::of("cargo")
    }

    fn of(subject: &str) -> Workspace {
        let folder = tempfile::tempdir().unwrap();
        copy(&subjects().join(subject), folder.path());
        Workspace(folder)
    }

    /// Runs a command of cargo-norn.
    fn cargo_norn(&self, words: &[&str]) -> Ran {
        run(self.command(words))
    }

    /// A command of cargo-norn, as cargo calls it.
    fn command(&self, words: &[&str]) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_cargo-norn"));
        let mut command = norn(binary, Path::new(env!("CARGO_TARGET_TMPDIR")), ["norn"]);
        command.args(words).current_dir(self.0.path());
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "RUSTC"] {
            command.env_remove(name);
        }
        command
    }

    /// Loads the crates that a package uses. Returns whether they are there.
    fn fetch(&self, package: &str) -> bool {
        let mut fetch = Command::new("cargo");
        fetch.args(["fetch", "--quiet", "--locked"]).current_dir(self.0.path().join(package));
        fetch.status().unwrap().success()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn in_folder(mut command: Command, folder: &Path) -> Command {
    command.current_dir(folder);
    command
}

/// The outcome of each test, as the lines say.
fn outcomes(ran: &Ran) -> Vec<(String, String)> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let outcome = words.next().filter(|it| ["PASS", "FAIL", "SKIP", "ERROR"].contains(it))?;
        Some((words.next_back()?.to_owned(), outcome.to_owned()))
    };
    let mut rows: Vec<_> = ran.stdout.lines().filter_map(row).collect();
    rows.sort();
    rows
}

#[test]
fn each_test_is_hunted_in() {
    let workspace = Workspace::new();
    // `build.rustflags` is hidden by the options of a target, unless it is passed on.
    workspace.write(".cargo/config.toml", "[build]\nrustflags = [\"-Cdebug-assertions=on\"]\n");
    let ran = workspace.cargo_norn(&["test", "--offline", "--budget", "40"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let expected = [
        ("halves_do_not_overlap", "FAIL"),
        ("tests::a_panic_may_be_expected", "PASS"),
        ("tests::deposits_add_up", "FAIL"),
        ("tests::is_ignored", "SKIP"),
        ("tests::is_left_out", "SKIP"),
        ("tests::one_thread_is_enough", "PASS"),
        ("totals_in_turn", "PASS"),
    ];
    let expected = expected.map(|(test, outcome)| (test.to_owned(), outcome.to_owned()));
    assert_eq!(outcomes(&ran), expected, "{}", ran.stdout);
    for text in ["BALANCE", "money is lost", "5 tests, ", "2 skipped"] {
        assert!(ran.stdout.contains(text), "no {text}: {}", ran.stdout);
    }
    assert!(ran.stderr.contains("documentation tests are not run"), "{}", ran.stderr);
}

/// What the test harness does when it creates the thread of a test does not change how many events that thread has.
#[test]
fn schedules_of_tests_are_followed_from_the_beginning() {
    let workspace = Workspace::new();
    let words = ["test", "--offline", "-p", "bank", "--test", "halves", "--stop-at-first"];
    let ran = workspace.cargo_norn(&words);
    for text in ["1. data race on u32[3] of entries of T0.1", "1 test, 2 runs: 0 passed, 1 failed"]
    {
        assert!(ran.stdout.contains(text), "no {text}: {}", ran.stdout);
    }
}

/// What is known is reported, also of the test that was interrupted.
#[test]
fn an_interrupt_ends_the_hunt_and_not_the_report() {
    let workspace = Workspace::new();
    let many = "1000000";
    let words = ["test", "--offline", "--lib", "--budget", many, "--explore", many, "deposits"];
    let child = start(workspace.command(&words));
    let tests = workspace.0.path().join("target/norn/tests");
    let has_clip = || {
        let programs = fs::read_dir(&tests).into_iter().flatten().flatten();
        let mut clips =
            programs.map(|it| it.path().join("tests.deposits_add_up.norn/clips/1.json"));
        clips.any(|it| it.exists())
    };
    let begin = Instant::now();
    while !has_clip() && begin.elapsed() < Duration::from_mins(2) {
        thread::sleep(Duration::from_millis(20));
    }
    kill("-TERM", &child.id().to_string());
    let ran = finish("cargo norn test", child);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(outcomes(&ran), [("tests::deposits_add_up".to_owned(), "FAIL".to_owned())]);
    assert!(ran.stdout.contains("money is lost"), "{}", ran.stdout);
    assert!(ran.stderr.contains("interrupted"), "{}", ran.stderr);
}

#[test]
fn filters_and_features_select() {
    let workspace = Workspace::new();
    let words = ["test", "--offline", "-p", "bank", "--lib", "--features", "fixed", "deposits"];
    let ran = workspace.cargo_norn(&words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(outcomes(&ran), [("tests::deposits_add_up".to_owned(), "PASS".to_owned())]);
}

#[test]
fn commands_of_norn_run_on_programs_of_the_workspace() {
    let workspace = Workspace::new();
    let ran = workspace.cargo_norn(&["record", "--offline", "--bin", "auditor", "-o", "a.norn"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), "0\n"), "{ran:?}");
    // The part in C has hooks, too.
    let dump = norn(Path::new(env!("CARGO_BIN_EXE_norn")), workspace.0.path(), ["dump", "a.norn"]);
    let dump = run(in_folder(dump, workspace.0.path()));
    assert!(dump.stdout.contains("total_read total.c:"), "{}", dump.stdout);
    // The default program of the package, with an argument.
    let ran = workspace.cargo_norn(&["run", "--offline", "-p", "bank", "--", "3"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = workspace.cargo_norn(&["run", "--offline", "--bin", "auditor", "--bin", "teller"]);
    assert_eq!(ran.code, Some(0), "one of both is the default: {ran:?}");
    let ran = workspace.cargo_norn(&["hunt", "--offline", "--bin", "nobody"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("nobody"), "{ran:?}");
    let built = workspace.cargo_norn(&["build", "--offline", "--bins"]);
    let programs: Vec<PathBuf> = built.stdout.lines().map(PathBuf::from).collect();
    assert_eq!(programs.len(), 2, "{built:?}");
    // By itself, a program with hooks runs as usual.
    assert!(Command::new(&programs[0]).status().unwrap().success());
}

/// In optimised builds the compiler inlines the methods of locks, and cargo would remove the debug information by which they
/// are recognised.
#[test]
fn inlined_locks_are_seen_in_optimised_programs() {
    let workspace = Workspace::of("inlined");
    if !workspace.fetch(".") {
        return untested("the crate cannot be had");
    }
    let ran = workspace.cargo_norn(&["record", "--release", "--locked", "-o", "a.norn"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let words = ["dump", "--sync", "a.norn"];
    let dump = norn(Path::new(env!("CARGO_BIN_EXE_norn")), workspace.0.path(), words);
    let dump = run(in_folder(dump, workspace.0.path())).stdout;
    let count = |action: &str, object: &str| {
        let object = format!("inlined::{object}.");
        let is_one =
            |it: &&str| it.split_whitespace().nth(1) == Some(action) && it.contains(&object);
        dump.lines().filter(is_one).count()
    };
    for (lock, times) in [("PRICE", 2), ("TILL", 3)] {
        assert_eq!(
            (count("acquire", lock), count("release", lock)),
            (times, times),
            "{lock}: {dump}"
        );
    }
    // A wait for the condition variable releases the mutex and takes it again.
    assert_eq!((count("acquire", "SHELF"), count("release", "SHELF")), (2, 2), "{dump}");
    assert_eq!(count("signal", "FILLED"), 1, "{dump}");
    let hunt = workspace.cargo_norn(&["hunt", "--release", "--locked", "--budget", "20"]);
    assert_eq!(hunt.code, Some(0), "{hunt:?}");
}

/// The drop of a result with a guard in both variants releases the lock by one operation, which debug information does not
/// attribute to the lock.
#[test]
fn merged_releases_are_seen_in_optimised_programs() {
    let folder = tempfile::tempdir().unwrap();
    let source = subjects().join("rust/kept_result_fixed.rs").into_os_string();
    let binary = Path::new(env!("CARGO_BIN_EXE_norn"));
    let mut compile = norn(binary, folder.path(), ["rustc", "--edition=2024", "-Copt-level=3"]);
    compile.args(["--cfg", "fixed", "-o", "program"]).arg(source).current_dir(folder.path());
    let built = run(compile);
    assert_eq!(built.code, Some(0), "{built:?}");
    for words in [&["record", "-o", "a.norn", "./program"][..], &["dump", "--sync", "a.norn"]] {
        let ran = run(in_folder(norn(binary, folder.path(), words), folder.path()));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        if words[0] == "dump" {
            assert_eq!(held(&ran.stdout, "::TOTAL"), (3, 3), "{ran:?}");
            assert_eq!(held(&ran.stdout, "::LAST"), (5, 5), "{ran:?}");
        }
    }
}

/// How often a lock is acquired and released in a dump.
fn held(dump: &str, lock: &str) -> (usize, usize) {
    let count = |action: &str| {
        let is_one = |it: &&str| it.split_whitespace().nth(1) == Some(action) && it.contains(lock);
        dump.lines().filter(is_one).count()
    };
    (count("acquire"), count("release"))
}

/// What other crates do inside is no bug, and what a program does wrong with them is.
#[test]
fn programs_on_top_of_published_crates() {
    let workspace = Workspace::of("crates");
    if !workspace.fetch(".") {
        return untested("the crates cannot be had");
    }
    // The crates take longer to build than the programs to run.
    let built = workspace.cargo_norn(&["build", "--tests"]);
    assert_eq!(built.code, Some(0), "{built:?}");
    let correct = workspace.cargo_norn(&["test", "--budget", "10", "--test", "correct"]);
    let found = outcomes(&correct);
    assert_eq!((correct.code, found.len()), (Some(0), 18), "{correct:?}");
    assert!(found.iter().all(|it| it.1 == "PASS"), "{}", correct.stdout);
    let budget = ["--budget", "400", "--explore", "300"];
    let wrong = [&["test", "--stop-at-first", "--test", "wrong"][..], &budget].concat();
    let wrong = workspace.cargo_norn(&wrong);
    let found = outcomes(&wrong);
    assert_eq!((wrong.code, found.len()), (Some(1), 10), "{wrong:?}");
    assert!(found.iter().all(|it| it.1 == "FAIL"), "{}", wrong.stdout);
    // The locks of `parking_lot` are known, so these are predicted.
    for predicted in ["parking_lot_deadlock", "parking_lot_lost_wakeup"] {
        let title = format!("crates::wrong {predicted}\n");
        let section = wrong.stdout.split("──── ").find(|it| it.starts_with(&title));
        let headline = section.and_then(|it| it.lines().find(|line| line.starts_with("1. ")));
        let is_predicted = headline.is_some_and(|it| !it.contains("seen under another schedule"));
        assert!(is_predicted, "{predicted}: {}", wrong.stdout);
    }
}

/// A published fault of a published crate, and the version in which it is mended.
#[test]
fn a_published_fault_is_found() {
    let workspace = Workspace::of("advisories");
    if !(workspace.fetch("before") && workspace.fetch("after")) {
        return untested("the crates cannot be had");
    }
    let hunt = |manifest: &str| {
        let words = ["hunt", "--manifest-path", manifest, "--budget", "60", "--bin", "oneshot"];
        workspace.cargo_norn(&words)
    };
    let before = hunt("before/Cargo.toml");
    assert_eq!(before.code, Some(1), "{before:?}");
    assert!(before.stdout.contains("double free"), "{}", before.stdout);
    let after = hunt("after/Cargo.toml");
    assert_eq!(after.code, Some(0), "{after:?}");
}

#[test]
fn a_compiler_that_is_too_old_is_refused() {
    let workspace = Workspace::new();
    workspace.write("rustc", "#!/bin/sh\necho 'release: 1.60.0'\necho 'host: x86_64-unknown-linux-gnu'\n\
                     case \"$*\" in *-Z*) echo 'error: unknown debugging option' >&2; exit 1;; esac\n");
    let rustc = workspace.0.path().join("rustc");
    let mut chmod = Command::new("chmod");
    assert!(chmod.arg("+x").arg(&rustc).status().unwrap().success());
    let binary = Path::new(env!("CARGO_BIN_EXE_norn"));
    let mut command = norn(binary, Path::new(env!("CARGO_TARGET_TMPDIR")), ["cargo", "build"]);
    command.env("RUSTC", rustc).current_dir(workspace.0.path());
    let ran = run(command);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for text in ["rustc 1.60.0 cannot insert the hooks: unknown debugging option", "hint: `rustup"]
    {
        assert!(ran.stderr.contains(text), "{ran:?}");
    }
}
