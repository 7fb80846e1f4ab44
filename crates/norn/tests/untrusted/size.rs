//! Files and names of absurd size are refused before they cost time or memory. Each case here would
//! take minutes or gigabytes without a limit; the time limit of commands in tests fails it then.

use std::{
    fs::{self, File},
    path::Path,
};

use crate::kit::{Ran, assert_refused, folder, norn};

fn lint(folder: &Path, text: &str) -> Ran {
    fs::write(folder.join("p.norn"), text).unwrap();
    norn(folder, ["property", "lint", "p.norn"])
}

fn property(head: &str, pattern: &str) -> String {
    format!("{head} {{ event a: read x event b: write x pattern: {pattern} }}")
}

#[test]
fn properties() {
    let folder = folder("unused", "");
    let list = |count: usize, part: fn(usize) -> String| (0..count).map(part).collect::<Vec<_>>();
    let parameters = list(90_000, |it| format!("p{it}")).join(",");
    let events = list(40_000, |it| format!("event e{it}: read x")).join(" ");
    let properties = list(900, |it| property(&format!("P{it}()"), "a(t1) b(t2)")).join("\n");
    let cases = [
        (property("P()", &"a b ".repeat(200_000)), "a pattern has 64 events at most"),
        (property("P()", &"!a b ".repeat(100_000)), "a pattern has 64 events at most"),
        (property("P()", &vec!["a b"; 30_000].join(" || ")), "a pattern has 64 events at most"),
        (property("P()", &format!("{}a", "(".repeat(400_000))), "this is nested too deep"),
        (property(&format!("P({parameters})"), "a b"), "a property has 32 parameters at most"),
        (
            property(&format!("{}()", "P".repeat(900_000)), "a"),
            "this name has more than 4096 bytes",
        ),
        (format!("P() {{ {events} pattern: e1 e2 }}"), "a property has 64 events at most"),
        (
            format!("P() {{ event a: read {} pattern: a }}", "x".repeat(9999)),
            "more than 4096 bytes",
        ),
        (
            format!("P() {{ event a: {} pattern: a }}", vec!["read x"; 9999].join(" | ")),
            "64 actions",
        ),
        (properties, "a file has 256 properties"),
        ("}\n".repeat(500_000), "expected the name of a property, found `}`"),
        ("P() { event a: strange x }".repeat(30_000), "expected"),
        ("x".repeat(2 << 20), "it has more than 1048576 bytes"),
    ];
    for (text, why) in cases {
        let ran = lint(folder.path(), &text);
        assert_refused(&ran, why);
        assert!(ran.stderr.len() < 4 << 20, "{} bytes of errors: {why}", ran.stderr.len());
    }
}

/// Files that claim to be huge are not read.
#[test]
fn sparse_files() {
    let folder = folder("unused", "");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("trace")).unwrap();
    for name in ["clip.json", "trace/run.json", "p.norn", "run.std", "norn.toml"] {
        File::create(at(name)).unwrap().set_len(1 << 40).unwrap();
    }
    for words in [
        &["--no-config", "replay", "clip.json"][..],
        &["--no-config", "info", "trace"],
        &["--no-config", "property", "lint", "p.norn"],
        &["--no-config", "dump", "run.std"],
        &["hunt", "./prog"],
    ] {
        assert_refused(&norn(folder.path(), words), "it has more than ");
    }
}

#[test]
fn names_of_imported_traces() {
    let long = "x".repeat(5000);
    for line in [format!("{long}|w(x)|1"), format!("T0|w({long})|1"), format!("T0|w(x)|{long}")] {
        let folder = folder("run.std", &line);
        let ran = norn(folder.path(), ["info", "run.std"]);
        assert_refused(&ran, "expected a name of at most 4096 bytes, found `");
        assert!(ran.stderr.len() < 1000, "{ran:?}");
    }
}

#[test]
fn names_in_clips() {
    let long = "T0.1".repeat(1 << 18);
    let deep = "[".repeat(1 << 20);
    for text in [
        format!(
            r#"{{"norn": 1, "command": ["/bin/true"], "schedule": [{{"thread": "{long}", "until": "end"}}]}}"#
        ),
        format!(r#"{{"norn": 1, "{long}": 1}}"#),
        format!(r#"{{"norn": 1, "command": {deep}"#),
    ] {
        let folder = folder("clip.json", &text);
        let ran = norn(folder.path(), ["replay", "clip.json"]);
        assert_eq!(ran.code, Some(2), "{:.300}", ran.stderr);
        assert!(ran.stderr.len() < 2000, "{}", ran.stderr.len());
    }
}
