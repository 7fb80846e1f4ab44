//! The built-in properties, each against a program that breaks it only in another order, and
//! its fixed twin.
//!
//! The head of a subject says which property it is about, `// Property: data-race`, and what is found,
//! `// Breaks: DataRace; assertion`: the property, and a word of what it leads to, if it leads to
//! a failure. A twin announces `// Breaks: nothing`.

use std::{collections::BTreeSet, fs, path::PathBuf};

use serde_json::Value;

use crate::kit::{build, check, norn, subjects};

struct Subject {
    name: String,
    path: PathBuf,
    property: String,
    breaks: String,
}

#[test]
fn properties_are_broken_in_another_order() {
    each(false, |subject| {
        let checked = check(&[&subject.property], &subject.path);
        let (property, harm) = subject.breaks.split_once("; ").unwrap_or((&subject.breaks, ""));
        let recorded = checked.violations("observed");
        let confirmed = checked.violations("confirmed");
        let right = |it: &&Value| it["kind"] == property && leads_to(it, harm);
        let fine = checked.code == Some(1) && recorded.is_empty() && confirmed.iter().any(right);
        (!fine).then(|| format!("{:?}: {:#}", checked.code, checked.json))
    });
}

/// Whether a violation leads to something in which this word is, by itself or when functions run.
fn leads_to(violation: &Value, word: &str) -> bool {
    let harm = [&violation["consequence"], &violation["harm"]["consequence"]];
    word.is_empty() || harm.iter().any(|it| it.to_string().contains(word))
}

#[test]
fn twins_are_clean() {
    each(true, |subject| {
        let checked = check(&[&subject.property], &subject.path);
        let real = checked.violations("observed").len() + checked.violations("confirmed").len();
        let seen = &checked.json["properties"][0]["events"];
        // Nothing is broken, and not because nothing was seen.
        let watched = seen.as_object().unwrap().values().all(|it| it.as_u64() > Some(0));
        let fine = checked.code == Some(0) && real == 0 && watched;
        (!fine).then(|| format!("{:?}: {:#}", checked.code, checked.json))
    });
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

/// Tries all subjects, and names all that do not do as they should.
fn each(twins: bool, wrong: impl Fn(&Subject) -> Option<String>) {
    let all = all(twins);
    let wrong = all.iter().filter_map(|it| Some(format!("{}: {}", it.name, wrong(it)?)));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All subjects or all twins, by name.
fn all(twins: bool) -> Vec<Subject> {
    let entries = fs::read_dir(subjects()).unwrap().map(|it| it.unwrap().path());
    let mut all: Vec<_> = entries.filter(|it| it.is_file()).map(subject).collect();
    all.retain(|it| (it.breaks == "nothing") == twins);
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn subject(path: PathBuf) -> Subject {
    let text = fs::read_to_string(&path).unwrap();
    let field = |name: &str| {
        let found = text.lines().find_map(|it| it.strip_prefix(&format!("// {name}: ")));
        found.unwrap_or_else(|| panic!("{} has no {name}", path.display())).to_owned()
    };
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    Subject { name, property: field("Property"), breaks: field("Breaks"), path }
}
