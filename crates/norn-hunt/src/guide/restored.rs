//! Moments at which a variable gets its old value back while a thread relies on it (the ABA problem).
//!
//! A thread reads a variable, then others that depend on it, and compares the first one with what it has
//! read, mostly by a compare-exchange. If another thread has restored the old value in the meantime, the
//! comparison succeeds although the rest has changed. A single write of the other thread would be noticed,
//! and so would be all of its writes: it must stop exactly where the value is the old one.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{AtomicOp, Effect, EventId, Op, ThreadId};

use super::{
    disturbance::{Disturbance, Mode},
    search::{Moment, Search},
    timeline::SharedAccess,
};

impl Search<'_> {
    /// Each place at which a thread reads the variable counts once.
    pub(super) fn add_restored(&self, accesses: &[SharedAccess], moments: &mut Vec<Moment>) {
        let mut seen = BTreeSet::new();
        for (at, read) in accesses.iter().enumerate() {
            let victim = read.event.thread;
            let again = |it: &&SharedAccess| it.reads && it.event.thread == victim;
            let Some(check) = accesses[at + 1..].iter().find(again).map(|it| it.event) else {
                continue;
            };
            let is_open = read.reads && self.is_open(read.event);
            if is_open
                && self.reads_between(read.event, check)
                && seen.insert((victim, self.site(read.event), self.site(check)))
            {
                let restorations = self.restorations(accesses, victim).into_iter();
                moments
                    .extend(restorations.filter_map(|it| self.restored([read.event, check], it)));
            }
        }
    }

    /// Whether a thread reads another shared variable between two of its events.
    fn reads_between(&self, first: EventId, last: EventId) -> bool {
        let ids = (first.index + 1..last.index).map(|index| EventId { index, ..first });
        let mut events = ids.filter_map(|it| self.trace.event(it));
        events.any(|it| match it.op.effect() {
            Effect::Access(access) => {
                access.read.is_some() && self.timeline.shared.contains_key(&access.addr)
            }
            _ => false,
        })
    }

    /// For each other thread, the first of its writes after which it restores the value that the variable
    /// had before, and the write that does so.
    fn restorations(&self, accesses: &[SharedAccess], victim: ThreadId) -> Vec<[EventId; 2]> {
        let mut writes: BTreeMap<ThreadId, Vec<(EventId, u128, u128)>> = BTreeMap::new();
        let mut value = None;
        for it in accesses {
            let effect = self.trace.event(it.event).map(|it| it.op.effect());
            let Some(Effect::Access(access)) = effect else { continue };
            let before = access.read.flatten().or(value);
            value = access.write.map_or(before, |it| it);
            if let (true, Some(before), Some(after)) = (it.writes, before, value)
                && it.event.thread != victim
                && self.is_open(it.event)
            {
                writes.entry(it.event.thread).or_default().push((it.event, before, after));
            }
        }
        let restores = |writes: &Vec<(EventId, u128, u128)>| {
            let pair = |(at, first): (usize, &(EventId, u128, u128))| {
                let last = writes[at + 1..].iter().find(|it| it.2 == first.1)?;
                (first.1 != first.2).then_some([first.0, last.0])
            };
            writes.iter().enumerate().find_map(pair)
        };
        writes.values().filter_map(restores).collect()
    }

    /// The victim stops before it compares, and the writer after it has restored the value.
    fn restored(&self, [read, check]: [EventId; 2], [first, last]: [EventId; 2]) -> Option<Moment> {
        let seen = EventId { index: check.index - 1, ..read };
        // Within a critical section the victim would block the writer.
        if self.timeline.section(seen) != (seen.index, seen.index) {
            return None;
        }
        let (turns, waits) = self.turns(read, seen, first)?;
        let written = EventId { index: self.timeline.section(last).1, ..last };
        let (mode, elsewhere, depth) = (Mode::Once, Vec::new(), self.depth);
        let disturbance = Disturbance { turns, read, seen, written, mode, elsewhere, depth };
        let rank = u32::from(!self.compares(check)) + 2 * u32::from(waits);
        Some(Moment {
            disturbance,
            sites: self.sites(read, EventId { index: self.timeline.section(read).1, ..read }, last),
            rank,
        })
    }

    /// Whether an event is a compare-exchange.
    fn compares(&self, event: EventId) -> bool {
        let op = self.trace.event(event).map(|it| it.op);
        matches!(op, Some(Op::Atomic { op: AtomicOp::Cas { .. } | AtomicOp::CasFailed { .. }, .. }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use norn_model::text;

    use super::super::search::moments;
    use super::*;

    /// The indices of the last events of victim and writer in the disturbances by T1 that come first.
    fn found(run: &str) -> Vec<(u64, u64)> {
        let trace = text::parse(&format!("order global\n{run}")).unwrap();
        let moments = moments(&trace, &BTreeMap::new(), 0);
        let first = moments.iter().filter(|it| it.rank == 0 && it.disturbance.mode == Mode::Once);
        first.map(|it| (it.disturbance.seen.index, it.disturbance.written.index)).collect()
    }

    const WRITER: &str = "T1 cas top 1 2 @ w\nT1 cas top 2 3 @ w\nT1 store next 3\nT1 cas top 3 1 @ v\nT1 store top 9\n";

    #[test]
    fn the_writer_stops_where_the_value_is_the_old_one() {
        let run =
            format!("{WRITER}T2 load top 9\nT2 load next 3\nT2 cas top 9 3\nT2 yield\nT2 end");
        assert_eq!(found(&run), [(1, 3)]);
    }

    #[test]
    fn a_thread_that_reads_nothing_else_relies_on_nothing() {
        let run =
            format!("{WRITER}T2 load top 9\nT2 cas top 9 3\nT2 load next 3\nT2 yield\nT2 end");
        assert!(found(&run).is_empty());
    }
}
