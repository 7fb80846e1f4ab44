//! The oracle: explores all orders of the events of a tiny trace by brute force.

use std::collections::BTreeSet;

use norn_model::{EventId, MemoryAccess, Trace};

use crate::{
    Machine, MachineState, Relation,
    memory::{Memory, Seen},
};

/// Explores every order of a tiny trace.
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

    /// Whether these events can happen in this order, from the start of the run.
    pub fn allows(&self, order: &[EventId]) -> bool {
        !self.after(order).is_empty()
    }

    /// Whether these events can happen in this order such that the `stuck` events, then the next
    /// ones of their threads, can never happen.
    pub fn is_stuck(&self, order: &[EventId], stuck: &[EventId]) -> bool {
        self.after(order).into_iter().any(|it| self.stays(it, stuck))
    }

    /// Whether these events stay the next of their threads in every continuation. Their threads have come there in
    /// this order: a reader queues behind a writer that came before it.
    fn stays(&self, state: MachineState, stuck: &[EventId]) -> bool {
        let number = |id: &EventId| self.trace.threads.iter().position(|it| it.id == id.thread);
        let next = |state: &MachineState, id: &EventId| {
            number(id).is_some_and(|it| state.cuts[it] as u64 == id.index)
        };
        let mut open = vec![state];
        let mut seen = BTreeSet::new();
        while let Some(state) = open.pop() {
            if !stuck.iter().all(|id| next(&state, id)) {
                return false;
            }
            for thread in 0..self.trace.threads.len() {
                let before = stuck.iter().filter_map(number).take_while(|it| *it != thread);
                let waits = |it| self.machine.is_queued_behind(&state, thread, it);
                if before.into_iter().any(waits) {
                    continue;
                }
                let more = self.machine.step(&state, thread);
                open.extend(more.into_iter().filter(|it| seen.insert(it.clone())));
            }
        }
        true
    }

    /// All reachable lock deadlocks: sets of events at which threads wait at the same time, each
    /// for a lock that the next one holds.
    pub fn lock_cycles(&self) -> BTreeSet<BTreeSet<EventId>> {
        let mut cycles = BTreeSet::new();
        let mut open = vec![self.machine.start()];
        let mut seen = BTreeSet::new();
        while let Some(state) = open.pop() {
            for thread in 0..self.trace.threads.len() {
                self.follow(&state, &mut vec![thread], &mut cycles);
                let more = self.machine.step(&state, thread);
                open.extend(more.into_iter().filter(|it| seen.insert(it.clone())));
            }
        }
        cycles
    }

    /// Follows the wait-for relation from thread to thread.
    fn follow(
        &self,
        state: &MachineState,
        path: &mut Vec<usize>,
        cycles: &mut BTreeSet<BTreeSet<EventId>>,
    ) {
        let last = path[path.len() - 1];
        for holder in self.machine.blocking_threads(state, last) {
            if holder == path[0] {
                let id = |it: &usize| EventId {
                    thread: self.trace.threads[*it].id,
                    index: state.cuts[*it] as u64,
                };
                cycles.insert(path.iter().map(id).collect());
            } else if !path.contains(&holder) {
                path.push(holder);
                self.follow(state, path, cycles);
                path.pop();
            }
        }
    }

    /// All states that an order of events can result in.
    fn after(&self, order: &[EventId]) -> BTreeSet<MachineState> {
        let mut states = BTreeSet::from([self.machine.start()]);
        for id in order {
            let Some(thread) = self.trace.threads.iter().position(|it| it.id == id.thread) else {
                return BTreeSet::new();
            };
            let due = |it: &&MachineState| it.cuts[thread] as u64 == id.index;
            let next = states.iter().filter(due).flat_map(|it| self.machine.step(it, thread));
            states = next.collect();
        }
        states
    }

    /// Whether these events can happen in this order, possibly with others in between unless they
    /// have to be adjacent.
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
                // An event of the pattern that is not due would be out of order.
                let wrong = !wanted && (events.contains(&id) || adjacent && done > 0);
                if !wrong {
                    let next = self.machine.step(&state, thread).into_iter();
                    open.extend(next.map(|it| (it, done + usize::from(wanted))));
                }
            }
        }
        false
    }

    /// The same, and every event sees the recorded value. Only the last event of a thread may see
    /// another one; a read-modify-write only if it is the last event of all.
    pub fn can_order_as_seen(&self, events: &[EventId], adjacent: bool) -> bool {
        let all = Seen::new(self.trace);
        let threads = &self.trace.threads;
        let mut seen = BTreeSet::new();
        let start = (self.machine.start(), Memory::default(), BTreeSet::new(), 0);
        let mut open = vec![start];
        while let Some((state, memory, ended, done)) = open.pop() {
            if done == events.len() {
                return true;
            }
            if !seen.insert((state.clone(), memory.clone(), ended.clone(), done)) {
                continue;
            }
            for (thread, it) in threads.iter().enumerate().filter(|it| !ended.contains(&it.0)) {
                let id = EventId { thread: it.id, index: state.cuts[thread] as u64 };
                let wanted = events[done] == id;
                if !wanted && (events.contains(&id) || adjacent && done > 0) {
                    continue;
                }
                let Some(event) = it.events.get(state.cuts[thread]) else { continue };
                let (mut memory, mut ended) = (memory.clone(), ended.clone());
                let succeeds = self.machine.would_succeed(&state, thread);
                let same = memory.step(&all, id, &event.op) && !succeeds;
                let last = wanted && done + 1 == events.len();
                let updates = event.op.access().is_some_and(|it| MemoryAccess::is_update(&it));
                if !same && updates && !last {
                    continue;
                }
                if !same {
                    ended.insert(thread);
                }
                for next in self.machine.step(&state, thread) {
                    let done = done + usize::from(wanted);
                    open.push((next, memory.clone(), ended.clone(), done));
                }
            }
        }
        false
    }

    /// Whether two conflicting accesses race in some order of the events: the first comes before the
    /// second, every event sees the recorded value as far as it matters, and happens-before does not
    /// order the two. That depends on all events before, so every order is tried.
    pub fn can_race(&self, one: EventId, other: EventId) -> bool {
        let all = Seen::new(self.trace);
        let mut open = vec![(self.machine.start(), Memory::default(), BTreeSet::new(), Vec::new())];
        while let Some((state, memory, ended, order)) = open.pop() {
            for (thread, it) in self.trace.threads.iter().enumerate() {
                let Some(event) = it.events.get(state.cuts[thread]) else { continue };
                let id = event.id;
                if ended.contains(&thread) || id == other && !order.contains(&one) {
                    continue;
                }
                let (mut memory, mut ended): (Memory, BTreeSet<usize>) =
                    (memory.clone(), ended.clone());
                let succeeds = self.machine.would_succeed(&state, thread);
                let same = memory.step(&all, id, &event.op) && !succeeds;
                let updates = event.op.access().is_some_and(|it| MemoryAccess::is_update(&it));
                if !same && updates && id != other {
                    continue;
                }
                if !same {
                    ended.insert(thread);
                }
                let order = [&order[..], &[id]].concat();
                let next = self.machine.step(&state, thread);
                if id == other {
                    if !next.is_empty() && !Relation::new(self.trace, &order).is_before(one, other)
                    {
                        return true;
                    }
                    continue;
                }
                for next in next {
                    open.push((next, memory.clone(), ended.clone(), order.clone()));
                }
            }
        }
        false
    }
}
