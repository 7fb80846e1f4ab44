//! Collects the patterns of one run from its events.
//!
//! Memory is needed for each variable, and for each pattern, but not for each access.

use std::{cmp::Ordering, collections::BTreeMap};

use norn_model::{BlockEffect, Effect, Event, EventId, MemoryAccess, Op, SiteId, granule};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    Access, AccessKind, Match, Pattern,
    variable::{Found, Variables},
};

/// Reads the events of a run.
#[derive(Debug)]
pub struct Collector {
    variables: Variables,
    patterns: FxHashMap<Pattern<SiteId>, Occurrence>,
    /// The sizes of allocated blocks, by their addresses.
    blocks: BTreeMap<u64, u64>,
    accesses: u64,
    sampled: u64,
}

/// The patterns of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Each pattern once, in the order in which they occurred first.
    pub patterns: Vec<(Pattern<SiteId>, Occurrence)>,
    /// Number of memory accesses of the run.
    pub accesses: u64,
    /// Number of accesses that are so long that only some of their bytes were looked at.
    pub sampled: u64,
}

/// The first occurrence of a pattern in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The address of the variable.
    pub addr: u64,
    /// The accesses, in order.
    pub events: SmallVec<[EventId; 3]>,
    /// The times of the accesses; see [`Access::time`].
    times: SmallVec<[u64; 3]>,
}

impl Collector {
    /// For windows with this many slots.
    pub fn new(window: usize) -> Collector {
        Collector {
            variables: Variables::new(window),
            patterns: FxHashMap::default(),
            blocks: BTreeMap::new(),
            accesses: 0,
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
            _ => {}
        }
    }

    fn access(&mut self, event: &Event, access: &MemoryAccess) {
        let kind = if access.write.is_some() { AccessKind::Write } else { AccessKind::Read };
        self.sampled += u64::from(granule::is_sampled(access.addr, access.size));
        let made = self.made(event, kind);
        self.with(|variables, found| variables.record(access.addr, access.size, made, found));
    }

    /// A block is freed: as bad for its users as a write, and the end of what other threads may
    /// expect of it. Its windows stay until the memory is allocated again, for uses after this.
    fn free(&mut self, event: &Event, block: (u64, u64)) {
        let made = self.made(event, AccessKind::Write);
        self.with(|variables, found| variables.record_known(block, made, found));
    }

    fn end(&mut self, block: (u64, u64)) {
        self.with(|variables, found| variables.end(block, found));
    }

    fn made(&mut self, event: &Event, kind: AccessKind) -> Access {
        let time = self.accesses;
        self.accesses += 1;
        Access { kind, site: event.site, event: event.id, time }
    }

    fn with(&mut self, change: impl FnOnce(&mut Variables, Found<'_>)) {
        let patterns = &mut self.patterns;
        change(&mut self.variables, &mut |addr, found| add(patterns, addr, &found));
    }

    /// The patterns of the run, which has ended.
    pub fn finish(self) -> Collected {
        let mut found = self.patterns;
        self.variables.finish(&mut |addr, it| add(&mut found, addr, &it));
        let mut patterns: Vec<_> = found.into_iter().collect();
        patterns.sort_by(|one, other| one.1.order(&other.1).then_with(|| one.0.cmp(&other.0)));
        Collected { patterns, accesses: self.accesses, sampled: self.sampled }
    }
}

/// Keeps the first occurrence of each pattern. Windows slide late, so the order of reports is not
/// the order of occurrence.
fn add(patterns: &mut FxHashMap<Pattern<SiteId>, Occurrence>, addr: u64, found: &Match) {
    let occurrence = Occurrence {
        addr,
        events: found.accesses.iter().map(|it| it.event).collect(),
        times: found.accesses.iter().map(|it| it.time).collect(),
    };
    patterns
        .entry(found.pattern())
        .and_modify(|known| {
            if occurrence.order(known) == Ordering::Less {
                *known = occurrence.clone();
            }
        })
        .or_insert(occurrence);
}

impl Occurrence {
    /// By the time at which they are complete. The other accesses and the address make the order
    /// total, so that it does not depend on the order of variables.
    fn order(&self, other: &Occurrence) -> Ordering {
        let key = |it: &Occurrence| (it.times.iter().rev().copied().collect::<Vec<_>>(), it.addr);
        key(self).cmp(&key(other))
    }
}
