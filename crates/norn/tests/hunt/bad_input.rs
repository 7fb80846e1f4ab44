//! Errors have one form: the error, its cause and a hint; and an exit status.

use std::{fs, process::Command};

use tempfile::TempDir;

use crate::kit::{Ran, hunt, norn_hunt, run};

/// A folder with a file.
fn folder(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn said(ran: &Ran) -> String {
    format!("{}[exit {}]", ran.stderr, ran.code.map_or("?".to_owned(), |it| it.to_string()))
}

#[test]
fn a_missing_program_argument_is_an_error() {
    let ran = norn_hunt::<&str>([], &tempfile::tempdir().unwrap());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("<PROGRAM>"), "{ran:?}");
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let ran = norn_hunt(["--", "./missing"], &tempfile::tempdir().unwrap());
    insta::assert_snapshot!(said(&ran), @r"
    norn: cannot run `./missing`: No such file or directory (os error 2)
    hint: a program in this folder is started as `./program`, and must be built first
    [exit 2]
    ");
}

#[test]
fn a_program_without_instrumentation_has_status_3() {
    let folder = folder("plain.c", "int main(void) { return 0; }");
    let mut gcc = Command::new("gcc");
    gcc.args(["plain.c", "-o", "plain"]).current_dir(folder.path());
    assert_eq!(run(gcc).code, Some(0));
    insta::assert_snapshot!(said(&norn_hunt(["--", "./plain"], &folder)), @r#"
    norn: `./plain` left no events: it was not built with norn, or with another version
    hint: build it with `norn build make`, or `norn hunt prog.c`
    [exit 3]
    "#);
}

#[test]
fn a_source_that_does_not_compile_is_an_error() {
    let folder = folder("wrong.c", "int main(void) { return nothing; }");
    let ran = norn_hunt(["wrong.c"], &folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("'nothing' undeclared"), "{ran:?}");
    assert!(ran.stderr.ends_with("norn: cannot compile `wrong.c`\n"), "{ran:?}");
}

#[test]
fn a_program_that_fails_under_every_schedule_is_reported() {
    let folder = folder("fails.c", "#include <stdlib.h>\nint main(void) { abort(); }");
    let hunt = hunt(&folder.path().join("fails.c"), 4);
    assert_eq!(hunt.code, Some(1), "{hunt:?}");
    assert_eq!(hunt.json["run"]["consequence"], "abort", "{hunt:?}");
    assert_eq!(hunt.observed()[0]["consequence"], "abort", "{hunt:?}");
    assert_eq!(hunt.observed()[0]["executions"], 1, "{hunt:?}");
}
