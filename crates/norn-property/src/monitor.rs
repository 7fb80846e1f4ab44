//! Whether events in a given order break a property: an automaton that reads them one by one.
//!
//! It shares nothing with the [search](crate::search) that proposes orders, and it is what decides:
//! about the recorded run, about schedules, and about what the program did in the end.

use norn_model::ThreadId;

use crate::{
    Ban, Instance, Occurrence, Property, Word,
    tree::{Edge, Item},
};

/// A word of a property, and the events of an instance that are it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which of the property's words.
    pub word: usize,
    /// The events, in their order.
    pub steps: Vec<Occurrence>,
}

/// Says whether an instance's events, in the order that they have, break the property; and the first
/// events that do.
pub fn breach(property: &Property, instance: &Instance) -> Option<Breach> {
    breach_in(property, &instance.occurrences)
}

/// The same for events in any order.
pub(crate) fn breach_in(property: &Property, occurrences: &[Occurrence]) -> Option<Breach> {
    let mut monitors: Vec<_> = property.words.iter().map(|it| Monitor::new(property, it)).collect();
    for occurrence in occurrences {
        for (word, monitor) in monitors.iter_mut().enumerate() {
            if let Some(steps) = monitor.step(occurrence) {
                return Some(Breach { word, steps });
            }
        }
    }
    None
}

/// How far a word has come, in one way to read the events so far.
#[derive(Clone, Debug)]
struct State {
    steps: Vec<Occurrence>,
    /// By name: the threads.
    threads: Vec<Option<ThreadId>>,
    /// By name: when the atomic regions began.
    regions: Vec<Option<u64>>,
}

struct Monitor<'a> {
    word: &'a Word,
    states: Vec<State>,
    /// Regions that have begun: thread, name, and when.
    open: Vec<(ThreadId, usize, u64)>,
}

impl<'a> Monitor<'a> {
    fn new(property: &Property, word: &'a Word) -> Self {
        let start = State {
            steps: Vec::new(),
            threads: vec![None; property.definition.threads.len()],
            regions: vec![None; property.definition.regions.len()],
        };
        Monitor { word, states: vec![start], open: Vec::new() }
    }

    /// Reads an event; returns the word's events if it is complete now.
    fn step(&mut self, event: &Occurrence) -> Option<Vec<Occurrence>> {
        let edges = self.edges(event);
        let mut longer = Vec::new();
        for state in &self.states {
            let Some(next) = self.extended(state, event, &edges) else { continue };
            if next.steps.len() == self.word.items.len() {
                return Some(next.steps);
            }
            longer.push(next);
        }
        let word = self.word;
        self.states.retain(|it| !is_over(word, it, event));
        for next in longer {
            // What was read does not matter for what is to come, but for where it was read.
            let same = |it: &State| {
                it.steps.len() == next.steps.len()
                    && it.threads == next.threads
                    && it.regions == next.regions
                    && (word.parts.is_empty() || it.doers().eq(next.doers()))
                    && !word.adjacent
            };
            if !self.states.iter().any(same) {
                self.states.push(next);
            }
        }
        None
    }

    /// The regions that an event begins and ends, by name and beginning.
    fn edges(&mut self, event: &Occurrence) -> Vec<(Edge, usize, u64)> {
        let mut edges = Vec::new();
        for item in self.word.items.iter().filter(|it| is_letter(it, event)) {
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
        state: &State,
        event: &Occurrence,
        edges: &[(Edge, usize, u64)],
    ) -> Option<State> {
        let item = self.word.items.get(state.steps.len()).filter(|it| is_letter(it, event))?;
        let mut next = state.clone();
        if !is_free(self.word, state, event) || is_amid(self.word, state, event) {
            return None;
        }
        if let Some(thread) = item.thread {
            let others = state.threads.iter().enumerate().filter(|(it, _)| *it != thread);
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

impl State {
    /// Who did what was read.
    fn doers(&self) -> impl Iterator<Item = ThreadId> {
        self.steps.iter().map(|it| it.id.thread)
    }
}

/// Whether an event can be the next as far as others at the same time go: its thread has done none
/// of them, and it comes right behind if that is wanted.
fn is_free(word: &Word, state: &State, event: &Occurrence) -> bool {
    let behind = |last: &Occurrence| !word.adjacent || last.time + 1 == event.time;
    let part = word.parts.get(state.steps.len());
    let mut others = word.parts.iter().zip(state.doers()).filter(|(it, _)| Some(*it) != part);
    state.steps.last().is_none_or(behind) && !others.any(|(_, by)| by == event.id.thread)
}

/// Whether an event must not come here, though the next of the word is one of another part.
fn is_amid(word: &Word, state: &State, event: &Occurrence) -> bool {
    let done = state.steps.len();
    word.bans.iter().any(|it| it.before > done && is_banned(it, state, event))
}

fn is_letter(item: &Item, event: &Occurrence) -> bool {
    event.letters & (1 << item.event) != 0
}

/// Whether an event is one that must not come now.
fn is_banned(ban: &Ban, state: &State, event: &Occurrence) -> bool {
    let done = state.steps.len();
    let due = ban.after.is_none_or(|it| it < done) && done <= ban.before;
    let by = ban.item.thread.and_then(|it| state.threads[it]);
    due && is_letter(&ban.item, event) && by.is_none_or(|it| it == event.id.thread)
}

/// Whether an event ends all hope: it must not come here, or something else had to.
fn is_over(word: &Word, state: &State, event: &Occurrence) -> bool {
    let parted = |last: &Occurrence| word.adjacent && last.time + 1 < event.time;
    word.bans.iter().any(|it| is_banned(it, state, event)) || state.steps.last().is_some_and(parted)
}
