//! How what a thread does depends on what it has read, as far as a trace shows it.
//!
//! A thread that reads an address and then accesses memory there would access other memory, or none, had
//! it read something else. This tells which schedules a program cannot follow, and which reads are
//! dangerous, without executing anything.

use std::collections::BTreeSet;

use norn_model::{
    Access, AtomicOp, BlockEffect, BugClass, Candidate, Effect, Event, EventId, Op, Step, Trace,
};
use norn_witness::Witness;

use crate::attempt::too_early;

/// Smaller values are not addresses.
const LEAST_ADDRESS: u64 = 1 << 16;
/// Maximum distance between an address that was read and an access that it is used for.
const MOST_DISTANCE: u64 = 1 << 10;
/// Number of events after a read in which the use of its value is searched.
const HORIZON: usize = 24;

/// Whether the program will probably not perform the candidate of a speculative schedule: a thread sees
/// another value than in the recorded run, and the address of a later access of the candidate comes from
/// that value, or an earlier attempt has shown that the thread goes another way then (`misleading`); or a
/// compare-exchange of the candidate fails; or a thread frees an object whose owners it has counted
/// differently.
pub(crate) fn is_doubtful(
    trace: &Trace,
    witness: &Witness,
    misleading: &BTreeSet<EventId>,
) -> bool {
    let steps = || witness.candidate.steps.iter().chain(&witness.candidate.stuck);
    witness.differing.iter().any(|read| {
        let follows = |it: &&Step| it.event.thread == read.thread && it.event.index > read.index;
        let fails = |it: &Step| it.event == *read && it.access == Access::Write;
        if is_cas(trace, *read) && steps().any(fails) {
            return true;
        }
        if let Some(counter) = updated(trace, *read)
            && steps().filter(follows).any(|it| frees(trace, it) && is_near(it.addr, counter))
        {
            return true;
        }
        let mut later = steps().filter(follows).peekable();
        let misleads = later.peek().is_some() && misleading.contains(read);
        misleads || address(trace, *read).is_some_and(|base| later.any(|it| is_near(base, it.addr)))
    })
}

/// Whether an event is a compare-exchange that succeeded.
fn is_cas(trace: &Trace, event: EventId) -> bool {
    let op = trace.event(event).map(|it| it.op);
    matches!(op, Some(Op::Atomic { op: AtomicOp::Cas { .. }, .. }))
}

/// The address of an atomic update: of a reference count, for example.
fn updated(trace: &Trace, event: EventId) -> Option<u64> {
    match trace.event(event)?.op {
        Op::Atomic { op: AtomicOp::Rmw { .. }, addr, .. } => Some(addr),
        _ => None,
    }
}

fn frees(trace: &Trace, step: &Step) -> bool {
    let effect = trace.event(step.event).map(|it| it.op.effect());
    matches!(effect, Some(Effect::Block(BlockEffect::Freed { .. })))
}

/// Whether a candidate lets a thread read a pointer before it is set, and the thread uses that pointer.
pub(crate) fn uses_unset_pointer(trace: &Trace, candidate: &Candidate) -> bool {
    let Some(read) = too_early(candidate) else { return false };
    candidate.class() == BugClass::Order
        && address(trace, read).is_some_and(|base| is_dereferenced(trace, read, base))
}

/// Whether the thread of a read soon accesses memory at the address that it has read.
fn is_dereferenced(trace: &Trace, read: EventId, base: u64) -> bool {
    let next = usize::try_from(read.index).unwrap_or(usize::MAX).saturating_add(1);
    let events = trace.thread(read.thread).and_then(|it| it.events.get(next..));
    let uses = |effect: Effect| match effect {
        Effect::Access(it) => is_near(base, it.addr),
        _ => effect.used_object().is_some_and(|it| is_near(base, it)),
    };
    events.into_iter().flatten().take(HORIZON).any(|it| uses(it.op.effect()))
}

/// Whether a thread with these events can reach a block that an event frees: it accesses the block, or the
/// variable from which the other thread has taken the address.
pub(crate) fn is_reachable(trace: &Trace, freed: EventId, base: u64, by: &[Event]) -> bool {
    let before = usize::try_from(freed.index).unwrap_or(usize::MAX);
    let events = trace.thread(freed.thread).map_or(&[][..], |it| &it.events);
    let recent = events.iter().take(before).rev().take(HORIZON);
    let takes = |it: &Event| (address(trace, it.id) == Some(base)).then(|| accessed(it)).flatten();
    let variables: Vec<u64> = recent.filter_map(takes).collect();
    let mut accesses = by.iter().filter_map(accessed);
    accesses.any(|it| it == base || variables.contains(&it))
}

fn accessed(event: &Event) -> Option<u64> {
    let Effect::Access(access) = event.op.effect() else { return None };
    Some(access.addr)
}

/// The address that an event reads.
fn address(trace: &Trace, read: EventId) -> Option<u64> {
    let Effect::Access(access) = trace.event(read)?.op.effect() else { return None };
    let value = u64::try_from(access.read??).ok()?;
    (access.size == 8 && value >= LEAST_ADDRESS).then_some(value)
}

/// Whether an access may be to the object at an address.
fn is_near(base: u64, addr: u64) -> bool {
    addr.checked_sub(base).is_some_and(|it| it < MOST_DISTANCE)
}

#[cfg(test)]
mod tests {
    use norn_model::text;
    use norn_predict::{Options, predict};
    use norn_witness::Witnesses;

    use super::*;

    /// T1 sets a pointer, through which T2 reads; 65536 is 0x10000.
    const POINTER: &str = "
        T1 w 0x10000 7
        T1 acq l
        T1 w p:8 65536
        T1 rel l
        T2 acq l
        T2 r p:8 65536
        T2 rel l
        T2 r 0x10000 7
    ";
    /// The same with a flag.
    const FLAG: &str = "
        T1 w x 7
        T1 acq l
        T1 w f 1
        T1 rel l
        T2 acq l
        T2 r f 1
        T2 rel l
        T2 r x 7
    ";

    #[test]
    fn an_access_through_a_pointer_that_changes_is_doubtful() {
        let trace = text::parse(POINTER).unwrap();
        let witnesses = Witnesses::new(&trace);
        let all = predict(&trace, &Options::default()).candidates;
        let speculative = |class: BugClass| {
            let of = all.iter().filter(move |it| it.class() == class);
            let found = of.filter_map(|it| witnesses.witness(it).ok());
            found.filter(|it| !it.differing.is_empty()).collect::<Vec<_>>()
        };
        let races = speculative(BugClass::Race);
        assert!(!races.is_empty());
        assert!(races.iter().all(|it| is_doubtful(&trace, it, &BTreeSet::new())));
    }

    #[test]
    fn what_led_another_way_before_is_doubtful() {
        let trace = text::parse(FLAG).unwrap();
        let witnesses = Witnesses::new(&trace);
        let all = predict(&trace, &Options::default()).candidates;
        let mut races = all.iter().filter(|it| it.class() == BugClass::Race);
        let race = races.find_map(|it| witnesses.witness(it).ok()).unwrap();
        let read = race.differing[0];
        assert!(!is_doubtful(&trace, &race, &BTreeSet::new()));
        assert!(is_doubtful(&trace, &race, &BTreeSet::from([read])));
    }

    #[test]
    fn a_compare_exchange_that_would_fail_is_doubtful() {
        let trace = text::parse("T1 load x 0\nT1 cas x 0 1\nT2 load x 1\nT2 cas x 1 2").unwrap();
        let witnesses = Witnesses::new(&trace);
        let all = predict(&trace, &Options::default()).candidates;
        let lost = |it: &&Candidate| {
            let threads = [0, 1, 0].map(|at| trace.threads[at].id);
            it.class() == BugClass::Atomicity
                && it.steps.iter().map(|it| it.event.thread).eq(threads)
        };
        let found: Vec<_> = all.iter().filter(lost).flat_map(|it| witnesses.witness(it)).collect();
        assert!(!found.is_empty());
        assert!(found.iter().all(|it| is_doubtful(&trace, it, &BTreeSet::new())), "{found:?}");
    }

    /// Each of two owners gives up its reference to a block at 0x10000, and the last one frees it.
    #[test]
    fn the_last_owner_frees() {
        let run = "T1 alloc 0x10000 16\nT1 w 0x10000 2\nT1 fork T2\nT1 sub 0x10000 2 1\n\
                   T2 sub 0x10000 1 0\nT2 free 0x10000";
        let trace = text::parse(run).unwrap();
        let witnesses = Witnesses::new(&trace);
        let all = predict(&trace, &Options::default()).candidates;
        let freed = all.iter().filter(|it| it.steps.iter().any(|it| frees(&trace, it)));
        let found: Vec<_> = freed.flat_map(|it| witnesses.witness(it)).collect();
        assert!(!found.is_empty(), "{all:?}");
        assert!(found.iter().all(|it| is_doubtful(&trace, it, &BTreeSet::new())), "{found:?}");
    }

    #[test]
    fn a_pointer_that_is_used_before_it_is_set() {
        let trace = text::parse(POINTER).unwrap();
        let prediction = predict(&trace, &Options::default());
        let orders = prediction.violations.iter().map(|it| &it.0);
        let found = orders.filter(|it| uses_unset_pointer(&trace, it)).collect::<Vec<_>>();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].steps[0].event.index, 1);
    }

    #[test]
    fn a_block_is_reachable_through_the_variable_it_was_taken_from() {
        let reachable = |variable: &str| {
            let run = format!("T1 load p:8 65536\nT1 free 0x10000\nT2 load {variable}:8 0");
            let trace = text::parse(&run).unwrap();
            let freed = trace.threads[0].events[1].id;
            is_reachable(&trace, freed, 65536, &trace.threads[1].events)
        };
        assert!(reachable("p"));
        assert!(!reachable("q"));
    }
}
