//! The proof: programs with the bugs of the subjects that PECAN and BIPED were tried on, programs
//! that can get stuck, and their fixed twins.
//!
//! The head of a subject announces what must be found: `// Finds: atomicity on balance; assertion`
//! is a class, variables (words of which one is in the name of an accessed variable) and a
//! consequence. It is found if such a finding is confirmed, or if the program failed like that when
//! it was forced towards such a finding. `// Not yet: why` says that nothing predicts it; then it
//! must be seen in runs without a prediction. A twin announces `// Finds: nothing harmful`.
//! `cargo xtask scoreboard` tells more about the same programs.

use std::{fs, path::PathBuf};

use serde_json::Value;

use crate::kit::{Hunt, hunt, subjects};

/// Executions up to the first harmful one, at most, the recorded run included.
const EXECUTIONS: u64 = 5;
/// Runs without a prediction for those that prediction suffices for, and for those it does not.
const EXPLORE: [u32; 2] = [4, 60];
/// Folders with subjects.
const KINDS: [&str; 3] = ["hunt", "deadlock", "order"];
/// For twins.
const EXPLORE_TWIN: u32 = 12;

#[test]
fn announced_bugs_are_found() {
    check(false, wrong);
}

#[test]
fn nothing_harmful_in_twins() {
    check(true, |subject| {
        let hunt = hunt(&subject.path, EXPLORE_TWIN);
        let harmful: Vec<_> = hunt.harmful().collect();
        let clean = harmful.is_empty() && hunt.observed().is_empty() && hunt.code == Some(0);
        (!clean).then(|| format!("{:?}, {harmful:#?}, {:#?}", hunt.code, hunt.observed()))
    });
}

#[test]
fn every_subject_has_a_twin() {
    let (bugs, twins) = (all(false), all(true));
    let names: Vec<_> = bugs.iter().map(|it| format!("{}_fixed", it.name)).collect();
    assert_eq!(names, twins.into_iter().map(|it| it.name).collect::<Vec<_>>());
    assert!(!names.is_empty());
}

#[test]
fn the_same_hunt_finds_the_same() {
    for name in ["account.c", "linked_list.cc"] {
        let [first, second] = [0, 1].map(|_| hunt(&subjects("hunt").join(name), 4));
        assert_eq!(anywhere(first.json), anywhere(second.json), "{name}");
    }
}

/// Without the names of folders, which differ.
fn anywhere(mut json: Value) -> Value {
    match &mut json {
        Value::Object(fields) => {
            fields.remove("clip");
            fields.values_mut().for_each(|it| *it = anywhere(it.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| *it = anywhere(it.take())),
        _ => {}
    }
    json
}

/// Tries all subjects, and names all that do not do as they should.
fn check(twins: bool, wrong: impl Fn(&Subject) -> Option<String>) {
    let all = all(twins);
    let wrong = all.iter().filter_map(|it| Some(format!("{}: {}", it.name, wrong(it)?)));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Subject {
    name: String,
    path: PathBuf,
    text: String,
}

/// All subjects, or all twins, by name.
fn all(twins: bool) -> Vec<Subject> {
    let folders = KINDS.iter().flat_map(|it| fs::read_dir(subjects(it)).unwrap());
    let paths = folders.map(|it| it.unwrap().path());
    let subjects = paths.map(|path| Subject {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(&path).unwrap(),
        path,
    });
    let mut subjects: Vec<_> = subjects.filter(|it| it.name.ends_with("_fixed") == twins).collect();
    subjects.sort_by(|a, b| a.path.cmp(&b.path));
    subjects
}

/// What is wrong with what was found in a subject.
fn wrong(subject: &Subject) -> Option<String> {
    let head = |word: &str| subject.text.lines().find_map(|it| it.strip_prefix(word));
    let announced = Announced::read(head("// Finds: ")?);
    let not_yet = head("// Not yet: ").is_some();
    let hunt = hunt(&subject.path, EXPLORE[usize::from(not_yet)]);
    let first = first(&hunt);
    let found = announced.is_found(&hunt);
    let right = if not_yet {
        !found && announced.is_seen(&hunt)
    } else {
        found && first.is_some_and(|it| it <= EXECUTIONS)
    };
    if right && hunt.code == Some(1) && hunt.json["run"]["consequence"] == "none" {
        return None;
    }
    let Hunt { json, code } = &hunt;
    Some(format!("found: {found}, first harmful: {first:?}, exit code: {code:?}, {json:#}"))
}

/// The first execution in which something harmful happened.
fn first(hunt: &Hunt) -> Option<u64> {
    hunt.harmful().chain(hunt.observed()).filter_map(|it| it["executions"].as_u64()).min()
}

/// A variable's name; of memory, also the function that allocated it.
fn variable(object: &Value) -> String {
    let names = [&object["name"], &object["allocated_at"]["function"]];
    names.iter().filter_map(|it| it.as_str()).collect::<Vec<_>>().join(" ")
}

struct Announced<'a> {
    class: &'a str,
    variables: Vec<&'a str>,
    consequence: &'a str,
}

impl<'a> Announced<'a> {
    fn read(line: &'a str) -> Announced<'a> {
        let (what, consequence) = line.split_once("; ").unwrap();
        let (class, variables) = what.split_once(" on ").unwrap();
        Announced { class, variables: variables.split(", ").collect(), consequence }
    }

    /// Whether it is confirmed, or was seen on the way to it.
    fn is_found(&self, hunt: &Hunt) -> bool {
        let confirmed = hunt.harmful().any(|it| self.is_about(it) && self.leads(it));
        let aim = |it: &Value| hunt.findings().get(usize::try_from(it["finding"].as_u64()?).ok()?);
        let on_the_way = |it: &Value| aim(it).is_some_and(|it| self.is_about(it)) && self.leads(it);
        confirmed || hunt.observed().iter().any(on_the_way)
    }

    fn is_seen(&self, hunt: &Hunt) -> bool {
        hunt.observed().iter().any(|it| self.leads(it))
    }

    fn is_about(&self, finding: &Value) -> bool {
        let names = finding["accesses"].as_array().unwrap().iter();
        let mut names = names.map(|it| variable(&it["variable"]));
        finding["class"] == self.class
            && names.any(|name| self.variables.iter().any(|it| name.contains(it)))
    }

    fn leads(&self, it: &Value) -> bool {
        let consequence = &it["consequence"];
        *consequence == self.consequence || !consequence[self.consequence].is_null()
    }
}
