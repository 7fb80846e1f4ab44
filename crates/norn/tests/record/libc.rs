//! A libc whose objects have another layout. That the usual layout is known is part of every
//! other test: the runtime would print a message, and the outputs are compared.

use std::{path::PathBuf, process::Command};

use tempfile::TempDir;

use crate::kit::{Ran, norn, run, subject, subjects};

/// A folder, and in it a library with another layout of barriers.
fn library() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("other_barrier.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC"]).arg(subjects().join("other_barrier.c")).arg("-o").arg(&library);
    assert!(run(gcc).status.success());
    (folder, library)
}

/// Runs a subject with that library by a command of Norn.
fn with_other_barriers(words: &[&str]) -> Ran {
    let (folder, library) = library();
    let program = subject("mutex.c").build();
    let mut command = norn(words);
    command.arg("-o").arg(folder.path().join("trace")).args(["--", "env"]);
    command.arg(format!("LD_PRELOAD={}", library.display())).arg(program);
    run(command)
}

/// A recording needs few of the layouts; norn reports what it does not know.
#[test]
fn a_run_with_an_unknown_layout_is_recorded_with_a_message() {
    let ran = with_other_barriers(&["record"]);
    assert!(ran.stderr.contains("norn: unknown layout of pthread_barrier_t in libc 2."));
    assert!(ran.stderr.contains("an unlock by another thread than the owner"), "{}", ran.stderr);
    assert!(ran.status.success(), "{}", ran.stderr);
}

/// The runtime does not know what a barrier waits for, so it cannot schedule threads.
#[test]
fn a_run_with_an_unknown_layout_is_not_controlled() {
    let ran = with_other_barriers(&["run", "--strategy", "random", "--seed", "1"]);
    assert!(ran.stderr.contains("norn: unknown layout of pthread_barrier_t in libc 2."));
    assert!(ran.stderr.contains("this run cannot be controlled"), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{}", ran.stderr);
}
