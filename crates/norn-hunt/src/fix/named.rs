//! A suggested lock with the names that a reader knows: the lock, functions and lines.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use norn_model::{Candidate, Event, EventId, SiteId, StackId, Trace};
use norn_report::{Fix, FixSection, RejectedLock};

use super::{ExistingLock, Suggestion, section::Frames, suggest};
use crate::{
    describe::{lock_name, place_of, program_frames},
    source::Source,
};

/// Maximum number of acquisitions that are listed.
const MOST_REPLACED: usize = 4;

/// Maximum number of events of all traces together in which a hunt examines locks, so that hints do not cost more
/// than the search where there are hundreds of findings.
const MOST_EXAMINED: usize = 1 << 24;

/// The search for fixes of one hunt.
#[derive(Debug)]
pub(crate) struct FixSearch {
    /// Number of events that may still be examined.
    left: usize,
}

impl Default for FixSearch {
    fn default() -> FixSearch {
        FixSearch { left: MOST_EXAMINED }
    }
}

impl FixSearch {
    /// The suggestion for a candidate, if there is one and the search for it does not take too long.
    pub(crate) fn suggest(&mut self, source: &Source, candidate: &Candidate) -> Option<Fix> {
        self.left = self.left.checked_sub(source.trace.len())?;
        suggested_fix(source, candidate)
    }
}

/// The suggestion for a candidate of a trace, if there is one that passes the checks.
pub(crate) fn suggested_fix(source: &Source, candidate: &Candidate) -> Option<Fix> {
    let known: RefCell<BTreeMap<(SiteId, StackId), Frames>> = RefCell::default();
    let frames = |event: &Event| {
        let mut known = known.borrow_mut();
        let made = known.entry((event.site, event.stack)).or_insert_with(|| {
            let mut frames = program_frames(source, event);
            frames.reverse();
            for frame in &mut frames {
                frame.column = None;
            }
            Arc::from(frames)
        });
        Arc::clone(made)
    };
    let suggestion = suggest(&source.trace, candidate, &frames)?;
    let Suggestion { lock, sections, replaced, executions, cycles, rejected } = suggestion;
    let name = |it: ExistingLock| lock_name(source, it.held_at, (it.lock, it.mode));
    let section = |it: super::Lines| FixSection { from: it.place, to: it.last, loops: it.loops };
    let rejected = rejected.into_iter();
    Some(Fix {
        lock: lock.map(name),
        sections: sections.into_iter().map(section).collect(),
        acquired_inside: places(source, &replaced),
        executions,
        events: source.trace.len(),
        cycles,
        rejected: rejected.map(|(it, why)| RejectedLock { lock: name(it), why }).collect(),
    })
}

/// The lines of some events, each once.
fn places(source: &Source, events: &[EventId]) -> Vec<norn_model::Location> {
    let event = |trace: &Trace, id: EventId| trace.event(id).copied();
    let mut places = Vec::new();
    for event in events.iter().filter_map(|it| event(&source.trace, *it)) {
        let Some(place) = place_of(source, &event) else { continue };
        if places.len() < MOST_REPLACED && !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
