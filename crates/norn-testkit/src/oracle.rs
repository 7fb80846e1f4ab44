//! Questions about all orders that the events of a tiny trace can have.

use std::collections::BTreeSet;

use norn_model::{EventId, Trace};

use crate::{Machine, State};

/// Knows every order of a tiny trace.
#[derive(Debug)]
pub struct Oracle<'a> {
    trace: &'a Trace,
    machine: Machine<'a>,
}

impl<'a> Oracle<'a> {
    /// For one trace.
    pub fn new(trace: &'a Trace) -> Self {
        Oracle { trace, machine: Machine::new(trace) }
    }

    /// Whether these events can happen in this order, from the start on.
    pub fn allows(&self, order: &[EventId]) -> bool {
        let mut states = BTreeSet::from([self.machine.start()]);
        for id in order {
            let Some(thread) = self.trace.threads.iter().position(|it| it.id == id.thread) else {
                return false;
            };
            let due = |it: &&State| it.cuts[thread] as u64 == id.index;
            let next = states.iter().filter(due).flat_map(|it| self.machine.step(it, thread));
            states = next.collect();
        }
        !states.is_empty()
    }

    /// Whether some order has these events in this order; with nothing in between if they are to
    /// be adjacent.
    pub fn can_order(&self, events: &[EventId], adjacent: bool) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![(self.machine.start(), 0)];
        while let Some((state, done)) = open.pop() {
            if done == events.len() {
                return true;
            }
            if !seen.insert((state.clone(), done)) {
                continue;
            }
            for (thread, it) in self.trace.threads.iter().enumerate() {
                let id = EventId { thread: it.id, index: state.cuts[thread] as u64 };
                let wanted = events[done] == id;
                // An event of the pattern that is not due would be in the wrong place.
                let wrong = !wanted && (events.contains(&id) || adjacent && done > 0);
                if !wrong {
                    let next = self.machine.step(&state, thread).into_iter();
                    open.extend(next.map(|it| (it, done + usize::from(wanted))));
                }
            }
        }
        false
    }
}
