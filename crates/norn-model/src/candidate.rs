//! A candidate: a bug that a trace allows, before it is known whether it can happen.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::{BugClass, CandidateKind, EventId, SiteId};

/// A bug that a trace allows: these events, in this order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Candidate {
    /// What exactly it is; its class follows from this.
    #[serde(flatten, serialize_with = "class_and_pattern")]
    pub kind: CandidateKind,
    /// Whether the events must follow each other with nothing in between.
    pub adjacent: bool,
    /// The events, in the order that the pattern wants.
    pub steps: Vec<Step>,
    /// Events of a deadlock that threads reach and can never complete: each waits for what others of
    /// them hold. Then the order of the steps does not matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<Step>,
    /// Why events of one thread belong together.
    pub scope: Scope,
    /// Which of the instances with the same sites, from 0, the cheapest first.
    pub instance: u32,
}

/// An event that must not come between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Apart {
    /// The event.
    pub event: EventId,
    /// Not after this one; none is the beginning of the run.
    pub after: Option<EventId>,
    /// And before this one.
    pub before: EventId,
}

/// One event of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Step {
    /// The event.
    pub event: EventId,
    /// Where in the code.
    pub site: SiteId,
    /// The first byte that it shares with the other events on the same variable.
    pub addr: u64,
    /// What the pattern takes it for.
    pub access: Access,
    /// The thread's events that belong together, first and last.
    pub region: (u64, u64),
}

/// What is done to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// Its memory is freed.
    Free,
    /// It is a lock, and acquired.
    Acquire,
    /// It is a lock, and acquired for reading.
    Share,
    /// It is a condition, a semaphore, a barrier or a thread, and waited for.
    Wait,
    /// It is what other threads wait for, and they are woken.
    Signal,
    /// It is a synchronisation object, and is used.
    Use,
    /// It is a synchronisation object, and is initialised.
    Init,
    /// It is a synchronisation object, and is destroyed.
    Destroy,
    /// Something else happens, which a property has a name for.
    Event,
}

/// Why events of one thread belong together, the strongest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scope {
    /// The pattern has one event of each thread.
    Single,
    /// The user says so.
    Marked,
    /// They are in one outermost critical section.
    Section,
    /// They follow each other, and nothing else says that they belong together.
    Unmarked,
}

/// Readers of JSON get the class beside the name, so that they need not know every kind.
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
    /// The class of bug that it would be.
    pub fn class(&self) -> BugClass {
        self.kind.class()
    }

    /// The end of the wait that times out, if the candidate is about a timeout.
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
