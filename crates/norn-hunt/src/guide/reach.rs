//! Continues from code that a run has reached for the first time.
//!
//! Such code is where a bug hides that needs more than one reordering: the first one led there, and the
//! next one must happen there. The moments at which its thread can be disturbed come first. What other
//! threads did before it only matters as far as the thread has seen it, so the rest may be reordered, too.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{Effect, EventId, SiteId, Thread, ThreadId, Trace};

use super::search::{self, Moment};

/// Maximum number of moments of one run.
const MOST: usize = 1;

/// The most promising moments of a run after code at the sites in `reached`, of each mode one. Of each
/// thread, the events before the index in `from` led there. The run has `depth` disturbances.
pub(super) fn moments(
    trace: &Trace,
    (from, depth): (&BTreeMap<ThreadId, u64>, usize),
    reached: &BTreeSet<SiteId>,
) -> Vec<Moment> {
    let mut found = Vec::new();
    for (victim, first) in first_reached(trace, reached) {
        let needed = needed(trace, from, EventId { thread: victim, index: first });
        let moments = search::moments(trace, &needed, depth);
        found.extend(moments.into_iter().filter(|it| {
            let read = it.disturbance.read;
            read.thread == victim && read.index >= first
        }));
    }
    found.sort_by_key(|it| !reached.contains(&it.sites[0]));
    let mut modes = BTreeSet::new();
    found.retain(|it| modes.insert(it.disturbance.mode.number()));
    found.truncate(MOST);
    found
}

/// For each thread, the index of its first event at one of these sites.
fn first_reached(trace: &Trace, sites: &BTreeSet<SiteId>) -> BTreeMap<ThreadId, u64> {
    let first = |it: &Thread| {
        let event = it.events.iter().find(|it| sites.contains(&it.site))?;
        Some((it.id, event.id.index))
    };
    trace.threads.iter().filter_map(first).collect()
}

/// For each thread, the number of events that are needed to reach an event: those of other threads only
/// up to the last write that the thread of the event has read.
fn needed(
    trace: &Trace,
    from: &BTreeMap<ThreadId, u64>,
    reached: EventId,
) -> BTreeMap<ThreadId, u64> {
    let mut written: BTreeMap<u64, EventId> = BTreeMap::new();
    let mut needed: BTreeMap<ThreadId, u64> = BTreeMap::new();
    for event in trace.merged() {
        if event.id == reached {
            break;
        }
        let Effect::Access(access) = event.op.effect() else { continue };
        if access.read.is_some()
            && event.id.thread == reached.thread
            && let Some(write) = written.get(&access.addr)
        {
            let until = needed.entry(write.thread).or_default();
            *until = (*until).max(write.index + 1);
        }
        if access.write.is_some() {
            written.insert(access.addr, event.id);
        }
    }
    let least = |(thread, until): (&ThreadId, &u64)| {
        let needed = needed.get(thread).copied().unwrap_or(0);
        (*thread, if *thread == reached.thread { *until } else { needed.min(*until) })
    };
    from.iter().map(least).collect()
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// T2 sees the first write of T1, and reads `y` then, which T1 has written meanwhile.
    const RUN: &str = "
        order global
        T1 w x 1 @ a
        T1 w y 1 @ b
        T1 w z 1 @ c
        T2 r x 1 @ d
        T2 r y 1 @ e
        T2 w v 1 @ f
        T2 w v 2 @ g
        T2 w v 3 @ g
    ";

    fn site(trace: &Trace, place: &str) -> SiteId {
        let is = |it: SiteId| trace.site(it).and_then(|it| it.place.as_deref()) == Some(place);
        trace.merged().map(|it| it.site).find(|it| is(*it)).unwrap()
    }

    #[test]
    fn only_what_a_thread_has_seen_is_needed() {
        let trace = text::parse(RUN).unwrap();
        let [one, two] = [0, 1].map(|it| trace.threads[it].id);
        let from = BTreeMap::from([(one, 3), (two, 1)]);
        let needed = needed(&trace, &from, EventId { thread: two, index: 1 });
        assert_eq!(needed, BTreeMap::from([(one, 1), (two, 1)]));
    }

    #[test]
    fn reads_in_new_code_are_disturbed_even_by_earlier_writes() {
        let trace = text::parse(RUN).unwrap();
        let [one, two] = [0, 1].map(|it| trace.threads[it].id);
        let from = BTreeMap::from([(one, 3), (two, 1)]);
        let reached = BTreeSet::from([site(&trace, "e")]);
        assert!(search::moments(&trace, &from, 1).is_empty());
        let found = moments(&trace, (&from, 1), &reached);
        assert!(found.iter().all(|it| it.disturbance.read == EventId { thread: two, index: 1 }));
        assert_eq!(found.len(), 1);
        assert!(moments(&trace, (&from, 1), &BTreeSet::new()).is_empty());
    }
}
