//! Decides whether two reports describe the same bug.
//!
//! A bug is identified by its class, its variables, the locations of its accesses, and the location
//! of the failure that it causes. The way a run ended is not enough: two bugs may both end in
//! `exit(1)`, and two deadlocks may involve different locks. Thread ids, addresses, and the order
//! of two accesses do not matter.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{BugClass, Consequence, Location};

/// The identity of a bug.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BugId {
    /// The class of the prediction; `None` for a failure that was not predicted.
    pub class: Option<BugClass>,
    /// The violated property, if it is a property violation.
    pub property: Option<String>,
    /// The variables.
    pub variables: BTreeSet<String>,
    /// The locations of the accesses.
    pub places: BTreeSet<Location>,
    /// The pointers through which the program reaches the variables.
    pub holders: BTreeSet<String>,
    /// The functions of the accesses and of their callers.
    pub functions: BTreeSet<String>,
    /// The failure that it causes, if any.
    pub failure: Option<FailureSite>,
}

/// A failure and its location.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FailureSite {
    /// The kind of failure, without details that may differ between runs.
    pub kind: String,
    /// The locations: the faulty access, the assertion, the call of `exit`; for a deadlock, where
    /// each thread of the cycle waits.
    pub places: BTreeSet<Location>,
    /// For a deadlock: the objects that the threads wait for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub objects: BTreeSet<String>,
}

impl BugId {
    /// Whether both describe one bug: they cause the same failure, and share a variable or the same
    /// locations. A crash or a memory error at the same location is one bug whatever leads to it.
    /// The same accesses may cause different failures, as the two directions of a race do. Without a
    /// failure, only the locations count: if `other` causes none, it is the same race if its locations
    /// are the same.
    pub fn is_same_bug(&self, other: &BugId) -> bool {
        let harmless = other.failure.is_none();
        let common = !self.variables.is_disjoint(&other.variables);
        let same_failure = self.failure == other.failure;
        let crash = self.failure.as_ref().is_some_and(FailureSite::is_crash);
        let both_fail = self.failure.is_some() && !harmless;
        same_failure && (crash || !harmless && common || self.shares_places(other))
            || both_fail && common && self.shares_places(other)
            || harmless && common && self.places == other.places
    }

    /// Whether this is a data race on what a pointer leads to, and `other` is a data race on that pointer, in
    /// functions that also access what it leads to: an object that is published without synchronisation is
    /// the one bug behind all races on its members.
    pub fn is_behind(&self, other: &BugId) -> bool {
        let are_races = self.class == Some(BugClass::Race) && other.class == Some(BugClass::Race);
        let published = other.places.iter().filter_map(|it| it.function.as_ref());
        are_races
            && !self.holders.is_disjoint(&other.variables)
            && published.into_iter().any(|it| self.functions.contains(it))
    }

    /// Whether two locations are common, or the only location of both.
    fn shares_places(&self, other: &BugId) -> bool {
        match self.places.intersection(&other.places).count() {
            0 => false,
            1 => self.places.len() == 1 && other.places.len() == 1,
            _ => true,
        }
    }
}

impl FailureSite {
    /// Whether it is a crash or a memory error whose location is known. Other failures, such as an exit
    /// status, are often reported at one place whatever their cause.
    fn is_crash(&self) -> bool {
        let is_crash = self.kind.starts_with("signal ") || self.kind.starts_with("memory ");
        is_crash && !self.places.is_empty()
    }

    /// A failure at some locations.
    pub fn new(
        consequence: &Consequence,
        places: impl IntoIterator<Item = Location>,
    ) -> FailureSite {
        let places = places.into_iter().map(|it| it.identity()).collect();
        FailureSite { kind: kind(consequence), places, objects: BTreeSet::new() }
    }
}

/// The kind of failure, without details that may differ between runs.
fn kind(consequence: &Consequence) -> String {
    let text = |it: &str| it.to_owned();
    match consequence {
        Consequence::None => text("none"),
        Consequence::Exit(status) => format!("exit status {status}"),
        Consequence::Signal { signal, .. } => format!("signal {signal}"),
        Consequence::Assertion(condition) => format!("assertion {condition}"),
        // The message of an exception often contains values of one run.
        Consequence::Exception { class, .. } => format!("exception {class}"),
        // The message of a panic often contains values of one run; its location is in the places.
        Consequence::Panic { .. } => text("panic"),
        Consequence::Abort => text("abort"),
        Consequence::Memory(fault) => format!("memory {fault:?}"),
        Consequence::Misuse(misuse) => format!("misuse {}", misuse.name()),
        Consequence::Deadlock => text("deadlock"),
        Consequence::Livelock => text("livelock"),
        Consequence::Unfinished(_) => text("unfinished"),
        Consequence::Check(status) => format!("check {status}"),
    }
}

impl Location {
    /// The identity of a location, independent of where source and program are stored: function,
    /// file name and line, or the offset in the module if these are unknown.
    #[must_use]
    pub fn identity(&self) -> Location {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let known = self.function.is_some() || self.file.is_some();
        Location {
            function: self.function.clone(),
            file: self.file.as_deref().map(name),
            line: self.line,
            module: self.module.as_deref().filter(|_| !known).map(name),
            offset: self.offset.filter(|_| !known),
            ..Location::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, line: u32) -> Location {
        Location { function: Some(function.to_owned()), line: Some(line), ..Location::default() }
    }

    fn bug(variable: &str, places: &[Location], failure: Option<FailureSite>) -> BugId {
        BugId {
            class: Some(BugClass::Race),
            variables: [variable.to_owned()].into(),
            places: places.iter().cloned().collect(),
            failure,
            ..BugId::default()
        }
    }

    fn exit_at(function: &str) -> FailureSite {
        FailureSite::new(&Consequence::Exit(1), [at(function, 9)])
    }

    #[test]
    fn the_same_status_is_not_the_same_failure() {
        let one = bug("total", &[at("add", 1), at("take", 2)], Some(exit_at("audit")));
        let same = bug("total", &[at("add", 1)], Some(exit_at("audit")));
        let other = bug("total", &[at("add", 1), at("put", 5)], Some(exit_at("check")));
        assert!(one.is_same_bug(&same));
        assert!(!one.is_same_bug(&other));
    }

    #[test]
    fn the_same_accesses_may_lead_to_different_failures() {
        let one = bug("total", &[at("add", 1), at("take", 2)], Some(exit_at("audit")));
        let other = bug("total", &[at("add", 1), at("take", 2)], Some(exit_at("check")));
        assert!(one.is_same_bug(&other));
    }

    #[test]
    fn a_crash_at_one_place_is_one_bug_whatever_leads_to_it() {
        let signal = Consequence::Signal { signal: 11, at: None };
        let crash = |line| Some(FailureSite::new(&signal, [at("is_empty", line)]));
        let one = bug("queue", &[at("release", 1), at("serve", 2)], crash(28));
        assert!(one.is_same_bug(&bug("first", &[at("pop", 5)], crash(28))));
        assert!(!one.is_same_bug(&bug("first", &[at("pop", 5)], crash(29))));
    }

    #[test]
    fn the_same_failure_of_other_variables_at_other_places_is_another_bug() {
        let one = bug("total", &[at("add", 1)], Some(exit_at("audit")));
        assert!(!one.is_same_bug(&bug("size", &[at("grow", 5)], Some(exit_at("audit")))));
        assert!(one.is_same_bug(&bug("size", &[at("add", 1)], Some(exit_at("audit")))));
    }

    #[test]
    fn a_race_without_a_failure_is_the_race_at_its_places() {
        let one = bug("total", &[at("add", 1), at("take", 2)], Some(exit_at("audit")));
        assert!(one.is_same_bug(&bug("total", &[at("add", 1), at("take", 2)], None)));
        assert!(!one.is_same_bug(&bug("total", &[at("add", 1), at("look", 3)], None)));
    }

    #[test]
    fn races_behind_a_racy_pointer_are_one_bug_with_it() {
        let pointer = BugId { class: Some(BugClass::Race), ..bug("shared", &[at("get", 3)], None) };
        let member = |function: &str| BugId {
            class: Some(BugClass::Race),
            holders: ["shared".to_owned()].into(),
            functions: ["fill", function].map(str::to_owned).into(),
            ..bug("Object::size", &[at("fill", 9)], None)
        };
        assert!(member("get").is_behind(&pointer));
        assert!(!member("grow").is_behind(&pointer));
        assert!(!pointer.is_behind(&member("get")));
    }

    #[test]
    fn folders_do_not_matter() {
        let place = |file: &str, module: &str| Location {
            file: Some(file.to_owned()),
            module: Some(module.to_owned()),
            column: Some(3),
            ..at("add", 1)
        };
        let (one, other) = (place("/src/a.c", "/bin/one"), place("/build/a.c", "/bin/other"));
        assert_eq!(one.identity(), other.identity());
        let code = |module: &str| Location {
            module: Some(module.to_owned()),
            offset: Some(16),
            ..Location::default()
        };
        assert_eq!(code("/lib/libz.so").identity(), code("/opt/libz.so").identity());
        assert_ne!(code("/lib/libz.so").identity(), code("/lib/liby.so").identity());
    }
}
