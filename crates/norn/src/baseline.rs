//! The baseline: bugs that are known already, so that only new ones count.
//!
//! The fingerprint of a bug is the part of its identity ([`BugId`]) that does not change when lines
//! are added or addresses differ: its class, and the names of functions, files and variables. It also
//! has the places, by line. Lines move when the program is edited, so bugs that differ in nothing
//! else are matched one to one: another bug in the same functions is not mistaken for a known one.

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;
use norn_hunt::{Access, Description, Observed, stable};
use norn_model::{BugClass, BugId, Location};
use norn_report::vocabulary;
use norn_trace::file;
use serde::{Deserialize, Serialize};

use crate::{suppression::class_name, text_file};

/// The version of the file format that is written.
const VERSION: u32 = 3;
/// In the first version, the fingerprint of a failure is its consequence alone.
const FIRST: u32 = 1;

/// Maximum size of a baseline in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// The known bugs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    version: u32,
    known: BTreeSet<Fingerprint>,
}

/// Identifies a bug across versions of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fingerprint {
    /// The class of a finding, or `observed`.
    class: String,
    /// The violated property.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    property: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    variables: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    functions: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    files: BTreeSet<String>,
    /// The consequence of a failure that was not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    consequence: Option<String>,
    /// Where it is; not in files of older versions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    places: BTreeSet<Place>,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

impl Baseline {
    pub(crate) fn new(known: BTreeSet<Fingerprint>) -> Baseline {
        Baseline { version: VERSION, known }
    }

    /// The fingerprint of a finding, as in the version of this file.
    pub(crate) fn fingerprint(&self, bug: &BugId, description: &Description) -> Fingerprint {
        match (self.version, bug.class) {
            (FIRST, Some(class)) => Fingerprint::first(class, description),
            _ => Fingerprint::new(bug),
        }
    }

    /// The fingerprint of an observed failure, as in the version of this file.
    pub(crate) fn fingerprint_of_failure(&self, observed: &Observed) -> Fingerprint {
        match self.version {
            FIRST => Fingerprint::first_observed(observed),
            _ => Fingerprint::new(&observed.bug()),
        }
    }

    /// Which of the bugs that were found are known. A known bug whose lines have moved is one of
    /// those that differ from it in nothing but lines, and no more than one of them.
    pub(crate) fn matches<'a>(
        &self,
        found: &BTreeSet<&'a Fingerprint>,
    ) -> BTreeSet<&'a Fingerprint> {
        let anywhere = |it: &&&Fingerprint| self.known.contains(&it.without_places());
        let mut matches: BTreeSet<_> = found.iter().filter(anywhere).copied().collect();
        matches.extend(found.iter().copied().filter(|it| self.known.contains(it)));
        let moved = self.known.iter().filter(|it| !found.contains(it));
        for known in moved.filter(|it| !it.places.is_empty()) {
            let same = |it: &&&Fingerprint| it.without_places() == known.without_places();
            let open = found.iter().filter(|it| !matches.contains(*it));
            if let Some(first) = open.filter(same).min_by_key(|it| it.distance(known)) {
                matches.insert(first);
            }
        }
        matches
    }

    pub(crate) fn read(path: &Path) -> anyhow::Result<Baseline> {
        let name = path.display();
        let text =
            text_file::read(path, MAX_SIZE).with_context(|| format!("cannot read `{name}`"))?;
        let baseline: Baseline =
            serde_json::from_str(&text).with_context(|| format!("`{name}` is not a baseline"))?;
        let version = baseline.version;
        anyhow::ensure!(
            (FIRST..=VERSION).contains(&version),
            "cannot read `{name}`: it has version {version}, and this norn reads {FIRST} to {VERSION}\n\
             hint: write a new one with --write-baseline"
        );
        Ok(baseline)
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        file::write(path, text.as_bytes())
            .with_context(|| format!("cannot write `{}`", path.display()))
    }
}

impl Fingerprint {
    /// The fingerprint of a bug. A finding is identified by its accesses, whatever its consequence; a
    /// failure that was not predicted, by its kind and place.
    pub(crate) fn new(bug: &BugId) -> Fingerprint {
        let failure = bug.failure.as_ref().filter(|_| bug.class.is_none());
        let places = || bug.places.iter().chain(failure.into_iter().flat_map(|it| &it.places));
        Fingerprint {
            class: bug.class.map_or_else(|| OBSERVED.to_owned(), class_name),
            property: bug.property.clone(),
            variables: bug.variables.iter().map(|it| stable(it)).collect(),
            functions: places().filter_map(|it| it.function.clone()).collect(),
            files: places().filter_map(|it| it.file_name()).map(str::to_owned).collect(),
            consequence: failure.map(|it| stable(&it.kind)),
            places: places().map(Place::new).collect(),
        }
    }

    fn without_places(&self) -> Fingerprint {
        Fingerprint { places: BTreeSet::new(), ..self.clone() }
    }

    /// How far the lines have moved.
    fn distance(&self, other: &Fingerprint) -> u32 {
        let lines = |it: &Fingerprint| it.places.iter().map(|it| it.line).collect::<Vec<_>>();
        let pairs = lines(self).into_iter().zip(lines(other));
        pairs.map(|(one, other)| one.unwrap_or(0).abs_diff(other.unwrap_or(0))).sum()
    }

    /// The fingerprint of a candidate in the first version of the format.
    fn first(class: BugClass, description: &Description) -> Fingerprint {
        let tops = || description.accesses.iter().filter_map(|it| it.frames.first());
        let stable = |it: &Access| stable(&variable(it));
        Fingerprint {
            class: class_name(class),
            variables: description.accesses.iter().map(stable).collect(),
            functions: tops().filter_map(|it| it.function.clone()).collect(),
            files: tops().filter_map(|it| it.file_name()).map(str::to_owned).collect(),
            ..Fingerprint::empty(OBSERVED)
        }
    }

    /// The fingerprint of a failure in the first version of the format.
    fn first_observed(it: &Observed) -> Fingerprint {
        let consequence = Some(stable(&vocabulary::consequence(&it.consequence)));
        Fingerprint { consequence, ..Fingerprint::empty(OBSERVED) }
    }

    fn empty(class: &str) -> Fingerprint {
        Fingerprint {
            class: class.to_owned(),
            property: None,
            variables: BTreeSet::new(),
            functions: BTreeSet::new(),
            files: BTreeSet::new(),
            consequence: None,
            places: BTreeSet::new(),
        }
    }
}

impl Place {
    fn new(at: &Location) -> Place {
        let file = at.file_name().map(str::to_owned);
        Place { file, function: at.function.clone(), line: at.line }
    }
}

/// The class of failures that were not predicted.
const OBSERVED: &str = "observed";

/// A variable, and where its memory was allocated.
fn variable(access: &Access) -> String {
    let object = &access.variable;
    match &object.allocated_at {
        Some(at) => format!("{} from {}", object.name, vocabulary::place(at)),
        None => object.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use norn_model::{Consequence, FailureSite, ThreadName};
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

    fn bug(class: BugClass, variable: &str, functions: [&str; 2], line: u32) -> BugId {
        let place = |function: &str| Location {
            function: Some(function.to_owned()),
            file: Some("account.c".to_owned()),
            line: Some(line),
            ..Location::default()
        };
        BugId {
            class: Some(class),
            variables: [variable.to_owned()].into(),
            places: functions.map(place).into(),
            ..BugId::default()
        }
    }

    #[test]
    fn the_order_of_accesses_and_lines_do_not_matter() {
        let of = |variable, functions, line| {
            Fingerprint::new(&bug(BugClass::Race, variable, functions, line)).without_places()
        };
        let one = of("slots[1]", ["put", "take"], 12);
        assert_eq!(one, of("slots[2]", ["take", "put"], 15));
        assert_ne!(one, of("total", ["put", "take"], 12));
        let other = bug(BugClass::Atomicity, "slots[1]", ["put", "take"], 12);
        assert_ne!(one, Fingerprint::new(&other).without_places());
    }

    /// The lines at which races are known, of those that are found at `now`.
    fn known_lines(before: &[u32], now: &[u32]) -> Vec<u32> {
        let race =
            |line: &u32| Fingerprint::new(&bug(BugClass::Race, "total", ["put", "take"], *line));
        let baseline = Baseline::new(before.iter().map(race).collect());
        let now: BTreeSet<_> = now.iter().map(race).collect();
        let known = baseline.matches(&now.iter().collect());
        let lines = known.iter().filter_map(|it| it.places.first()?.line);
        lines.collect()
    }

    #[test]
    fn a_known_bug_does_not_hide_another_one_in_the_same_functions() {
        assert_eq!(known_lines(&[12], &[12, 30]), [12]);
        assert_eq!(known_lines(&[12], &[15, 40]), [15]);
        assert_eq!(known_lines(&[12, 30], &[15, 20, 33]), [15, 33]);
        assert_eq!(known_lines(&[12, 30], &[31]), [31]);
        assert_eq!(known_lines(&[], &[12]), [0; 0]);
    }

    #[test]
    fn a_baseline_without_places_knows_all_lines() {
        let race = |line| Fingerprint::new(&bug(BugClass::Race, "total", ["put", "take"], line));
        let baseline = Baseline { version: 2, known: [race(12).without_places()].into() };
        let now = [race(12), race(30)];
        assert_eq!(baseline.matches(&now.iter().collect()).len(), 2);
    }

    #[test]
    fn a_failure_is_identified_by_its_place() {
        let exit = |function: &str| {
            let at = Location { function: Some(function.to_owned()), ..Location::default() };
            let failure = Some(FailureSite::new(&Consequence::Exit(1), [at]));
            Fingerprint::new(&BugId { failure, ..BugId::default() })
        };
        assert_eq!(exit("audit"), exit("audit"));
        assert_ne!(exit("audit"), exit("verify"));
    }

    #[test]
    fn a_baseline_of_the_first_version_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        let text = r#"{ "version": 1, "known": [
            { "class": "race", "variables": ["slots[]"], "functions": ["put", "take"],
              "files": ["account.c"] },
            { "class": "observed", "consequence": "exit status 3" } ] }"#;
        fs::write(&path, text).unwrap();
        let baseline = Baseline::read(&path).unwrap();
        let description = description("slots[4]", "/src", ["take", "put"]);
        let bug = bug(BugClass::Race, "slots[4]", ["put", "take"], 9);
        let knows = |it: &Fingerprint| baseline.matches(&[it].into()).len() == 1;
        assert!(knows(&baseline.fingerprint(&bug, &description)));
        let failure = |status| Observed {
            consequence: Consequence::Exit(status),
            failure: None,
            story: None,
            printed: Vec::new(),
            cause: None,
            clip: "clip.json".into(),
            executions: 1,
            older_loads: 0,
            finding: None,
            not_reproduced: None,
        };
        assert!(knows(&baseline.fingerprint_of_failure(&failure(3))));
        assert!(!knows(&baseline.fingerprint_of_failure(&failure(4))));
    }

    #[test]
    fn the_file_is_readable() {
        let it = bug(BugClass::AtomicSet, "bank.balance", ["deposit", "withdraw"], 7);
        let baseline = Baseline::new([Fingerprint::new(&it)].into());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        baseline.write(&path).unwrap();
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        {
          "version": 3,
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
              ],
              "places": [
                {
                  "file": "account.c",
                  "function": "deposit",
                  "line": 7
                },
                {
                  "file": "account.c",
                  "function": "withdraw",
                  "line": 7
                }
              ]
            }
          ]
        }
        "#);
        assert_eq!(Baseline::read(&path).unwrap(), baseline);
    }
}
