//! Whether two accesses of two threads can change places.
//!
//! After Chang et al. (*Biped*, IEICE Transactions 2015). The later access is to come before the
//! earlier one, and with it all that its thread does up to there. An *interval* is what has to be
//! moved: it ends where the later thread has released the locks that stand in the way, and begins at
//! a safe place before the earlier access, where its thread has not yet taken them. It is
//! possible if nothing forces its end to come after its beginning. For a read that is to come earlier
//! that is asked backward, from the end to what must precede it; for a write, forward.
//!
//! Where we differ:
//!
//! - The paper ends the interval where the thread holds no lock at all, and thereby gives up
//!   violations in which an outer lock is held for long that nobody else wants. We look at each lock
//!   alone, and only at those that both threads take; readers do not keep each other out.
//! - The paper walks from one communication event to the next. What must come before or after an
//!   event is stored in both directions here (see [`crate::order`]), so one look is enough.

use crate::{access::Touch, lockset::LockSets, order::Order, section::Sections};

/// Which way an interval is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A read is to come before the write that it saw.
    Backward,
    /// A write is to come before a read that did not see it.
    Forward,
}

/// What has to be moved so that two accesses change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Where the thread of the earlier access has no lock in the way.
    pub(crate) first: u32,
    /// Where the thread of the later access has released them; none if it never does.
    pub(crate) last: Option<u32>,
    /// Whether nothing forbids it.
    pub(crate) possible: bool,
}

/// What forbids to change places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) sets: &'a LockSets,
    pub(crate) sections: &'a Sections,
    /// The order for plain accesses, and that for atomic ones.
    pub(crate) orders: [&'a Order; 2],
}

impl Rules<'_> {
    /// The interval of two accesses, in the order in which they were.
    pub(crate) fn interval(
        &self,
        earlier: &Touch,
        later: &Touch,
        direction: Direction,
    ) -> Interval {
        let atomic = earlier.kind.is_atomic() || later.kind.is_atomic();
        let order = self.orders[usize::from(atomic)];
        let threads = (earlier.thread, later.thread);
        let free = |first: u32, last: u32| match direction {
            Direction::Backward => order.before(threads.1, last, threads.0) <= first,
            Direction::Forward => order.after(threads.0, first, threads.1) > last,
        };
        let (first, last) = (earlier.index, later.index);
        let mut interval = Interval { first, last: Some(last), possible: free(first, last) };
        for &(lock, shared) in self.sets.locks(earlier.set) {
            let mine = self.sections.around(earlier.thread, lock, earlier.index);
            let theirs = self.sections.last(later.thread, lock, later.index, shared);
            let (Some(mine), Some(theirs)) = (mine, theirs) else { continue };
            interval.first = interval.first.min(mine.from);
            interval.last = interval.last.zip(theirs.to).map(|(last, to)| last.max(to));
            interval.possible &= theirs.to.is_some_and(|to| free(mine.from, to));
        }
        interval
    }
}
