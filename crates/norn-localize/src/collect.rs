//! Collects the patterns of one run from its events.
//!
//! Memory is needed for each variable, and for each pattern, but not for each access.

use std::collections::BTreeMap;

use norn_model::{
    BlockEffect, Effect, Event, EventId, MemoryAccess, Op, SiteId, ThreadEffect, granule,
};
use norn_window::{Ancestry as _, Match, Moment};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    Access, AccessKind, Pattern,
    fork_join::ForkJoin,
    variable::{Found, Variables},
};

/// Reads the events of a run.
#[derive(Debug)]
pub struct Collector {
    variables: Variables,
    patterns: FxHashMap<Pattern<SiteId>, Occurrence>,
    threads: ForkJoin,
    /// The sizes of allocated blocks, by their addresses.
    blocks: BTreeMap<u64, u64>,
    /// Number of accesses so far.
    time: u64,
    sampled: u64,
}

/// The patterns of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Each pattern once, in the order in which they occurred first.
    pub patterns: Vec<(Pattern<SiteId>, Occurrence)>,
    /// Number of accesses that are so long that only some of their bytes were looked at.
    pub sampled: u64,
}

/// The first occurrence of a pattern in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The address of the variable.
    pub addr: u64,
    /// The accesses, in order; none if they are not in a trace.
    pub events: SmallVec<[EventId; 3]>,
    /// The numbers of the threads and the places in the code of accesses that are not in a trace.
    pub observed: Vec<(u32, u64)>,
    /// Its place among other occurrences.
    moment: Moment,
}

impl Occurrence {
    /// An occurrence that is not in a trace: the variable, and the thread and the place in the code of
    /// each access.
    pub fn observed(addr: u64, accesses: impl IntoIterator<Item = (u32, u64)>) -> Occurrence {
        let observed = accesses.into_iter().collect();
        Occurrence { addr, events: SmallVec::new(), observed, moment: Moment::default() }
    }
}

impl Collector {
    /// For windows with this many slots.
    pub fn new(window: usize) -> Collector {
        Collector {
            variables: Variables::new(window),
            patterns: FxHashMap::default(),
            threads: ForkJoin::default(),
            blocks: BTreeMap::new(),
            time: 0,
            sampled: 0,
        }
    }

    /// Reads the next event of the run.
    #[inline]
    pub fn visit(&mut self, event: &Event) {
        if let Op::Begin { stack, size } = event.op {
            // The stack of a thread that has ended is used again for others.
            self.end((stack, size));
            return;
        }
        match event.op.effect() {
            Effect::Access(access) => self.access(event, &access),
            Effect::Block(BlockEffect::Allocated { addr, size }) => {
                self.blocks.insert(addr, size);
                self.end((addr, size));
            }
            Effect::Block(BlockEffect::Freed { addr }) => {
                if let Some(size) = self.blocks.remove(&addr) {
                    self.free(event, (addr, size));
                }
            }
            Effect::Thread(ThreadEffect::Fork(child)) => {
                self.threads.fork(event.id.thread, child);
            }
            Effect::Thread(ThreadEffect::Join(child)) => {
                self.threads.join(event.id.thread, child);
            }
            _ => {}
        }
    }

    fn access(&mut self, event: &Event, access: &MemoryAccess) {
        let kind = if access.write.is_some() { AccessKind::Write } else { AccessKind::Read };
        self.sampled += u64::from(granule::is_sampled(access.addr, access.size));
        let made = self.made(event, kind);
        let memory = (access.addr, access.size);
        self.with(|variables, threads, found| variables.record(memory, made, threads, found));
    }

    /// A block is freed: as bad for its users as a write, and the end of what other threads may
    /// expect of it. Its windows stay until the memory is allocated again, for uses after this.
    fn free(&mut self, event: &Event, block: (u64, u64)) {
        let made = self.made(event, AccessKind::Write);
        self.with(|variables, threads, found| variables.record_known(block, made, threads, found));
    }

    fn end(&mut self, block: (u64, u64)) {
        self.with(|variables, _, found| variables.end(block, found));
    }

    fn made(&mut self, event: &Event, kind: AccessKind) -> Access {
        self.time += 1;
        let epoch = self.threads.epoch(event.id.thread);
        Access { kind, site: event.site, event: event.id, epoch, time: self.time }
    }

    fn with(&mut self, change: impl FnOnce(&mut Variables, &ForkJoin, Found<'_>)) {
        let (patterns, threads) = (&mut self.patterns, &self.threads);
        let found: Found<'_> = &mut |addr, found| add(patterns, threads, addr, &found);
        change(&mut self.variables, threads, found);
    }

    /// The patterns of the run, which has ended.
    pub fn finish(self) -> Collected {
        let mut found = self.patterns;
        let threads = self.threads;
        self.variables.finish(&mut |addr, it| add(&mut found, &threads, addr, &it));
        let mut patterns: Vec<_> = found.into_iter().collect();
        patterns.sort_by(|one, other| (one.1.moment, &one.0).cmp(&(other.1.moment, &other.0)));
        Collected { patterns, sampled: self.sampled }
    }
}

/// Keeps the first occurrence of each pattern, unless its order is fixed. Windows slide late, so the
/// order of reports is not the order of occurrence.
fn add(
    patterns: &mut FxHashMap<Pattern<SiteId>, Occurrence>,
    threads: &ForkJoin,
    addr: u64,
    found: &Match<Access>,
) {
    if threads.is_fixed(found) {
        return;
    }
    let sites = found.accesses().iter().map(|it| it.site).collect();
    let pattern = Pattern { kind: found.kind, sites };
    let occurrence = Occurrence {
        addr,
        events: found.accesses().iter().map(|it| it.event).collect(),
        observed: Vec::new(),
        moment: found.moment(addr),
    };
    patterns
        .entry(pattern)
        .and_modify(|known| {
            if occurrence.moment < known.moment {
                *known = occurrence.clone();
            }
        })
        .or_insert(occurrence);
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    fn patterns(lines: &str) -> Vec<String> {
        let trace = text::parse(&format!("order global\n{lines}\n")).unwrap();
        let mut collector = Collector::new(5);
        for event in trace.merged() {
            collector.visit(&event);
        }
        let found = collector.finish().patterns;
        let name = |addr| trace.symbols.name(addr).unwrap().0;
        found.iter().map(|(it, first)| format!("{} {}", it.kind, name(first.addr))).collect()
    }

    #[test]
    fn what_creating_and_joining_threads_orders_is_no_pattern() {
        let lines = "T0 w x\nT0 fork T0.1\nT0.1 w x\nT0 join T0.1\nT0 r x";
        assert_eq!(patterns(lines), [""; 0]);
        // A second thread is not ordered with the first one.
        let lines = "T0 w x\nT0 fork T0.1\nT0 fork T0.2\nT0.1 w x\nT0.2 w x\nT0 join T0.1\n\
                     T0 join T0.2\nT0 r x";
        assert_eq!(patterns(lines), ["W1-W2 x"]);
        // A read between creation and join may come before the write.
        let lines = "T0 fork T0.1\nT0.1 w x\nT0 r x\nT0 join T0.1";
        assert_eq!(patterns(lines), ["W1-R2 x"]);
    }

    #[test]
    fn order_passes_through_threads_that_join_others() {
        let lines = "T0 fork T0.1\nT0.1 fork T0.1.1\nT0.1.1 w x\nT0.1 join T0.1.1\n\
                     T0 join T0.1\nT0 fork T0.2\nT0.2 r x";
        assert_eq!(patterns(lines), [""; 0]);
    }

    #[test]
    fn a_freed_block_is_written_and_an_allocated_one_is_new() {
        let lines = "T0 fork T0.1\nT0 alloc x 8\nT0.1 r x\nT0 free x\nT0.1 r x";
        assert_eq!(patterns(lines), ["R1-W2-R1 x", "W1-R2 x"]);
        let lines = "T0 fork T0.1\nT0 alloc x 8\nT0.1 r x\nT0 free x\nT0 alloc x 8\nT0 w x";
        assert_eq!(patterns(lines), ["R1-W2 x"]);
    }
}
