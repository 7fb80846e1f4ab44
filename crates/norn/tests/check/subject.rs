//! The built-in properties and their subjects. `tests/subjects` checks each subject alone.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::kit::{build, check, norn, subjects};

struct Subject {
    name: String,
    property: String,
    breaks: String,
}

/// Whether the consequence of a violation contains this word, by itself or when functions run.
fn leads_to(violation: &Value, word: &str) -> bool {
    let harm = [&violation["consequence"], &violation["harm"]["consequence"]];
    word.is_empty() || harm.iter().any(|it| it.to_string().contains(word))
}

#[test]
fn a_confirmed_violation_happens_again() {
    let folder = tempfile::tempdir().unwrap();
    build(&subjects().join("null_dereference.c"), &folder);
    let checked = check(&["null-dereference"], &folder.path().join("subject"));
    let failed = checked.violations("confirmed").into_iter().find(|it| leads_to(it, "signal"));
    let clip = failed.unwrap()["clip"].as_str().unwrap();
    let ran = norn(["replay", clip], &checked.folder);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn all_properties_at_once_share_a_recording() {
    let properties: Vec<_> = all(false).into_iter().map(|it| it.property).collect();
    let names: Vec<_> = properties.iter().map(String::as_str).collect();
    let checked = check(&names, &subjects().join("use_after_close.c"));
    assert_eq!(checked.json["properties"].as_array().unwrap().len(), 10);
    let confirmed = checked.violations("confirmed");
    let broken: BTreeSet<_> = confirmed.iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(broken, BTreeSet::from(["DataRace", "UseAfterClose"]), "{:#}", checked.json);
    assert_eq!(checked.json["summary"]["sources"], 1);
}

#[test]
fn every_property_has_a_subject_and_every_subject_a_twin() {
    let (bugs, twins) = (all(false), all(true));
    let names: Vec<_> = bugs.iter().map(|it| format!("{}_fixed", it.name)).collect();
    assert_eq!(names, twins.into_iter().map(|it| it.name).collect::<Vec<_>>());
    let folder = tempfile::tempdir().unwrap();
    let listed = norn(["property", "list"], &folder).stdout;
    let listed: Vec<_> = listed.lines().filter_map(|it| it.split(' ').next()).collect();
    assert_eq!(listed, bugs.iter().map(|it| it.property.as_str()).collect::<Vec<_>>());
}

/// All subjects or all twins, by name.
fn all(twins: bool) -> Vec<Subject> {
    let entries = fs::read_dir(subjects()).unwrap().map(|it| it.unwrap().path());
    let mut all: Vec<_> = entries.filter(|it| it.is_file()).map(|it| subject(&it)).collect();
    all.retain(|it| (it.breaks == "nothing") == twins);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn subject(path: &Path) -> Subject {
    let text = fs::read_to_string(path).unwrap();
    let field = |name: &str| {
        let found = text.lines().find_map(|it| it.strip_prefix(&format!("// {name}: ")));
        found.unwrap_or_else(|| panic!("{} has no {name}", path.display())).to_owned()
    };
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    Subject { name, property: field("Property"), breaks: field("Breaks") }
}
