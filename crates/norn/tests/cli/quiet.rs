//! `--quiet` and `--verbose`.

use crate::kit::{command, folder, lost_update, run};

#[test]
fn quiet_omits_notes_and_hints() {
    let folder = folder(&[]);
    let source = lost_update();
    let words = ["cc", "-g", "-pthread", "-o", "prog", source.to_str().unwrap()];
    assert_eq!(run(&mut command(&words, folder.path())).code, Some(0));
    let options = ["run", "--strategy", "pct", "--save", "clip.json", "--", "./prog"];
    let loud = run(&mut command(&options, folder.path()));
    assert!(loud.stderr.contains("measured by one extra run"), "{loud:?}");
    assert!(loud.stderr.contains("hint: `norn replay clip.json` repeats this run"), "{loud:?}");
    let quiet = run(&mut command(&[&["-q"], &options[..]].concat(), folder.path()));
    assert_eq!((quiet.code, &quiet.stdout), (loud.code, &loud.stdout));
    assert!(!quiet.stderr.contains("hint: "), "{quiet:?}");
    assert!(!quiet.stderr.contains("extra run"), "{quiet:?}");
}

#[test]
fn errors_are_never_omitted() {
    let folder = folder(&[]);
    let ran = run(&mut command(&["-q", "hunt", "true"], folder.path()));
    assert!(ran.stderr.starts_with("norn: `true` left no events"), "{ran:?}");
    let ran = run(&mut command(&["record", "-q", "true"], folder.path()));
    assert!(ran.stderr.contains("hint: build it with"), "{ran:?}");
}

#[test]
fn verbose_names_unused_suppressions() {
    let folder = folder(&[("own.supp", "race:nobody\n")]);
    let source = lost_update();
    let source = source.to_str().unwrap();
    let options = ["--suppressions", "own.supp", "-j2", "--budget", "30", "--", source];
    let ran = run(&mut command(&[&["hunt"], &options[..]].concat(), folder.path()));
    assert!(!ran.stdout.contains("race:nobody"), "{ran:?}");
    let ran = run(&mut command(&[&["hunt", "-v"], &options[..]].concat(), folder.path()));
    assert!(ran.stdout.contains("race:nobody"), "{ran:?}");
}
