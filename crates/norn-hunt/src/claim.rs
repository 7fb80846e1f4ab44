//! The claim of a finding's clip: the events of the candidate, as the forced run performed them.

use norn_model::Candidate;
use norn_replay::Claim;

use crate::{Description, confirm, report, source::Source};

/// The claim that a run performed a candidate; none if its trace does not have all of the events. A
/// deadlock is its own proof, and the expiry of a wait is part of the schedule.
pub(crate) fn claim(
    source: &Source,
    forced: Option<&Source>,
    candidate: &Candidate,
    description: &Description,
) -> Option<Claim> {
    let forced = forced?;
    if !candidate.stuck.is_empty() || candidate.expires().is_some() {
        return None;
    }
    let events = confirm::events(source, candidate, &forced.symbolized)?;
    let name = (candidate.class(), report::title(&candidate.kind, description));
    Claim::new(name, candidate.adjacent, &forced.symbolized, &events)
}
