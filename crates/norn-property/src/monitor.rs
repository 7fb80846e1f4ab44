//! Decides whether events in a given order violate a property: an automaton that reads them one by
//! one.
//!
//! It shares no code with the [search](crate::search) that proposes orders, and its decision is
//! final: for the recorded run, for schedules, and for forced runs.

use norn_model::ThreadId;

use crate::{
    Exclusion, Instance, LinearPattern, Occurrence, Property,
    syntax::{Edge, Item},
};

/// A violation of a property: a linear pattern, and the events of an instance that match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyViolation {
    /// The index of the linear pattern in the property.
    pub linear: usize,
    /// The events, in the order of the pattern.
    pub steps: Vec<Occurrence>,
}

/// The first violation of the property by the events of an instance, in the recorded order.
pub fn find_violation(property: &Property, instance: &Instance) -> Option<PropertyViolation> {
    find_violation_in(property, &instance.occurrences)
}

/// The first violation of the property by events in the given order.
pub(crate) fn find_violation_in(
    property: &Property,
    occurrences: &[Occurrence],
) -> Option<PropertyViolation> {
    let mut monitors: Vec<_> =
        property.linear_patterns.iter().map(|it| Monitor::new(property, it)).collect();
    for occurrence in occurrences {
        for (linear, monitor) in monitors.iter_mut().enumerate() {
            if let Some(steps) = monitor.step(occurrence) {
                return Some(PropertyViolation { linear, steps });
            }
        }
    }
    None
}

/// A partial match of a linear pattern.
#[derive(Clone, Debug)]
struct PartialMatch {
    steps: Vec<Occurrence>,
    /// By thread name: the thread it is bound to.
    threads: Vec<Option<ThreadId>>,
    /// By region name: the time at which it began.
    regions: Vec<Option<u64>>,
}

struct Monitor<'a> {
    linear: &'a LinearPattern,
    partial_matches: Vec<PartialMatch>,
    /// Regions that have begun: thread, name, and time.
    open: Vec<(ThreadId, usize, u64)>,
}

impl<'a> Monitor<'a> {
    fn new(property: &Property, linear: &'a LinearPattern) -> Self {
        let start = PartialMatch {
            steps: Vec::new(),
            threads: vec![None; property.definition.threads.len()],
            regions: vec![None; property.definition.regions.len()],
        };
        Monitor { linear, partial_matches: vec![start], open: Vec::new() }
    }

    /// Reads an event; returns the events of the linear pattern if it is complete now.
    fn step(&mut self, event: &Occurrence) -> Option<Vec<Occurrence>> {
        let edges = self.edges(event);
        let mut longer = Vec::new();
        for partial in &self.partial_matches {
            let Some(next) = self.extended(partial, event, &edges) else { continue };
            if next.steps.len() == self.linear.items.len() {
                return Some(next.steps);
            }
            longer.push(next);
        }
        let linear = self.linear;
        self.partial_matches.retain(|it| !is_invalidated_by(linear, it, event));
        for next in longer {
            // Matches that differ only in their past events have the same future, so one of them is
            // enough.
            let same = |it: &PartialMatch| {
                it.steps.len() == next.steps.len()
                    && it.threads == next.threads
                    && it.regions == next.regions
                    && (linear.parts.is_empty() || it.doers().eq(next.doers()))
                    && !linear.adjacent
            };
            if !self.partial_matches.iter().any(same) {
                self.partial_matches.push(next);
            }
        }
        None
    }

    /// The regions that an event begins and ends: edge, name, and time of the beginning.
    fn edges(&mut self, event: &Occurrence) -> Vec<(Edge, usize, u64)> {
        let mut edges = Vec::new();
        for item in self.linear.items.iter().filter(|it| is_event(it, event)) {
            match item.region {
                Some((Edge::Begin, region)) => {
                    self.open.push((event.id.thread, region, event.time));
                    edges.push((Edge::Begin, region, event.time));
                }
                Some((Edge::End, region)) => {
                    let is_it =
                        |it: &(ThreadId, usize, u64)| (it.0, it.1) == (event.id.thread, region);
                    if let Some(at) = self.open.iter().rposition(is_it) {
                        edges.push((Edge::End, region, self.open.remove(at).2));
                    }
                }
                None => {}
            }
        }
        edges
    }

    fn extended(
        &self,
        partial: &PartialMatch,
        event: &Occurrence,
        edges: &[(Edge, usize, u64)],
    ) -> Option<PartialMatch> {
        let item = self.linear.items.get(partial.steps.len()).filter(|it| is_event(it, event))?;
        let mut next = partial.clone();
        if !can_extend(self.linear, partial, event)
            || is_excluded_elsewhere(self.linear, partial, event)
        {
            return None;
        }
        if let Some(thread) = item.thread {
            let others = partial.threads.iter().enumerate().filter(|(it, _)| *it != thread);
            if others.into_iter().any(|(_, it)| *it == Some(event.id.thread)) {
                return None;
            }
            if *next.threads[thread].get_or_insert(event.id.thread) != event.id.thread {
                return None;
            }
        }
        if let Some((edge, region)) = item.region {
            let begun = edges.iter().find(|it| (it.0, it.1) == (edge, region))?.2;
            if *next.regions[region].get_or_insert(begun) != begun {
                return None;
            }
        }
        next.steps.push(*event);
        Some(next)
    }
}

impl PartialMatch {
    /// The threads of the events so far.
    fn doers(&self) -> impl Iterator<Item = ThreadId> {
        self.steps.iter().map(|it| it.id.thread)
    }
}

/// Whether an event can extend a match with respect to `||`: its thread has executed no event of
/// another part, and it directly follows the previous event if the pattern requires that.
fn can_extend(linear: &LinearPattern, partial: &PartialMatch, event: &Occurrence) -> bool {
    let behind = |last: &Occurrence| !linear.adjacent || last.time + 1 == event.time;
    let part = linear.parts.get(partial.steps.len());
    let mut others = linear.parts.iter().zip(partial.doers()).filter(|(it, _)| Some(*it) != part);
    partial.steps.last().is_none_or(behind) && !others.any(|(_, by)| by == event.id.thread)
}

/// Whether an event is excluded here by another part than the one that it belongs to.
fn is_excluded_elsewhere(
    linear: &LinearPattern,
    partial: &PartialMatch,
    event: &Occurrence,
) -> bool {
    let done = partial.steps.len();
    linear.exclusions.iter().any(|it| it.before > done && is_excluded(it, partial, event))
}

fn is_event(item: &Item, event: &Occurrence) -> bool {
    event.event_set & (1 << item.event) != 0
}

/// Whether an exclusion forbids an event now.
fn is_excluded(exclusion: &Exclusion, partial: &PartialMatch, event: &Occurrence) -> bool {
    let done = partial.steps.len();
    let due = exclusion.after.is_none_or(|it| it < done) && done <= exclusion.before;
    let by = exclusion.item.thread.and_then(|it| partial.threads[it]);
    due && is_event(&exclusion.item, event) && by.is_none_or(|it| it == event.id.thread)
}

/// Whether an event makes a partial match impossible: the event is excluded here, or the next event
/// of the pattern had to follow directly.
fn is_invalidated_by(linear: &LinearPattern, partial: &PartialMatch, event: &Occurrence) -> bool {
    let not_adjacent = |last: &Occurrence| linear.adjacent && last.time + 1 < event.time;
    linear.exclusions.iter().any(|it| is_excluded(it, partial, event))
        || partial.steps.last().is_some_and(not_adjacent)
}
