//! Errors have one form: the error, its cause and a hint; and an exit status.

use std::{fs, path::Path, process::Command};

use crate::{
    event::lines,
    kit::{Ran, norn, record, run, subject},
};

/// The standard error of a command of norn, and its exit status; paths are shortened.
fn said(ran: &Ran, folder: &Path) -> String {
    let text = ran.stderr.replace(&folder.display().to_string(), "[folder]");
    format!("{text}[exit {}]", ran.status.code().map_or("?".to_owned(), |it| it.to_string()))
}

fn norn_in(folder: &Path, words: &[&str]) -> Ran {
    let mut command = norn(words);
    command.current_dir(folder);
    run(command)
}

#[test]
fn a_program_without_instrumentation_has_status_3() {
    let folder = tempfile::tempdir().unwrap();
    let mut gcc = Command::new("gcc");
    gcc.arg(crate::kit::subjects().join("fences.c")).arg("-o").arg(folder.path().join("plain"));
    assert!(run(gcc).status.success());
    let ran = norn_in(folder.path(), &["record", "--", "./plain"]);
    assert_eq!(ran.stdout, "fenced\n");
    insta::assert_snapshot!(said(&ran, folder.path()), @r#"
    norn: `./plain` left no events: it was not built with norn
    hint: build it with `norn build make`, or `norn cc prog.c -o prog`
    [exit 3]
    "#);
}

#[test]
fn a_program_that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let ran = norn_in(folder.path(), &["record", "--", "./missing"]);
    insta::assert_snapshot!(said(&ran, folder.path()), @r"
    norn: cannot run `./missing`: No such file or directory (os error 2)
    hint: a program in this folder is started as `./program`, and must be built first
    [exit 2]
    ");
}

#[test]
fn a_file_that_is_not_a_program_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text"), "not a program").unwrap();
    let ran = norn_in(folder.path(), &["record", "--", "./text"]);
    insta::assert_snapshot!(said(&ran, folder.path()), @r"
    norn: cannot run `./text`: Permission denied (os error 13)
    hint: is it a program, and may you execute it?
    [exit 2]
    ");
}

#[test]
fn an_output_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let program = subject("fences.c").build();
    let ran =
        norn_in(folder.path(), &["record", "-o", "file/trace", "--", program.to_str().unwrap()]);
    assert_eq!(ran.stdout, "", "the program must not run");
    insta::assert_snapshot!(said(&ran, folder.path()), @r"
    norn: cannot write the trace to `file/trace`: Not a directory (os error 20)
    hint: choose another folder with -o
    [exit 2]
    ");
}

#[test]
fn an_output_that_is_a_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "precious").unwrap();
    let program = subject("fences.c").build();
    let ran = norn_in(folder.path(), &["record", "-o", "file", "--", program.to_str().unwrap()]);
    assert_eq!((ran.stdout.as_str(), ran.status.code()), ("", Some(2)));
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "precious");
}

/// Norn does not write into a folder that contains other files, and loses none of them.
#[test]
fn an_output_that_is_another_folder_keeps_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    for name in ["notes.txt", "0.chunks", "reserve"] {
        fs::write(other.join(name), "precious").unwrap();
    }
    let program = subject("fences.c").build();
    norn_in(folder.path(), &["record", "-o", "other", "--", program.to_str().unwrap()]);
    for name in ["notes.txt", "0.chunks", "reserve"] {
        assert_eq!(fs::read_to_string(other.join(name)).unwrap_or_default(), "precious", "{name}");
    }
}

#[test]
fn an_existing_trace_stays_if_the_program_cannot_be_started() {
    let recorded = record("widths.c");
    let shown = || lines(recorded.events_of(0).iter().filter(|it| it.variable() == "flag"));
    let before = shown();
    let folder = recorded.folder.path();
    let ran = norn_in(folder, &["record", "-o", "trace", "--", "./missing"]);
    assert_eq!(ran.status.code(), Some(2));
    assert_eq!(shown(), before);
}

/// Recording again into the same folder replaces the whole trace.
#[test]
fn an_existing_trace_is_replaced() {
    let recorded = record("fork.c");
    assert!(recorded.trace().join("2.chunks").is_file());
    let widths = subject("widths.c");
    assert!(run(widths.recorder(&widths.build(), recorded.folder.path())).status.success());
    assert_eq!(recorded.info()["processes"].as_array().unwrap().len(), 1);
    assert_eq!(recorded.written("flag"), [1]);
    assert!(!recorded.trace().join("2.chunks").exists());
}

#[test]
fn a_trace_that_does_not_exist_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["info", "dump"] {
        let ran = norn_in(folder.path(), &[command, "missing.norn"]);
        assert_eq!(ran.stdout, "");
        insta::allow_duplicates! {
            insta::assert_snapshot!(said(&ran, folder.path()), @r"
            norn: there is no trace at `missing.norn`
            hint: `norn record -o missing.norn ./program` makes one
            [exit 2]
            ");
        }
    }
}

#[test]
fn a_file_that_is_not_a_trace_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("text"), "not a trace").unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for name in ["text", "empty"] {
        let ran = norn_in(folder.path(), &["info", name]);
        assert_eq!((ran.stdout.as_str(), ran.status.code()), ("", Some(2)), "{name}");
        assert!(ran.stderr.starts_with("norn: ") && ran.stderr.contains(name), "{}", ran.stderr);
    }
}

#[test]
fn a_trace_of_a_newer_version_is_an_error() {
    let recorded = record("widths.c");
    let file = recorded.trace().join("run.json");
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    run["format"] = 9999.into();
    fs::write(&file, run.to_string()).unwrap();
    for command in ["info", "dump"] {
        let ran = recorded.norn(&[command]);
        assert_eq!((ran.stdout.as_str(), ran.status.code()), ("", Some(2)));
        assert!(ran.stderr.contains("9999") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    }
}

/// Undamaged events are printed, and the damage is reported.
#[test]
fn a_truncated_trace_is_read_up_to_the_damage() {
    let recorded = record("locked.c");
    let whole = recorded.events_of(0).len();
    let file = recorded.trace().join("0.chunks");
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    let info = recorded.info();
    assert!(!info["damage"].as_array().unwrap().is_empty(), "{info}");
    let events = recorded.events_of(0).len();
    assert!(events > 0 && events < whole, "{events} of {whole}");
}

#[test]
fn a_flipped_byte_damages_one_chunk() {
    let recorded = record("locked.c");
    let file = recorded.trace().join("0.chunks");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    fs::write(&file, &bytes).unwrap();
    assert!(!recorded.info()["damage"].as_array().unwrap().is_empty());
    recorded.events_of(0);
}

#[test]
fn a_missing_command_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let ran = norn_in(folder.path(), &["record"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(ran.stderr.contains("<PROGRAM>"), "{}", ran.stderr);
}
