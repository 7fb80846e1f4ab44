//! The identity of the bug behind a finding, a violation or a failure.

use std::collections::BTreeSet;

use norn_model::{BugClass, BugId, Candidate, Location};
use norn_report::{Access, Object, vocabulary};

use crate::{
    Cause, Confirmed, Description, Finding, Observed, Prospect, Violation, stable_name::stable,
};

impl Finding {
    /// The identity of the bug.
    pub fn bug(&self) -> BugId {
        let failure = self.confirmed().and_then(|it| it.failure.clone());
        BugId { failure, ..of_candidate(&self.candidate, &self.description) }
    }
}

impl Prospect {
    /// The identity of the bug that this would be.
    pub fn bug(&self) -> BugId {
        of_candidate(&self.candidate, &self.description)
    }
}

fn of_candidate(candidate: &Candidate, description: &Description) -> BugId {
    let class = candidate.class();
    let named = matches!(class, BugClass::Pattern | BugClass::Property);
    BugId {
        class: Some(class),
        property: named.then(|| candidate.kind.name().to_owned()),
        failure: None,
        ..of_description(description)
    }
}

/// The part of an identity that the accesses determine.
fn of_description(Description { variables, accesses }: &Description) -> BugId {
    let functions = accesses.iter().flat_map(|it| &it.stack).filter_map(|it| it.function.clone());
    BugId {
        variables: variables.iter().map(variable).collect(),
        places: places(accesses),
        holders: variables.iter().filter_map(|it| it.holder.clone()).collect(),
        functions: functions.collect(),
        ..BugId::default()
    }
}

impl Violation {
    /// The identity of the bug.
    pub fn bug(&self) -> BugId {
        BugId {
            class: Some(BugClass::Property),
            property: Some(self.property.clone()),
            places: places(&self.steps),
            failure: self.confirmed().and_then(|it: &Confirmed| it.failure.clone()),
            ..BugId::default()
        }
    }
}

impl Observed {
    /// The identity of the bug, as far as its failure determines it.
    pub fn bug(&self) -> BugId {
        BugId { failure: self.failure.clone(), ..BugId::default() }
    }

    /// The identity of the bug with what is behind the failure, if that is known. It depends on the run
    /// that showed the failure, so baselines use [`Observed::bug`] alone.
    pub fn diagnosed_bug(&self) -> BugId {
        let Some(Cause { kind, description, .. }) = &self.cause else { return self.bug() };
        BugId {
            class: Some(kind.class()),
            failure: self.failure.clone(),
            ..of_description(description)
        }
    }
}

/// Digits that identify a bug across versions of the program: those of its class and of the names of
/// its variables, functions and files, but not of lines, indices and addresses. A finding is identified
/// by its accesses, whatever it leads to; a failure that was not predicted, by its kind and functions.
pub(crate) fn fingerprint(bug: &BugId) -> String {
    let failure = bug.failure.as_ref().filter(|_| bug.class.is_none());
    let places = bug.places.iter().chain(failure.into_iter().flat_map(|it| &it.places));
    let place = |it: &Location| (it.function.clone(), it.file_name().map(str::to_owned));
    let places: BTreeSet<_> = places.map(place).collect();
    let variables: BTreeSet<_> = bug.variables.iter().map(|it| stable(it)).collect();
    let failure = failure.map(|it| stable(&it.kind));
    let identity = (bug.class.map(BugClass::title), &bug.property, variables, places, failure);
    format!("{:016x}", fnv1a(format!("{identity:?}").as_bytes()))
}

/// The hash of Fowler, Noll and Vo, which is the same in every version of everything.
fn fnv1a(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The places of the accesses.
fn places(accesses: &[Access]) -> BTreeSet<Location> {
    let tops = accesses.iter().filter_map(|it| it.stack.first().or(it.frames.first()));
    tops.map(Location::identity).collect()
}

/// The name of a variable, and the origin of its memory.
fn variable(object: &Object) -> String {
    match &object.allocated_at {
        Some(at) => format!("{} from {}", object.name, vocabulary::place(at)),
        None => object.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(variable: &str, function: &str, line: u32) -> BugId {
        let place = Location {
            function: Some(function.to_owned()),
            file: Some("bank.c".to_owned()),
            line: Some(line),
            ..Location::default()
        };
        BugId {
            class: Some(BugClass::Race),
            variables: [variable.to_owned()].into(),
            places: [place].into(),
            ..BugId::default()
        }
    }

    #[test]
    fn fingerprints_do_not_depend_on_lines_and_indices() {
        let one = fingerprint(&race("accounts[3].balance", "pay", 12));
        assert_eq!(one, fingerprint(&race("accounts[7].balance", "pay", 40)));
        assert_ne!(one, fingerprint(&race("accounts[3].owner", "pay", 12)));
        assert_ne!(one, fingerprint(&race("accounts[3].balance", "take", 12)));
        let order =
            BugId { class: Some(BugClass::Order), ..race("accounts[3].balance", "pay", 12) };
        assert_ne!(one, fingerprint(&order));
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
