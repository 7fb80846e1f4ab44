//! What a clip runs is shown before it runs, and a clip cannot load other code into the program unless
//! the user allows it.

use std::{fs, path::Path};

use crate::kit::{LOST_UPDATE, Ran, SCHEDULE, assert_refused, norn, program};

/// Replays a clip with these variables.
fn replay(folder: &Path, environment: &str, options: &[&str]) -> Ran {
    let text = format!(
        r#"{{"norn": 1, "command": ["./prog", "two words"], "environment": {environment}, "schedule": {SCHEDULE}}}"#
    );
    fs::write(folder.join("clip.json"), text).unwrap();
    norn(folder, [&["replay"], options, &["clip.json"]].concat())
}

#[test]
fn the_command_and_the_environment_are_shown() {
    let folder = program(LOST_UPDATE);
    let ran = replay(folder.path(), r#"{"COLOR": "red", "EMPTY": ""}"#, &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let first = "norn: the clip runs COLOR=red EMPTY='' ./prog 'two words'\n";
    assert!(ran.stderr.starts_with(first), "{ran:?}");
    let ran =
        norn(folder.path(), ["run", "--strategy", "round-robin", "--save", "own.json", "./prog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = norn(folder.path(), ["replay", "own.json"]);
    let here = folder.path().canonicalize().unwrap();
    let first = format!("norn: the clip runs ./prog in {}\n", here.display());
    assert!(ran.stderr.starts_with(&first), "{ran:?}");
    let ran = norn(folder.path(), ["replay", "--times", "3", "own.json"]);
    assert!(ran.stderr.starts_with(&first), "{ran:?}");
    let ran = norn(folder.path(), ["replay", "own.json", "--", "./prog"]);
    assert!(!ran.stderr.contains("the clip runs"), "{ran:?}");
    let ran = norn(folder.path(), ["--quiet", "replay", "own.json"]);
    assert!(!ran.stderr.contains("the clip runs"), "{ran:?}");
}

/// The program prints what a loader variable holds; the first run without one shows that it can.
#[test]
fn variables_of_the_loader_need_permission() {
    let source = LOST_UPDATE.replace(
        "    pthread_t",
        "    fprintf(stderr, \"LIMIT %s\\n\", getenv(\"LD_LIMIT\") ? getenv(\"LD_LIMIT\") : \"none\");\n    pthread_t",
    );
    let folder = program(&format!("#include <stdio.h>\n#include <stdlib.h>\n{source}"));
    assert!(replay(folder.path(), "{}", &[]).stderr.contains("LIMIT none"));
    for name in ["LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_LIMIT", "GLIBC_TUNABLES"] {
        let ran = replay(folder.path(), &format!(r#"{{"A": "1", "{name}": "x"}}"#), &[]);
        assert_refused(&ran, &format!("the clip `clip.json` sets `{name}`"));
        assert!(ran.stderr.contains("hint: --allow-loader-variables"), "{ran:?}");
        assert!(!ran.stderr.contains("LIMIT none"), "{ran:?}");
    }
    let ran = replay(folder.path(), r#"{"LD_LIMIT": "x"}"#, &["--allow-loader-variables"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("LIMIT x"), "{ran:?}");
    assert!(ran.stderr.contains("norn: the clip runs LD_LIMIT=x ./prog"), "{ran:?}");
}

/// Norn's own variable decides where the events go: no clip may set it, with or without permission.
#[test]
fn variables_of_norn_are_refused() {
    let folder = program(LOST_UPDATE);
    let name = norn_abi::arena::ENV;
    for options in [&[][..], &["--allow-loader-variables"]] {
        let ran = replay(folder.path(), &format!(r#"{{"{name}": "/tmp/x"}}"#), options);
        assert_refused(&ran, &format!("sets `{name}`, which norn sets itself"));
    }
}
