//! The recorder, which selects functions by the names in a property, and the matcher, which finds their
//! calls in the trace, agree on names.

use std::{collections::BTreeMap, fs};

use tempfile::TempDir;

use crate::kit::{norn, subjects};

/// Builds the subject with a member function of a class template.
fn template_member() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let source = subjects().join("name/template_member.cc");
    let words = ["c++", "-g", "-O1", "-pthread", "-o", "subject", source.to_str().unwrap()];
    let ran = norn(words, &folder);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

/// Number of occurrences of each event in the recorded run, of a property with these events.
fn counts(events: &[(&str, &str)], folder: &TempDir) -> BTreeMap<String, u64> {
    let lines: Vec<_> = events.iter().map(|it| format!("event {}: {}\n", it.0, it.1)).collect();
    let names: Vec<_> = events.iter().map(|it| it.0).collect();
    let property = format!("P(m) {{ {} pattern: {} }}", lines.concat(), names.join(" "));
    fs::write(folder.path().join("p.norn"), property).unwrap();
    let ran = norn(["check", "p.norn", "--format", "json", "--", "./subject"], folder);
    let json: serde_json::Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let counts = json["properties"][0]["events"].as_object().unwrap();
    counts.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

#[test]
fn every_spelling_of_template_arguments_matches() {
    let events = [
        ("tight", "call M<int,long>::insert(m)"),
        ("spaced", "call M<int, long>::insert(m)"),
        ("quoted", "return \"M< int , long >::insert\"(m)"),
        ("overload", "call \"M<int,long>::insert(int,long)\"(m)"),
        ("other", "call \"M<int, long>::insert(int)\"(m)"),
        ("any", "call M<*>::insert(m)"),
        ("absent", "call M<int,int>::insert(m)"),
    ];
    let counts = counts(&events, &template_member());
    insta::assert_debug_snapshot!(counts, @r#"
    {
        "absent": 0,
        "any": 4,
        "other": 1,
        "overload": 2,
        "quoted": 3,
        "spaced": 3,
        "tight": 3,
    }
    "#);
}

#[test]
fn a_linkage_name_matches() {
    let events =
        [("symbol", "call _ZN1MIilE6insertEil(m)"), ("back", "return _ZN1MIilE6insertEil(m)")];
    let counts = counts(&events, &template_member());
    assert_eq!(counts, BTreeMap::from([("symbol".to_owned(), 2), ("back".to_owned(), 2)]));
}
