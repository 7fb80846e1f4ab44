//! Output is not written through symbolic links.

use std::{fs, os::unix::fs::symlink, path::Path};

use tempfile::TempDir;

use crate::kit::{LOST_UPDATE, norn, program};

/// A run that leaves a trace. Its threads run one after the other, so that it ends normally.
const RUN: [&str; 8] =
    ["run", "--strategy", "round-robin", "--quantum", "999", "-o", "run.norn", "./prog"];

/// A folder with a program, and with a file and a folder that links can point to.
fn prepared() -> TempDir {
    let folder = program(LOST_UPDATE);
    fs::write(folder.path().join("precious"), "precious").unwrap();
    fs::create_dir(folder.path().join("elsewhere")).unwrap();
    folder
}

#[track_caller]
fn assert_untouched(folder: &Path) {
    assert_eq!(fs::read_to_string(folder.join("precious")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.join("elsewhere")).unwrap().count(), 0);
}

#[test]
fn the_folder_of_a_trace() {
    let folder = prepared();
    symlink("elsewhere", folder.path().join("link")).unwrap();
    symlink("missing", folder.path().join("dangling")).unwrap();
    for words in [
        &["record", "-o", "link", "./prog"][..],
        &["run", "-o", "link", "./prog"],
        &["hunt", "-o", "link", "./prog"],
        &["hunt", "-o", "link", "prog.c"],
        &["run", "--times", "2", "-o", "link", "./prog"],
        &["record", "-o", "dangling", "./prog"],
    ] {
        let ran = norn(folder.path(), words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("it is a symbolic link"), "{words:?}: {ran:?}");
        assert_untouched(folder.path());
        assert!(!folder.path().join("missing").exists());
    }
}

/// Links in the folder of an earlier trace are replaced.
#[test]
fn the_files_of_a_trace() {
    for name in ["run.json.new", "reserve", "0.chunks", "run.json", "inputs.json"] {
        let folder = prepared();
        let ran = norn(folder.path(), RUN);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let link = folder.path().join("run.norn").join(name);
        let _ = fs::remove_file(&link);
        symlink("../precious", &link).unwrap();
        let ran = norn(folder.path(), RUN);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        assert_untouched(folder.path());
        let ran = norn(folder.path(), ["info", "run.norn"]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    }
}

#[test]
fn clips_and_baselines() {
    let folder = prepared();
    for name in ["clip.json", "clip.json.new", "known.json", "known.json.new"] {
        symlink("precious", folder.path().join(name)).unwrap();
    }
    let ran =
        norn(folder.path(), ["run", "--strategy", "round-robin", "--save", "clip.json", "./prog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let words = ["hunt", "-j2", "--budget", "20", "--write-baseline", "known.json", "./prog"];
    let ran = norn(folder.path(), words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_untouched(folder.path());
    for name in ["clip.json", "known.json"] {
        let path = folder.path().join(name);
        assert!(!path.is_symlink(), "{name}");
        let text = fs::read_to_string(path).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}

#[test]
fn the_clips_of_a_hunt() {
    let folder = prepared();
    let ran = norn(folder.path(), RUN);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    symlink("../elsewhere", folder.path().join("run.norn/clips")).unwrap();
    let ran = norn(folder.path(), ["hunt", "-j2", "--budget", "20", "-o", "run.norn", "./prog"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("it is a symbolic link"), "{ran:?}");
    assert_untouched(folder.path());
    fs::remove_file(folder.path().join("run.norn/clips")).unwrap();
    symlink("../elsewhere", folder.path().join("run.norn/program")).unwrap();
    let ran = norn(folder.path(), ["hunt", "-j2", "--budget", "20", "-o", "run.norn", "prog.c"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_untouched(folder.path());
}
