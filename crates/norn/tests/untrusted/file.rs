//! A file that is a FIFO, a device or a folder is refused at once: nothing waits for a writer, and
//! nothing reads without end.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::kit::{LOST_UPDATE, assert_refused, fifo, folder, norn, program};

#[test]
fn a_trace() {
    let folder = folder("unused", "");
    fifo(&folder.path().join("fifo"));
    for command in ["info", "dump", "predict"] {
        let ran = norn(folder.path(), [command, "fifo"]);
        assert_refused(&ran, "cannot read `fifo`");
        assert!(ran.stderr.contains("it is a FIFO, not a regular file"), "{ran:?}");
        let ran = norn(folder.path(), [command, "/dev/zero"]);
        assert_refused(&ran, "it is a device, not a regular file");
        let ran = norn(folder.path(), [command, "."]);
        assert_refused(&ran, "`.` is not a trace: it has no `run.json`");
    }
    for file in ["fifo", "/dev/zero"] {
        assert_refused(&norn(folder.path(), ["export", file]), "is not a trace");
    }
}

#[test]
fn the_description_of_a_run() {
    let folder = folder("unused", "");
    for (name, why) in [
        ("fifo", "it is a FIFO, not a regular file"),
        ("device", "it is a device, not a regular file"),
        ("folder", "is a directory"),
    ] {
        let trace = folder.path().join(name);
        fs::create_dir(&trace).unwrap();
        let file = trace.join("run.json");
        match name {
            "fifo" => drop(fifo(&file)),
            "device" => symlink("/dev/zero", &file).unwrap(),
            _ => fs::create_dir(&file).unwrap(),
        }
        for command in ["info", "dump", "export", "predict"] {
            assert_refused(&norn(folder.path(), [command, name]), why);
        }
    }
}

#[test]
fn the_events_of_a_run() {
    let folder = program("int main(void) { return 0; }");
    let ran = norn(folder.path(), ["record", "-o", "run.norn", "./prog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = folder.path().join("run.norn/0.chunks");
    fs::remove_file(&file).unwrap();
    fifo(&file);
    let ran = norn(folder.path(), ["info", "run.norn"]);
    assert_refused(&ran, "it is a FIFO, not a regular file");
    fs::remove_file(&file).unwrap();
    symlink("/dev/zero", &file).unwrap();
    let ran = norn(folder.path(), ["dump", "run.norn"]);
    assert_refused(&ran, "it is a device, not a regular file");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_refused(&norn(folder.path(), ["dump", "run.norn"]), "is a directory");
}

#[test]
fn a_clip() {
    let folder = folder("unused", "");
    fifo(&folder.path().join("fifo"));
    for (clip, why) in [
        ("fifo", "it is a FIFO, not a regular file"),
        ("/dev/zero", "it is a device, not a regular file"),
        ("/dev/null", "it is a device, not a regular file"),
        (".", "is a directory"),
    ] {
        let ran = norn(folder.path(), ["replay", clip]);
        assert_refused(&ran, &format!("cannot read the clip `{clip}`"));
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
}

/// Texts may come from pipes, but not without end.
#[test]
fn properties_patterns_suppressions_and_configurations() {
    let folder = program(LOST_UPDATE);
    fifo(&folder.path().join("fifo"));
    let endless = "it has more than 1048576 bytes";
    let cases = [
        (&["property", "lint", "/dev/zero"][..], endless),
        (&["hunt", "--pattern", "/dev/zero", "./prog"], endless),
        (&["hunt", "--suppressions", "/dev/zero", "./prog"], endless),
        (&["--config", "/dev/zero", "hunt", "./prog"], endless),
        (&["hunt", "--baseline", "/dev/zero", "./prog"], "it has more than"),
        (&["property", "lint", "fifo"], "there is no property in this file"),
        (&["hunt", "--baseline", "fifo", "./prog"], "`fifo` is not a baseline"),
        (&["property", "lint", "."], "is a directory"),
        (&["hunt", "--suppressions", ".", "./prog"], "is a directory"),
    ];
    for (words, why) in cases {
        let ran = norn(folder.path(), words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(format!("{}{}", ran.stderr, ran.stdout).contains(why), "{words:?}: {ran:?}");
    }
    assert!(Path::new(&folder.path().join("fifo")).exists());
}
