//! `norn build`: builds that call compilers by name.

use std::{fs, path::Path};

use crate::kit::{Ran, norn, run, subjects};

fn build(folder: &Path, words: &[&str]) -> Ran {
    let mut command = norn([&["build"], words].concat());
    command.current_dir(folder).env("SUBJECTS", subjects());
    run(command)
}

#[test]
fn compilers_are_found_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let script = "gcc -c \"$SUBJECTS/fences.c\" && gcc fences.o -o fences && \
                  g++ -pthread \"$SUBJECTS/mutex.cc\" -o mutex && command -v cc";
    let ran = build(folder.path(), &["--", "sh", "-c", script]);
    assert!(ran.status.success(), "{}", ran.stderr);
    let link = fs::read_link(ran.stdout.trim()).unwrap();
    assert_eq!(link.file_name().unwrap(), "norn");
    for program in ["./fences", "./mutex"] {
        let mut record = norn(["record", "-o", &format!("{program}.norn"), "--", program]);
        record.current_dir(folder.path());
        let ran = run(record);
        assert_eq!((ran.status.code(), &*ran.stderr), (Some(0), ""), "{program}");
    }
}

#[test]
fn the_exit_status_is_that_of_the_build() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build(folder.path(), &["sh", "-c", "exit 7"]).status.code(), Some(7));
    let ran = build(folder.path(), &["./missing"]);
    insta::assert_snapshot!(ran.stderr, @r"
    norn: cannot run `./missing`
    cause: No such file or directory (os error 2)
    ");
    assert_eq!(ran.status.code(), Some(2));
}
