//! The identity of the bug behind a finding, a violation or a failure.

use std::collections::BTreeSet;

use norn_model::{BugClass, BugId, Candidate, Location};
use norn_report::{Access, Object, vocabulary};

use crate::{Confirmed, Description, Finding, Observed, Prospect, Violation};

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
        variables: description.variables.iter().map(variable).collect(),
        places: places(&description.accesses),
        failure: None,
    }
}

impl Violation {
    /// The identity of the bug.
    pub fn bug(&self) -> BugId {
        BugId {
            class: Some(BugClass::Property),
            property: Some(self.property.clone()),
            variables: BTreeSet::new(),
            places: places(&self.steps),
            failure: self.confirmed().and_then(|it: &Confirmed| it.failure.clone()),
        }
    }
}

impl Observed {
    /// The identity of the bug, as far as its failure determines it.
    pub fn bug(&self) -> BugId {
        BugId { failure: self.failure.clone(), ..BugId::default() }
    }
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
