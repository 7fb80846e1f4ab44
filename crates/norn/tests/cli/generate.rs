//! Completion scripts and manual pages.

use std::fs;

use crate::kit::{command, folder, norn, run};

#[test]
fn completion_scripts_are_printed() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = norn(&["completions", shell]);
        assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{shell}: {ran:?}");
        for word in ["hunt", "replay", "budget", "suppressions"] {
            assert!(ran.stdout.contains(word), "{shell}: no {word}");
        }
    }
    let ran = norn(&["completions", "basic"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("possible values: bash, "), "{ran:?}");
}

#[test]
fn the_manual_page_is_printed() {
    let ran = norn(&["man"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    assert!(ran.stdout.contains(".TH norn 1"), "{ran:?}");
    assert!(ran.stdout.contains("Find concurrency bugs"), "{ran:?}");
}

#[test]
fn each_command_has_a_manual_page() {
    let folder = folder(&[]);
    let ran = run(&mut command(&["man", "pages/man1"], folder.path()));
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""), "{ran:?}");
    let page =
        |name: &str| fs::read_to_string(folder.path().join("pages/man1").join(name)).unwrap();
    assert!(page("norn.1").contains("norn\\-hunt(1)"));
    assert!(page("norn-hunt.1").contains("Maximum number of executions"));
    assert!(page("norn-replay.1").contains("the schedule could not be followed"));
}
