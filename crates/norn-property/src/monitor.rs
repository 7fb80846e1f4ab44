//! Whether events in a given order break a property: an automaton that reads them one by one.
//!
//! It shares nothing with the [search](crate::search) that proposes orders, and it is what decides:
//! about the recorded run, about schedules, and about what the program did in the end.

use norn_model::ThreadId;

use crate::{
    Exclusion, Instance, LinearPattern, Occurrence, Property,
    syntax::{Edge, Item},
};

/// A linear pattern of a property, and the events of an instance that are it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which of the property's linear patterns.
    pub linear: usize,
    /// The events, in their order.
    pub steps: Vec<Occurrence>,
}

/// The first violation of the property by the events of an instance, in their order.
pub fn breach(property: &Property, instance: &Instance) -> Option<Breach> {
    breach_in(property, &instance.occurrences)
}

/// Monitors events in any order.
pub(crate) fn breach_in(property: &Property, occurrences: &[Occurrence]) -> Option<Breach> {
    let mut monitors: Vec<_> =
        property.linear_patterns.iter().map(|it| Monitor::new(property, it)).collect();
    for occurrence in occurrences {
        for (linear, monitor) in monitors.iter_mut().enumerate() {
            if let Some(steps) = monitor.step(occurrence) {
                return Some(Breach { linear, steps });
            }
        }
    }
    None
}

/// How far a linear pattern has come, in one way to read the events so far.
#[derive(Clone, Debug)]
struct PartialMatch {
    steps: Vec<Occurrence>,
    /// By name: the threads.
    threads: Vec<Option<ThreadId>>,
    /// By name: when the atomic regions began.
    regions: Vec<Option<u64>>,
}

struct Monitor<'a> {
    linear: &'a LinearPattern,
    partial_matches: Vec<PartialMatch>,
    /// Regions that have begun: thread, name, and when.
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

    /// Reads an event; returns the linear pattern's events if it is complete now.
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
        self.partial_matches.retain(|it| !is_over(linear, it, event));
        for next in longer {
            // What was read does not matter for what is to come, but for where it was read.
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

    /// The regions that an event begins and ends, by name and beginning.
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
        if !is_free(self.linear, partial, event) || is_amid(self.linear, partial, event) {
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

/// Whether an event can be the next as far as others at the same time go: its thread has done none
/// of them, and it comes right behind if that is wanted.
fn is_free(linear: &LinearPattern, partial: &PartialMatch, event: &Occurrence) -> bool {
    let behind = |last: &Occurrence| !linear.adjacent || last.time + 1 == event.time;
    let part = linear.parts.get(partial.steps.len());
    let mut others = linear.parts.iter().zip(partial.doers()).filter(|(it, _)| Some(*it) != part);
    partial.steps.last().is_none_or(behind) && !others.any(|(_, by)| by == event.id.thread)
}

/// Whether an event must not come here, though the next of the linear pattern is one of another part.
fn is_amid(linear: &LinearPattern, partial: &PartialMatch, event: &Occurrence) -> bool {
    let done = partial.steps.len();
    linear.exclusions.iter().any(|it| it.before > done && is_excluded(it, partial, event))
}

fn is_event(item: &Item, event: &Occurrence) -> bool {
    event.event_set & (1 << item.event) != 0
}

/// Whether an event is one that must not come now.
fn is_excluded(exclusion: &Exclusion, partial: &PartialMatch, event: &Occurrence) -> bool {
    let done = partial.steps.len();
    let due = exclusion.after.is_none_or(|it| it < done) && done <= exclusion.before;
    let by = exclusion.item.thread.and_then(|it| partial.threads[it]);
    due && is_event(&exclusion.item, event) && by.is_none_or(|it| it == event.id.thread)
}

/// Whether an event makes a partial match impossible: it is excluded here, or the next event had to
/// follow directly.
fn is_over(linear: &LinearPattern, partial: &PartialMatch, event: &Occurrence) -> bool {
    let parted = |last: &Occurrence| linear.adjacent && last.time + 1 < event.time;
    linear.exclusions.iter().any(|it| is_excluded(it, partial, event))
        || partial.steps.last().is_some_and(parted)
}
