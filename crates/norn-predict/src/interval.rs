//! Decides whether two accesses of two threads can be reordered.
//!
//! After Chang et al. (*Biped*, IEICE Transactions 2015). The later access is to come before the
//! earlier one, together with everything its thread does up to there. An *interval* is the part
//! that has to be moved: it ends where the later thread has released the conflicting locks, and
//! begins at a safe place before the earlier access, where its thread has not yet acquired them. It
//! is possible if its end does not depend on its beginning. For a read that is to come earlier this
//! is checked backward, from the end to what must precede it; for a write, forward.
//!
//! Where we differ:
//!
//! - The paper ends the interval where the thread holds no lock at all, and thereby misses
//!   violations under an outer lock that no other thread uses. We consider each lock separately,
//!   and only those that both threads acquire; readers do not exclude each other.
//! - The paper walks from one communication event to the next. We store the order in both
//!   directions (see [`crate::order`]), so one lookup is enough.

use crate::{access::Touch, lockset::LockSets, order::Order, section::Sections};

/// The direction of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// A read is to come before the write that it saw.
    Backward,
    /// A write is to come before a read that did not see it.
    Forward,
}

/// The events that have to be moved to reorder two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    /// The earlier access, or the earliest acquisition of a conflicting lock around it.
    pub(crate) first: u32,
    /// The later access, or the last release of a conflicting lock; `None` if it is never released.
    pub(crate) last: Option<u32>,
    /// Whether the reordering is possible.
    pub(crate) possible: bool,
}

/// The rules that exclude a reordering.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    pub(crate) sets: &'a LockSets,
    pub(crate) sections: &'a Sections,
    /// The order for plain accesses, and that for atomic ones.
    pub(crate) orders: [&'a Order; 2],
}

impl Rules<'_> {
    /// The interval of two accesses, in the recorded order.
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
