//! Paths and arguments that are not UTF-8: programs are recorded, hunted and replayed there, too.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::Path,
};

use serde_json::Value;

use crate::kit::{LOST_UPDATE, norn, program};

fn bytes(text: &[u8]) -> OsString {
    OsString::from_vec(text.to_vec())
}

/// Hunts a program, and replays the clip of its first bug.
fn hunt_and_replay(folder: &Path, command: &[OsString]) {
    let options = ["hunt", "-j2", "--budget", "20", "-o", "run.norn", "--format", "json", "--"];
    let words = options.map(OsString::from).into_iter().chain(command.iter().cloned());
    let ran = norn(folder, words);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let clip = fs::read(folder.join("run.norn/clips/1.json")).unwrap();
    let clip: Value = serde_json::from_slice(&clip).unwrap();
    assert!(!clip["schedule"].as_array().unwrap().is_empty(), "{clip}");
    let ran = norn(folder, ["replay", "run.norn/clips/1.json"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("norn: followed: "), "{ran:?}");
    let ran = norn(folder, ["info", "--format", "json", "run.norn"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let info: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(info["modules"][0]["instrumented"], true, "{info}");
    for words in [&["info", "run.norn"][..], &["dump", "run.norn"], &["predict", "run.norn"]] {
        let ran = norn(folder, words);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    }
}

#[test]
fn the_name_of_the_program() {
    let folder = program(LOST_UPDATE);
    let name = bytes(b"./pr\xffog\xe9");
    fs::rename(folder.path().join("prog"), folder.path().join(&name)).unwrap();
    hunt_and_replay(folder.path(), &[name]);
}

#[test]
fn the_folder_of_the_program() {
    let folder = program(LOST_UPDATE);
    let inner = folder.path().join(bytes(b"caf\xe9 \xf0\x9f"));
    fs::create_dir(&inner).unwrap();
    fs::rename(folder.path().join("prog"), inner.join("prog")).unwrap();
    hunt_and_replay(&inner, &["./prog".into()]);
    let whole = inner.join("prog").into_os_string();
    hunt_and_replay(folder.path(), &[whole]);
}

#[test]
fn an_argument() {
    let source = LOST_UPDATE.replace("int main(void) {", "int main(int argc, char **argv) {");
    let source = source.replace(
        "    pthread_t",
        "    if (argc != 2 || (unsigned char)argv[1][0] != 0xff) return 9;\n    pthread_t",
    );
    let folder = program(&source);
    hunt_and_replay(folder.path(), &["./prog".into(), bytes(b"\xffx")]);
}

/// The events are in a library whose path is in the clip.
#[test]
fn the_path_of_a_library() {
    let folder = crate::kit::folder(
        "lib.c",
        "int counter; void add(void) { int seen = counter; counter = seen + 1; }",
    );
    let inner = folder.path().join(bytes(b"lib\xc3"));
    fs::create_dir(&inner).unwrap();
    let library = inner.join("libadd.so");
    let words = ["cc", "-g", "-shared", "-fPIC", "lib.c", "-o"].map(OsStr::new);
    let ran = norn(folder.path(), words.into_iter().chain([library.as_os_str()]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let source = LOST_UPDATE
        .replace("static int counter;", "extern int counter; void add(void);")
        .replace(
            "static void *add(void *arg) { int seen = counter; counter = seen + 1;",
            "static void *run(void *arg) { add();",
        )
        .replace("add, 0)", "run, 0)");
    fs::write(folder.path().join("prog.c"), source).unwrap();
    let path = bytes(&[b"-Wl,-rpath,", inner.as_os_str().as_bytes()].concat());
    let words = ["cc", "-g", "-pthread", "prog.c", "-o", "prog"].map(OsString::from).into_iter();
    let ran = norn(folder.path(), words.chain([library.clone().into_os_string(), path]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    hunt_and_replay(folder.path(), &["./prog".into()]);
}

#[test]
fn the_folder_of_the_trace() {
    // Recording does not control the threads, so an assertion could fail here now and then.
    let folder = program(&LOST_UPDATE.replace("assert(counter == 2);", ""));
    let output = bytes(b"run\xfe.norn");
    let words = ["record", "-o"].map(OsString::from).into_iter();
    let ran = norn(folder.path(), words.chain([output.clone(), "./prog".into()]));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for command in ["info", "dump", "export"] {
        let ran = norn(folder.path(), [OsString::from(command), output.clone()]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

/// A source in such a folder is compiled and hunted.
#[test]
fn the_folder_of_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(bytes(b"s\x80.c"));
    fs::write(&source, LOST_UPDATE).unwrap();
    let words = ["hunt", "-j2", "--budget", "20", "--"].map(OsStr::new).into_iter();
    let ran = norn(folder.path(), words.chain([source.as_os_str()]));
    assert_eq!(ran.code, Some(1), "{ran:?}");
}
