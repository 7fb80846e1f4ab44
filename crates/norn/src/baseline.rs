//! What is known already, so that only what is new counts.
//!
//! A finding is known by what does not change when lines are added above it or memory lies
//! elsewhere: its class, and the names of functions, files and variables.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context as _;
use norn_hunt::{Access, Description, Observed};
use norn_model::BugClass;
use norn_report::vocabulary;
use serde::{Deserialize, Serialize};

use crate::suppression::class_name;

/// The form of the file that is written, and the only one that is read.
const VERSION: u32 = 1;

/// What is known already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    version: u32,
    pub(crate) known: BTreeSet<Fingerprint>,
}

/// What a finding is known by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fingerprint {
    /// The class of a finding, or `observed`.
    class: String,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    variables: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    functions: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    files: BTreeSet<String>,
    /// Of what was seen without having been predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consequence: Option<String>,
}

impl Baseline {
    pub(crate) fn new(known: BTreeSet<Fingerprint>) -> Baseline {
        Baseline { version: VERSION, known }
    }

    pub(crate) fn read(path: &Path) -> anyhow::Result<Baseline> {
        let name = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        let baseline: Baseline =
            serde_json::from_str(&text).with_context(|| format!("`{name}` is no baseline"))?;
        let version = baseline.version;
        anyhow::ensure!(
            version == VERSION,
            "cannot read `{name}`: it has version {version}, and this norn reads {VERSION}\n\
             hint: write it anew with --write-baseline"
        );
        Ok(baseline)
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
    }
}

impl Fingerprint {
    /// Of a candidate. The order of its accesses does not matter: a race is the same race, whoever
    /// comes first.
    pub(crate) fn new(class: BugClass, description: &Description) -> Fingerprint {
        let tops = || description.accesses.iter().filter_map(|it| it.frames.first());
        let file = |it: &str| it.rsplit('/').next().unwrap_or(it).to_owned();
        let lasting = |it: &Access| lasting(&variable(it));
        Fingerprint {
            class: class_name(class),
            variables: description.accesses.iter().map(lasting).collect(),
            functions: tops().filter_map(|it| it.function.clone()).collect(),
            files: tops().filter_map(|it| it.file.as_deref()).map(file).collect(),
            consequence: None,
        }
    }

    /// Of a failure.
    pub(crate) fn observed(it: &Observed) -> Fingerprint {
        Fingerprint {
            class: "observed".to_owned(),
            variables: BTreeSet::new(),
            functions: BTreeSet::new(),
            files: BTreeSet::new(),
            consequence: Some(lasting(&vocabulary::consequence(&it.consequence))),
        }
    }
}

/// A variable, and where its memory comes from.
fn variable(access: &Access) -> String {
    let object = &access.variable;
    match &object.allocated_at {
        Some(at) => format!("{} from {}", object.name, vocabulary::place(at)),
        None => object.name.clone(),
    }
}

/// A text without numbers that another run or another version of the program may change: lines,
/// places in arrays, addresses.
fn lasting(text: &str) -> String {
    let words = text
        .split(' ')
        .map(|word| if word.starts_with("0x") { "0x?".to_owned() } else { without_numbers(word) });
    words.collect::<Vec<_>>().join(" ")
}

/// Without what is counted: `name[12]` is `name[]`, `file.c:12` is `file.c`.
fn without_numbers(word: &str) -> String {
    let mut kept = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(['[', ':']) {
        let (before, mark) = rest.split_at(at);
        let behind = mark[1..].trim_start_matches(|it: char| it.is_ascii_digit());
        let counted = behind.len() < mark.len() - 1;
        kept.push_str(before);
        if !(counted && mark.starts_with(':')) {
            kept.push_str(&mark[..1]);
        }
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use norn_model::{Location, ThreadName};
    use norn_report::{Action, Number, Object};

    use super::*;

    fn description(variable: &str, folder: &str, functions: [&str; 2]) -> Description {
        let access = |function: &str| Access {
            thread: ThreadName("T0.1".to_owned()),
            action: Action::Write,
            event: None,
            stuck: false,
            variable: Object::named(variable),
            value: Some(Number(7)),
            shown: None,
            stack: Vec::new(),
            locks: Vec::new(),
            frames: vec![Location {
                function: Some(function.to_owned()),
                file: Some(format!("{folder}/account.c")),
                ..Location::default()
            }],
        };
        Description { variables: Vec::new(), accesses: functions.map(access).into() }
    }

    #[test]
    fn what_may_change_is_left_out() {
        assert_eq!(lasting("slots[17].next"), "slots[].next");
        assert_eq!(lasting("heap[24]+8 from make list.c:31"), "heap[]+8 from make list.c");
        assert_eq!(lasting("0x7fff5000"), "0x?");
        assert_eq!(lasting("std::list<int>::size"), "std::list<int>::size");
        assert_eq!(lasting("bank.c:12:7: total"), "bank.c: total");
    }

    #[test]
    fn who_comes_first_does_not_matter_nor_where_the_source_is() {
        let one = description("slots[1]", "/src/one", ["put", "take"]);
        let other = description("slots[2]", "/src/other", ["take", "put"]);
        let of = |it| Fingerprint::new(BugClass::Race, it);
        assert_eq!(of(&one), of(&other));
        assert_ne!(of(&one), Fingerprint::new(BugClass::Atomicity, &one));
        assert_ne!(of(&one), of(&description("total", "/src/one", ["put", "take"])));
    }

    #[test]
    fn the_file_can_be_read_by_people() {
        let it = description("bank.balance", "/src", ["deposit", "withdraw"]);
        let baseline = Baseline::new([Fingerprint::new(BugClass::AtomicSet, &it)].into());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        baseline.write(&path).unwrap();
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {
          "version": 1,
          "known": [
            {
              "class": "atomic-set",
              "variables": [
                "bank.balance"
              ],
              "functions": [
                "deposit",
                "withdraw"
              ],
              "files": [
                "account.c"
              ]
            }
          ]
        }
        "#);
        assert_eq!(Baseline::read(&path).unwrap(), baseline);
    }
}
