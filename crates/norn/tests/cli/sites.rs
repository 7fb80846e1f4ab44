//! `norn sites`.

use std::{fs, path::Path, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{Ran, command, folder, run};

const PROGRAM: &str = "\
#include <assert.h>
#include <stdio.h>
int total, parts[2]; int volatile ready;
void note(int value) { puts(value ? \"yes\" : \"no\"); }
int main(void) {
    int sum = parts[0];
    assert(total == sum);
    if (parts[1] > 3)
        note(2);
    while (ready < 5)
        parts[1]++;
    return 0;
}
";

/// A folder with the program, built by norn.
fn built() -> TempDir {
    let folder = folder(&[("sum.c", PROGRAM)]);
    let cc = ["cc", "-g", "-O1", "-fno-inline", "sum.c", "-o", "sum"];
    let ran = run(&mut command(&cc, folder.path()));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

/// Runs `norn sites` with a cache in the folder.
fn sites(folder: &Path, words: &[&str]) -> Ran {
    let all: Vec<_> = ["sites"].iter().chain(words).copied().collect();
    run(command(&all, folder).env("NORN_CACHE", folder.join("cache")))
}

fn lines(text: &str) -> Vec<String> {
    let short = |it: &str| match it.rsplit_once('/') {
        Some((before, file)) => {
            format!("{}{file}", &before[..before.find(" at ").map_or(0, |at| at + 4)])
        }
        None => it.to_owned(),
    };
    text.lines().map(short).collect()
}

#[test]
fn sites_are_grouped_by_kind_and_place() {
    let folder = built();
    let kinds = ["--kind", "assertion", "--kind", "loop", "./sum"];
    let ran = sites(folder.path(), &kinds);
    assert_eq!((ran.code, &*ran.stderr), (Some(0), ""), "{ran:?}");
    let lines = lines(&ran.stdout);
    let begin = [
        "assertions: 1",
        "  main at sum.c:7",
        "    distance 2: read in main at sum.c:6",
        "    distance 2: read in main at sum.c:7",
        "loops: 1",
        "  main at sum.c:10",
        "    distance 2: read in main at sum.c:10",
    ];
    assert_eq!(lines, begin, "{}", ran.stdout);
}

#[test]
fn listed_functions_report_errors() {
    let folder = built();
    let ran = sites(folder.path(), &["--kind", "error-message", "./sum"]);
    assert_eq!(ran.stdout, "no failure site depends on a shared read\n");
    let ran = sites(folder.path(), &["--kind", "error-message", "--function", "note", "./sum"]);
    assert_eq!(lines(&ran.stdout)[..2], ["error messages: 1", "  main at sum.c:9"]);
}

#[test]
fn json_has_a_version_and_all_reads() {
    let folder = built();
    let ran = sites(folder.path(), &["--format", "json", "--distance", "2", "./sum"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&json["version"], &json["distance"]), (&1.into(), &2.into()));
    let all = json["sites"].as_array().unwrap();
    let assertion = all.iter().find(|it| it["kind"] == "assertion").unwrap();
    assert_eq!((&assertion["function"], &assertion["line"]), (&"main".into(), &7.into()));
    let reads = assertion["reads"].as_array().unwrap();
    assert_eq!(reads.len(), 2, "{assertion:#}");
    assert!(reads.iter().all(|it| it["chain"][0] == assertion["address"]), "{assertion:#}");
}

#[test]
fn results_are_cached_and_damage_is_repaired() {
    let folder = built();
    let first = sites(folder.path(), &["./sum"]);
    let cache = folder.path().join("cache/sites");
    let files: Vec<_> = fs::read_dir(&cache).unwrap().map(|it| it.unwrap().path()).collect();
    let [file] = &files[..] else { panic!("{files:?}") };
    let kept = fs::read(file).unwrap();
    assert_eq!(sites(folder.path(), &["./sum"]).stdout, first.stdout);
    fs::write(file, &kept[..kept.len() / 2]).unwrap();
    assert_eq!(sites(folder.path(), &["./sum"]).stdout, first.stdout);
    assert_eq!(fs::read(file).unwrap(), kept);

    fs::remove_dir_all(&cache).unwrap();
    assert_eq!(sites(folder.path(), &["--no-cache", "./sum"]).stdout, first.stdout);
    assert!(!cache.exists());
}

#[test]
fn a_program_without_hooks_has_no_sites() {
    let folder = folder(&[("sum.c", PROGRAM)]);
    let compiler = Command::new("gcc").args(["sum.c", "-o", "plain"]).current_dir(&folder).status();
    assert!(compiler.unwrap().success());
    let ran = sites(folder.path(), &["./plain"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(3), ""), "{ran:?}");
    assert!(ran.stderr.contains("has no instrumented code\nhint: "), "{}", ran.stderr);
    let ran = sites(folder.path(), &["./missing"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
