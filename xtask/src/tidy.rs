//! Checks project rules that the compiler does not.

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::workspace::{self, cargo};

/// By crate: the crates of the workspace that it may depend on.
const DIRECTION: &[(&str, &[&str])] = &[
    ("norn-abi", &[]),
    ("norn-model", &["norn-window"]),
    ("norn-window", &[]),
    ("norn-binary", &["norn-model"]),
    (
        "norn-campaign",
        &[
            "norn-frontend",
            "norn-localize",
            "norn-model",
            "norn-replay",
            "norn-report",
            "norn-store",
            "norn-trace",
        ],
    ),
    ("norn-cargo", &["norn-model"]),
    ("norn-cc", &[]),
    ("norn-e2e", &[]),
    ("norn-marks", &[]),
    // The checker judges the engines: it must not share code with them, not even through another
    // crate.
    ("norn-checker", &["norn-model"]),
    ("norn-learn", &["norn-model"]),
    ("norn-localize", &["norn-model", "norn-window"]),
    ("norn-predict", &["norn-model"]),
    ("norn-report", &["norn-model"]),
    ("norn-property", &["norn-model", "norn-predict"]),
    ("norn-witness", &["norn-checker", "norn-model"]),
    ("norn-frontend", &["norn-model", "norn-trace"]),
    // Campaigns and forced schedules know programs only by the seam for front ends.
    (
        "norn-hunt",
        &[
            "norn-frontend",
            "norn-learn",
            "norn-model",
            "norn-predict",
            "norn-property",
            "norn-replay",
            "norn-report",
            "norn-trace",
            "norn-witness",
        ],
    ),
    ("norn-replay", &["norn-frontend", "norn-model", "norn-report", "norn-trace"]),
    ("norn-store", &[]),
    ("norn-testkit", &["norn-model"]),
    ("norn-trace", &["norn-abi", "norn-model"]),
    (
        "norn-record",
        &["norn-abi", "norn-binary", "norn-frontend", "norn-model", "norn-trace", "norn-window"],
    ),
    ("norn-sites", &["norn-binary", "norn-model"]),
    (
        "norn-native",
        &[
            "norn-abi",
            "norn-binary",
            "norn-frontend",
            "norn-model",
            "norn-record",
            "norn-sites",
            "norn-trace",
        ],
    ),
    ("norn-rt", &["norn-abi", "norn-sched", "norn-window"]),
    ("norn-sched", &["norn-abi"]),
    ("norn", ANY),
    ("xtask", &["norn-e2e"]),
];

/// May depend on all crates.
const ANY: &[&str] = &["*"];

/// A longer file needs a comment that begins with [`REASON`].
const LONGEST: usize = 500;
const REASON: &str = "Long because";

/// Prefixes of paths that only exist on one machine. Each is written in two pieces, so that this
/// file follows its own rule.
const MACHINE: [&str; 4] =
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

pub(crate) fn run() -> Result<()> {
    let mut problems = Vec::new();
    for manifest in ["Cargo.toml", "rt/Cargo.toml"] {
        problems.extend(directions(&metadata(manifest)?));
    }
    for path in files()? {
        // Files that are not text are not sources.
        if let Ok(text) = fs::read_to_string(workspace::root().join(&path)) {
            problems.extend(too_long(&path, &text));
            problems.extend(machine_paths(&path, &text));
            problems.extend(printing(&path, &text));
        }
    }
    for problem in &problems {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "{} rules are broken", problems.len());
    Ok(())
}

/// All files that are or would be committed.
fn files() -> Result<Vec<String>> {
    let mut command = Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let text = workspace::output(command.current_dir(workspace::root()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn metadata(manifest: &str) -> Result<Value> {
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--manifest-path", manifest];
    serde_json::from_str(&workspace::output(&mut cargo(&arguments))?).context("cargo metadata")
}

fn directions(metadata: &Value) -> Vec<String> {
    let allowed: BTreeMap<_, _> = DIRECTION.iter().copied().collect();
    let mut problems = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(allowed) = allowed.get(name) else {
            problems.push(format!("{name}: say in xtask/src/tidy.rs what it may depend on"));
            continue;
        };
        for dependency in ours(package) {
            if *allowed != ANY && !allowed.contains(&dependency) {
                problems.push(format!("{name} must not depend on {dependency}"));
            }
        }
    }
    problems
}

/// The dependencies within the workspace. Those of tests are not restricted.
fn ours(package: &Value) -> impl Iterator<Item = &str> {
    let all = package["dependencies"].as_array().into_iter().flatten();
    let all = all.filter(|it| it["kind"] != "dev" && it["path"].is_string());
    all.filter_map(|it| it["name"].as_str())
}

fn too_long(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    let excused = text.lines().any(|line| is_reason(line.trim_start()));
    let bad = is_source(path) && lines > LONGEST && !excused;
    bad.then(|| format!("{path}: {lines} lines, and no comment that begins with `{REASON}`"))
}

fn is_reason(line: &str) -> bool {
    line.starts_with("//") && line.trim_start_matches(['/', '!', ' ']).starts_with(REASON)
}

fn is_source(path: &str) -> bool {
    let endings = ["rs", "c", "h", "cpp", "hpp"];
    path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let found = |line: &str| MACHINE.iter().any(|begin| names_machine(line, begin));
    let lines = text.lines().enumerate().filter(|(_, line)| found(line));
    lines.map(|(at, _)| format!("{path}:{}: a path of one machine", at + 1)).collect()
}

/// Whether the line has a path with this prefix, not one that merely contains it.
fn names_machine(line: &str, begin: &str) -> bool {
    let inside = |it: char| it.is_alphanumeric() || "._-}".contains(it);
    line.match_indices(begin).any(|(at, _)| !line[..at].ends_with(inside))
}

/// Clippy reports printing; this reports files that disable the lint.
fn printing(path: &str, text: &str) -> Option<String> {
    let library = path.starts_with("crates/") && path.contains("/src/");
    let may = path.starts_with("crates/norn/") || path.contains("/src/bin/");
    let bad = library && !may && text.contains("clippy::print_std");
    bad.then(|| format!("{path}: only `norn` prints"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn dependencies_have_a_direction() {
        let on = |name: &str, kind: Value| json!({ "name": name, "kind": kind, "path": "x" });
        let package = |name: &str, on: Value| json!({ "name": name, "dependencies": [on] });
        let metadata = json!({ "packages": [
            package("norn-trace", on("norn-abi", Value::Null)),
            package("norn-abi", on("norn-trace", Value::Null)),
            package("norn-cc", on("norn-abi", json!("build"))),
            package("norn-model", on("norn-trace", json!("dev"))),
            package("norn-new", on("norn-abi", Value::Null)),
        ]});
        assert_eq!(
            directions(&metadata),
            [
                "norn-abi must not depend on norn-trace",
                "norn-cc must not depend on norn-abi",
                "norn-new: say in xtask/src/tidy.rs what it may depend on",
            ]
        );
    }

    #[test]
    fn the_checker_depends_on_the_model_alone() {
        let on = |name: &str| json!({ "name": name, "kind": null, "path": "x" });
        let checker = |on: Value| {
            directions(&json!({ "packages": [{ "name": "norn-checker", "dependencies": on }] }))
        };
        assert!(checker(json!([on("norn-model")])).is_empty());
        for engine in ["norn-witness", "norn-predict", "norn-testkit"] {
            let problem = format!("norn-checker must not depend on {engine}");
            assert_eq!(checker(json!([on("norn-model"), on(engine)])), [problem]);
        }
    }

    #[test]
    fn long_files_need_a_reason() {
        let long = "// x\n".repeat(501);
        assert!(too_long("a.rs", &long).is_some());
        assert!(too_long("a.lock", &long).is_none());
        assert!(too_long("a.rs", &format!("//! Long because it is a table.\n{long}")).is_none());
    }

    #[test]
    fn paths_of_machines() {
        let begin = MACHINE[0];
        assert_eq!(machine_paths("a", &format!("ok\nin {begin}me\n")).len(), 1);
        assert!(machine_paths("a", &format!("some{begin}x\n")).is_empty());
    }
}
