//! Accesses to shared memory, 40 bytes each: the second pass over the events.

use norn_model::{Access, MemoryAccess, Op, Thread, granule::mask};

use crate::{
    freed::Freed,
    life::Times,
    outline::{Change, Outline, narrow},
    pattern::Action,
    shared_filter::{GRANULE, SharedFilter, granules, is_sampled},
};

/// One access to one granule of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    /// The granule of eight bytes.
    pub(crate) granule: u64,
    /// The index of the event in the thread.
    pub(crate) index: u32,
    pub(crate) site: u32,
    /// The number of the set of held locks.
    pub(crate) set: u32,
    /// The number of the outermost critical section, or of the gap between two of them.
    pub(crate) section: u32,
    /// The number of the thread, from 0.
    pub(crate) thread: u16,
    /// The accessed bytes of the granule, as bits.
    pub(crate) mask: u8,
    pub(crate) kind: Kind,
    /// The call stack.
    pub(crate) stack: u32,
    /// Number of synchronisation points of the thread before the access.
    pub(crate) epoch: u32,
}

/// The kind of an access, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kind(u8);

impl Kind {
    const READ: u8 = 1;
    const WRITE: u8 = 2;
    const ATOMIC: u8 = 4;
    const FREE: u8 = 8;
    const SYNC: u8 = 16;

    /// Frees the memory.
    pub(crate) fn free() -> Kind {
        Kind(Kind::FREE)
    }

    pub(crate) fn is_atomic(self) -> bool {
        self.0 & Kind::ATOMIC != 0
    }

    /// Whether it matches an action of a pattern.
    pub(crate) fn is(self, action: Action) -> bool {
        let bits = match action {
            Action::Read => Kind::READ,
            Action::Write => Kind::WRITE,
            Action::Use => Kind::READ | Kind::WRITE | Kind::SYNC,
            Action::Free => Kind::FREE,
        };
        self.0 & bits != 0
    }

    /// Its kind of access in a match of this action.
    pub(crate) fn access(self, action: Action) -> Access {
        match action {
            Action::Write => Access::Write,
            Action::Use if self.is(Action::Write) => Access::Write,
            Action::Use if self.0 & Kind::SYNC != 0 => Access::Use,
            Action::Read | Action::Use => Access::Read,
            Action::Free => Access::Free,
        }
    }
}

impl Touch {
    /// Whether two accesses have bytes in common.
    pub(crate) fn overlaps(&self, other: &Touch) -> bool {
        self.granule == other.granule && self.mask & other.mask != 0
    }

    /// The first byte that it has in common with another access.
    pub(crate) fn addr(&self, other: &Touch) -> u64 {
        self.granule * GRANULE + u64::from((self.mask & other.mask).trailing_zeros() % 8)
    }
}

/// The memory that an event accesses, and how.
#[inline]
pub(crate) fn accessed(op: &Op) -> Option<(u64, u64, Kind)> {
    let MemoryAccess { addr, size, read, write, atomic } = op.access()?;
    let bit = |set: bool, bit: u8| if set { bit } else { 0 };
    let reads = bit(read.is_some(), Kind::READ) | bit(write.is_some(), Kind::WRITE);
    Some((addr, size, Kind(reads | bit(atomic, Kind::ATOMIC))))
}

/// The synchronisation object that an event uses, as an access to its first byte.
pub(crate) fn used(op: &Op) -> Option<(u64, u64, Kind)> {
    op.effect().used_object().map(|it| (it, 1, Kind(Kind::SYNC)))
}

/// A thread's accesses to shared memory, in program order.
#[derive(Debug, Default)]
pub(crate) struct Touches {
    /// By granule.
    pub(crate) shared: Vec<Touch>,
    /// Those to blocks that other threads free, by block.
    pub(crate) uses: Vec<Touch>,
    /// Number of accesses that are so long that only some of their granules are here.
    pub(crate) sampled: u64,
}

impl Touches {
    /// Scans a thread.
    pub(crate) fn new(
        number: u16,
        thread: &Thread,
        outline: &Outline,
        filter: &SharedFilter,
        freed: &Freed<'_>,
    ) -> Touches {
        let mut touches = Touches::default();
        let mut place = Place::new(outline);
        let mut times = Times::new(&thread.events);
        for (index, event) in thread.events.iter().enumerate() {
            let access = accessed(&event.op);
            let is_access = access.is_some();
            let object = || used(&event.op).filter(|_| !freed.is_empty());
            let Some((addr, size, kind)) = access.or_else(object) else { continue };
            let mut touch = |granule, mask| {
                let (index, site, stack) = (narrow(index), event.site.0, event.stack.0);
                let (Change { set, section, .. }, epoch) = place.at(index);
                let thread = number;
                Touch { granule, index, site, set, section, thread, mask, kind, stack, epoch }
            };
            if is_access {
                touches.sampled += u64::from(is_sampled(addr, size));
                for granule in granules(addr, size).filter(|it| filter.is_shared(*it)) {
                    touches.shared.push(touch(granule, mask(granule, addr, size)));
                }
            }
            if freed.concerns(number, addr)
                && let Some(block) = freed.block(number, addr, times.at(index))
            {
                touches.uses.push(touch(block, u8::MAX));
            }
        }
        touches
    }
}

/// Tracks the held locks and the synchronisation points of a thread.
struct Place<'a> {
    now: Change,
    later: &'a [Change],
    epoch: u32,
    sync_points: &'a [u32],
}

impl<'a> Place<'a> {
    fn new(outline: &'a Outline) -> Self {
        let now = Change { from: 0, set: 0, section: 0 };
        Place { now, later: &outline.changes, epoch: 0, sync_points: &outline.sync_points }
    }

    #[inline]
    fn at(&mut self, index: u32) -> (Change, u32) {
        while let Some((next, later)) = self.later.split_first()
            && next.from <= index
        {
            (self.now, self.later) = (*next, later);
        }
        while let Some((next, later)) = self.sync_points.split_first()
            && *next <= index
        {
            (self.epoch, self.sync_points) = (self.epoch + 1, later);
        }
        (self.now, self.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touches_are_small() {
        assert!(size_of::<Touch>() <= 40);
    }
}
