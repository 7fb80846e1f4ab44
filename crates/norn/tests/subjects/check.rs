//! Programs that are checked against a built-in property.
//!
//! The head of a subject names the property, `// Property: data-race`, and what is found, `// Breaks:
//! DataRace; assertion`: the name of the violated property, and a word of the consequence if it leads to
//! a failure. A twin announces `// Breaks: nothing`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use libtest_mimic::{Failed, Trial};
use norn_e2e::{process, subject::subjects};
use serde_json::Value;

use crate::norn;

/// A test for each program.
pub(crate) fn trials() -> impl Iterator<Item = Trial> {
    let entries = fs::read_dir(subjects().join("property")).unwrap();
    let mut sources: Vec<_> = entries.map(|it| it.unwrap().path()).collect();
    sources.retain(|it| it.is_file());
    sources.sort();
    sources.into_iter().map(|source| {
        let name = format!("property/{}", source.file_stem().unwrap().to_string_lossy());
        Trial::test(name, move || check(&source))
    })
}

fn check(source: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(source)?;
    let field = |name: &str| {
        let found = text.lines().find_map(|it| it.strip_prefix(&format!("// {name}: ")));
        found.ok_or_else(|| format!("the head has no {name}"))
    };
    let (property, breaks) = (field("Property")?, field("Breaks")?);
    let folder = tempfile::tempdir()?;
    let mut command = norn(&["check", property, "--format", "json", "--"]);
    command.arg(PathBuf::from(source)).current_dir(folder.path());
    let ran = process::run(command);
    let report = ran.json();
    let right = if breaks == "nothing" {
        ran.code == Some(0) && is_clean(&report)
    } else {
        ran.code == Some(1) && is_violated(&report, breaks)
    };
    if right { Ok(()) } else { Err(format!("status {:?}\n{report:#}", ran.code).into()) }
}

/// Whether a forced run violates the property and leads to what is announced, and the recorded run
/// does not violate it.
fn is_violated(report: &Value, breaks: &str) -> bool {
    let (property, word) = breaks.split_once("; ").unwrap_or((breaks, ""));
    let leads = |it: &Value| {
        let harm = [&it["consequence"], &it["harm"]["consequence"]];
        word.is_empty() || harm.iter().any(|it| it.to_string().contains(word))
    };
    let mut confirmed = findings(report, "confirmed");
    findings(report, "observed").next().is_none()
        && confirmed.any(|it| it["kind"] == property && leads(it))
}

/// Whether nothing violates the property, although all its events happened.
fn is_clean(report: &Value) -> bool {
    let events = report["properties"][0]["events"].as_object().unwrap();
    findings(report, "observed").chain(findings(report, "confirmed")).next().is_none()
        && events.values().all(|it| it.as_u64() > Some(0))
}

fn findings<'a>(report: &'a Value, status: &str) -> impl Iterator<Item = &'a Value> {
    let findings = report["findings"].as_array().into_iter().flatten();
    findings.filter(move |it| it["status"] == status)
}
