//! A candidate: a bug that a trace permits, before its feasibility is decided.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{BugClass, CandidateKind, EventId, SiteId};

/// A bug that a trace permits: these events, in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Candidate {
    /// Its exact kind, which determines its class.
    #[serde(flatten, serialize_with = "class_and_pattern")]
    pub kind: CandidateKind,
    /// Whether the events must be adjacent. A data race whose events need not be is one that
    /// happens-before leaves [unordered](Candidate::is_unordered_race).
    pub adjacent: bool,
    /// The events, in the order of the pattern.
    pub steps: Vec<Step>,
    /// The events of a deadlock that threads reach but can never complete: each waits for what
    /// others of them hold. The order of the steps then does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<Step>,
    /// Why events of one thread are assumed to belong together.
    pub scope: Scope,
    /// The index among the instances with the same sites, the cheapest first.
    pub instance: u32,
}

/// An event that must not occur between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Apart {
    /// The event.
    pub event: EventId,
    /// Not after this event; `None` is the beginning of the run.
    pub after: Option<EventId>,
    /// Not before this event.
    pub before: EventId,
}

/// One event of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// Its code location.
    pub site: SiteId,
    /// The first byte that it shares with the other events on the same variable.
    pub addr: u64,
    /// Its kind of access in the pattern.
    pub access: Access,
    /// The region of the thread's events that belong together: first and last index.
    pub region: (u64, u64),
}

/// The kinds of access to a variable or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// A read.
    Read,
    /// A write.
    Write,
    /// Its memory is freed.
    Free,
    /// A lock is acquired.
    Acquire,
    /// A lock is acquired for reading.
    Share,
    /// A lock is released.
    Release,
    /// A thread waits for a condition, a semaphore, a barrier or another thread.
    Wait,
    /// Waiting threads are woken.
    Signal,
    /// A synchronisation object is used.
    Use,
    /// A synchronisation object is initialised.
    Init,
    /// A synchronisation object is destroyed.
    Destroy,
    /// Another event, which a property names.
    Event,
}

/// Why events of one thread are assumed to belong together, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scope {
    /// The pattern has one event of each thread.
    Single,
    /// The user declares it.
    Marked,
    /// They are in one outermost critical section.
    Section,
    /// They follow each other; there is no other evidence that they belong together.
    Unmarked,
}

/// JSON has the class next to the name, so that its readers need not know every kind.
fn class_and_pattern<S: Serializer>(
    kind: &CandidateKind,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields<'a> {
        class: BugClass,
        pattern: &'a CandidateKind,
    }
    Fields { class: kind.class(), pattern: kind }.serialize(serializer)
}

impl Candidate {
    /// Its bug class.
    pub fn class(&self) -> BugClass {
        self.kind.class()
    }

    /// Whether it is a data race although its accesses need not be adjacent: other events are between
    /// them, such as a relaxed handover, and none of these orders them.
    pub fn is_unordered_race(&self) -> bool {
        self.class() == BugClass::Race && !self.adjacent
    }

    /// The end of the wait that times out, if the candidate is a timeout.
    pub fn expires(&self) -> Option<EventId> {
        let times_out = matches!(self.kind, CandidateKind::Timeout | CandidateKind::LateWakeUp);
        let waits = |it: &&Step| it.access == Access::Wait;
        let wait = self.steps.iter().find(waits).map(|it| it.event);
        wait.filter(|_| times_out)
    }

    /// The sites, in the order of the events.
    pub fn sites(&self) -> impl Iterator<Item = SiteId> {
        self.steps.iter().chain(&self.stuck).map(|it| it.site)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Read => "r",
            Access::Write => "w",
            Access::Free => "f",
            Access::Acquire => "lock",
            Access::Share => "share",
            Access::Release => "unlock",
            Access::Wait => "wait",
            Access::Signal => "signal",
            Access::Use => "u",
            Access::Init => "i",
            Access::Destroy => "d",
            Access::Event => "e",
        })
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scope::Single => "single",
            Scope::Marked => "marked",
            Scope::Section => "section",
            Scope::Unmarked => "unmarked",
        })
    }
}
