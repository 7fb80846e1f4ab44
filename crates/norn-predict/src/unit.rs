//! The units of a pattern: one thread's access, or two that belong together.
//!
//! Units that differ only in thread and order form a class: the same sites, locks and bytes.
//! Between two synchronisation points of a thread the order is the same for all of its units in a
//! class, and so is the recorded order in one critical section, so the first and the last unit of
//! each such range are enough. This keeps the search linear: a loop with a million iterations in one
//! section has two instances.

use norn_model::Scope;
use rustc_hash::FxHashMap;

use crate::access::{Kind, Touch};

/// A class of equivalent units.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// The accesses of its first unit; the same one twice if there is only one.
    pub(crate) touches: [Touch; 2],
    /// The set of locks that are held all the time between the accesses.
    pub(crate) gap: u32,
    pub(crate) scope: Scope,
    /// The units, by thread.
    pub(crate) shares: Vec<Share>,
}

/// The units of one thread in a class.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) thread: u16,
    /// The indices of the accesses, in program order.
    pub(crate) members: Vec<[u32; 2]>,
    /// The ranges of the last two members.
    ranges: [Option<Range>; 2],
}

/// What all units between two synchronisation points in one critical section have in common: the epochs
/// and the sections of their accesses.
type Range = [(u32, u32); 2];

/// The common properties of the units of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ClassKey {
    granules: [u64; 2],
    sites: [u32; 2],
    sets: [u32; 2],
    masks: [u8; 2],
    kinds: [Kind; 2],
    gap: u32,
    scope: Scope,
}

/// Classes, in the order of their first units.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    pub(crate) all: Vec<Class>,
    known: FxHashMap<ClassKey, usize>,
}

impl Class {
    /// The units of each thread are adjacent.
    fn add(&mut self, touches: [Touch; 2]) {
        let thread = touches[0].thread;
        if self.shares.last().is_none_or(|it| it.thread != thread) {
            self.shares.push(Share { thread, members: Vec::new(), ranges: [None; 2] });
        }
        if let Some(share) = self.shares.last_mut() {
            share.add(touches.map(|it| it.index), touches.map(|it| (it.epoch, it.section)));
        }
    }
}

impl Share {
    fn add(&mut self, members: [u32; 2], range: Range) {
        if self.ranges == [Some(range); 2]
            && let Some(last) = self.members.last_mut()
        {
            *last = members;
            return;
        }
        self.ranges = [self.ranges[1], Some(range)];
        self.members.push(members);
    }
}

impl Classes {
    /// Adds a unit.
    pub(crate) fn add(&mut self, touches: [Touch; 2], gap: u32, scope: Scope) {
        let key = ClassKey {
            granules: touches.map(|it| it.granule),
            sites: touches.map(|it| it.site),
            sets: touches.map(|it| it.set),
            masks: touches.map(|it| it.mask),
            kinds: touches.map(|it| it.kind),
            gap,
            scope,
        };
        let next = self.all.len();
        let at = *self.known.entry(key).or_insert(next);
        if at == next {
            self.all.push(Class { touches, gap, scope, shares: Vec::new() });
        }
        self.all[at].add(touches);
    }
}
