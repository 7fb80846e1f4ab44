//! The number of runs in parallel has no influence on the findings, even if the budget is too small
//! for everything.

use std::{collections::BTreeMap, fs};

use serde_json::Value;
use tempfile::TempDir;

use crate::kit::{norn, norn_hunt, subjects};

/// A budget that is too small for all of these programs.
const BUDGET: &str = "12";
/// Programs with many candidates.
const SUBJECTS: [&str; 10] = [
    "control/aba.cc",
    "control/double_checked.cc",
    "hunt/account.c",
    "hunt/bubble_sort.c",
    "hunt/critical.c",
    "hunt/hash_set.cc",
    "hunt/manager.c",
    "hunt/shop.c",
    "deadlock/bank.c",
    "deadlock/mailbox.cc",
];

/// The report of a hunt, and its clips.
fn hunt(jobs: &str, folder: &TempDir) -> (String, BTreeMap<String, Vec<u8>>) {
    let options = ["-j", jobs, "--budget", BUDGET, "--explore", "4", "--format", "json"];
    let ran = norn_hunt(options.into_iter().chain(["--", "./subject"]), folder);
    let clips = fs::read_dir(folder.path().join("run.norn/clips")).unwrap().map(|it| {
        let path = it.unwrap().path();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
    });
    (ran.stdout, clips.collect())
}

#[test]
fn the_number_of_jobs_has_no_influence() {
    for subject in SUBJECTS {
        let folder = tempfile::tempdir().unwrap();
        let (kind, name) = subject.split_once('/').unwrap();
        let source = subjects(kind).join(name);
        let is_cxx = source.extension().is_some_and(|it| it == "cc");
        let compiler = if is_cxx { "c++" } else { "cc" };
        let build = ["-g", "-O1", "-pthread", "-o", "subject", source.to_str().unwrap()];
        assert_eq!(norn(compiler, build, &folder).code, Some(0));
        let [one, two, eight] = ["1", "2", "8"].map(|jobs| hunt(jobs, &folder));
        let json: Value = serde_json::from_str(&one.0).unwrap();
        assert_eq!(json["summary"]["executions"].to_string(), BUDGET, "{subject}");
        assert!(one == two, "{subject}: {}\n{}", one.0, two.0);
        assert!(one == eight, "{subject}: {}\n{}", one.0, eight.0);
    }
}
