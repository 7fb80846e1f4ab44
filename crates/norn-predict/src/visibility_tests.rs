//! Compares the conditions with all orders of tiny traces.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{EventId, Trace};
use norn_testkit::{Machine, MachineState, Shape, traces};
use proptest::prelude::*;
use rayon::prelude::*;

use super::*;
use crate::{
    Options,
    facts::{Facts, Synchronisation},
    shared_filter::SharedFilter,
};

/// The last write to each address.
type Memory = BTreeMap<u64, EventId>;

/// The pairs of a write and a read that sees it in some order of the events, whatever values are read.
fn seen_in_some_order(trace: &Trace) -> BTreeSet<(EventId, EventId)> {
    let machine = Machine::new(trace);
    let mut pairs = BTreeSet::new();
    let mut known: BTreeSet<(MachineState, Memory)> = BTreeSet::new();
    let mut open = vec![(machine.start(), Memory::new())];
    while let Some((state, memory)) = open.pop() {
        if !known.insert((state.clone(), memory.clone())) {
            continue;
        }
        for (number, thread) in trace.threads.iter().enumerate() {
            let Some(event) = thread.events.get(state.cuts[number]) else { continue };
            let states = machine.step(&state, number);
            let mut memory = memory.clone();
            if let Some(access) = event.op.access().filter(|_| !states.is_empty()) {
                if access.read.is_some() {
                    pairs.extend(memory.get(&access.addr).map(|it| (*it, event.id)));
                }
                if access.write.is_some() {
                    memory.insert(access.addr, event.id);
                }
            }
            open.extend(states.into_iter().map(|it| (it, memory.clone())));
        }
    }
    pairs
}

/// The pairs that the conditions allow.
fn allowed(trace: &Trace) -> BTreeSet<(EventId, EventId)> {
    let options = Options::default();
    let filter = SharedFilter::new(trace.len() as u64);
    let synchronisation = Synchronisation::new(trace, &filter);
    let regions = synchronisation.regions(trace, &options);
    let facts = Facts::new(trace, &options, &synchronisation, &regions, &filter);
    let spins = SpinOrder::default();
    let visibility = Visibility { rules: facts.rules(), spins: &spins };
    let id = |it: &Touch| trace.threads[usize::from(it.thread)].events[it.index as usize].id;
    let variables: Vec<_> = facts.variables().collect();
    let mut pairs = BTreeSet::new();
    for touches in &variables {
        for read in touches.iter().filter(|it| it.kind.is(Action::Read)) {
            let writes = touches.iter().filter(|it| it.kind.is(Action::Write) && *it != read);
            let sees = |it: &&Touch| visibility.can_see(touches, read, None, it);
            pairs.extend(writes.filter(sees).map(|it| (id(it), id(read))));
        }
    }
    pairs
}

proptest! {
    /// What a read can see in some order is never excluded. The other direction does not hold: a
    /// condition is about two or three accesses, and an order is about all of them.
    #[test]
    fn no_possible_write_is_excluded(trace in traces(Shape { waits: true, ..Shape::default() })) {
        let allowed = allowed(&trace);
        let shared: BTreeSet<_> = allowed.iter().map(|it| it.1).collect();
        for pair in seen_in_some_order(&trace) {
            // Memory that only one thread accesses is not analysed.
            let is_private = !shared.contains(&pair.1) && pair.0.thread == pair.1.thread;
            prop_assert!(allowed.contains(&pair) || is_private, "{pair:?}\n{allowed:?}");
        }
    }
}
