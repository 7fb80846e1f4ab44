//! The names of things, each in one place: events, bug classes, verdicts, consequences.
//!
//! Whatever prints a name takes it from here, so that texts, JSON and every later format agree, and
//! a better word is one change.

mod action;
mod consequence;
mod fix;
mod headline;
mod location;
mod note;
mod reproduction;
mod signal;
mod switch;

use norn_model::{BugClass, CandidateKind, Obstacle};

pub use self::{
    action::Action,
    consequence::{consequence, memory_fault, misused},
    fix::{fix, fix_notes},
    headline::{
        announcement, headline, news, observed_headline, observed_news, property_headline, title,
    },
    location::{path, place, short_function, source},
    note::note,
    reproduction::not_reproduced,
    signal::signal_name,
    switch::switch,
};
use crate::{Status, Verdict};

/// The name of a bug: that of its class, or the more usual one of its kind.
pub fn bug(kind: &CandidateKind) -> String {
    match kind {
        CandidateKind::DoubleFree => "double free".to_owned(),
        CandidateKind::LostWakeUp => "lost wake-up".to_owned(),
        CandidateKind::UserPattern { class: BugClass::Pattern, name } => {
            format!("pattern `{name}`")
        }
        CandidateKind::Property(name) => format!("violation of `{name}`"),
        kind => kind.class().title().to_owned(),
    }
}

/// What a run under a weaker memory model did.
pub fn older_loads(count: u64) -> String {
    let loads = if count == 1 { "1 atomic load" } else { &format!("{count} atomic loads") };
    format!(
        "{loads} returned an older value: the memory model of C++ allows that, and processors with \
         weaker ordering than this one do it"
    )
}

/// What came of a candidate, in a word or two.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Observed => "observed",
        Status::Confirmed => "confirmed",
        Status::NotReproducible => "not reproducible",
        Status::Infeasible => "infeasible",
        Status::Unconfirmed => "not confirmed",
        Status::Inconclusive => "inconclusive",
        Status::Untried => "not tried",
    }
}

/// The name of a verdict.
pub fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Followed(_) => "followed",
        Verdict::Diverged(_) => "diverged",
        Verdict::Infeasible(_) => "infeasible",
    }
}

/// Why a thread could not do what the schedule says; a verb, for a sentence about the thread.
pub fn obstacle(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Blocked => "is blocked",
        Obstacle::Ended => "has ended",
        Obstacle::Absent => "was never created",
        Obstacle::Spins => "spins",
        Obstacle::Away => "is in a system call or in code that is not instrumented",
        Obstacle::OtherEvent => "came to another event",
        Obstacle::Unknown => "cannot continue",
    }
}
