//! Decides whether a read can see another write than it did, by the conditions of Zhang et al. (`ConSeq`:
//! *detecting concurrency bugs through sequential errors*, ASPLOS 2011, Algorithm 1).
//!
//! A read `r` that saw `w` can see `w'` unless
//!
//! 1. `r` happens before `w'`;
//! 2. `w'` happens before `w`, and `w` before `r`;
//! 3. `w` precedes `r` in a critical section that excludes `w'`;
//! 4. `w'` precedes `w` in a critical section that excludes `r`.
//!
//! Where we differ: the paper asks this about the one write that was seen. Any other write of the same bytes
//! overwrites `w'` as well, so the conditions 2 to 4 are asked about the writes next to `r` and `w'` in
//! their threads. Locks order nothing, as in the paper; a [spin flag](crate::spin_order) does.

use crate::{access::Touch, interval::Rules, pattern::Action, spin_order::SpinOrder};

/// The rules by which writes reach reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visibility<'a> {
    pub(crate) rules: Rules<'a>,
    pub(crate) spins: &'a SpinOrder,
}

impl Visibility<'_> {
    /// Whether an access comes before another one in every schedule.
    pub(crate) fn happens_before(&self, first: &Touch, second: &Touch) -> bool {
        let atomic = first.kind.is_atomic() || second.kind.is_atomic();
        let order = self.rules.orders[usize::from(atomic)];
        let [first, second] = [first, second].map(|it| (it.thread, it.index));
        self.spins.happens_before(order, first, second)
    }

    /// Whether a read that saw one write, if any, can see another one. `touches` are all accesses to the
    /// variable, by thread in program order.
    pub(crate) fn can_see(
        &self,
        touches: &[Touch],
        read: &Touch,
        seen: Option<&Touch>,
        other: &Touch,
    ) -> bool {
        if self.happens_before(read, other) {
            return false;
        }
        let overwritten = |by: &Touch| {
            self.happens_before(other, by)
                && self.happens_before(by, read)
                && covers(by, read, other)
        };
        let own = neighbour(touches, read, |it| it.index < read.index && covers(it, read, other));
        let next =
            neighbour(touches, other, |it| it.index > other.index && covers(it, read, other));
        let excluded = own.is_some_and(|own| {
            other.thread != read.thread && self.in_section_without(own, read, other)
        });
        let hidden = next.is_some_and(|next| {
            other.thread != read.thread && self.in_section_without(other, next, read)
        });
        !excluded && !hidden && !seen.into_iter().chain(own).chain(next).any(overwritten)
    }

    /// Whether two accesses of a thread are in one critical section that excludes a third access.
    fn in_section_without(&self, first: &Touch, second: &Touch, third: &Touch) -> bool {
        let Rules { sets, sections, .. } = self.rules;
        let (from, to) = (first.index.min(second.index), first.index.max(second.index));
        sets.locks(second.set).iter().any(|&(lock, shared)| {
            let hold = sections.around(second.thread, lock, to);
            let together = hold.is_some_and(|it| it.from <= from);
            let theirs = sets.locks(third.set).iter().find(|it| it.0 == lock);
            together && theirs.is_some_and(|it| !(shared && it.1))
        })
    }
}

/// Whether a write overwrites all that a read would see of another write.
fn covers(by: &Touch, read: &Touch, other: &Touch) -> bool {
    read.mask & other.mask & !by.mask == 0
}

/// The write of a thread that is the nearest to one of its accesses among those that are asked for.
fn neighbour<'a>(
    touches: &'a [Touch],
    to: &Touch,
    is_wanted: impl Fn(&Touch) -> bool,
) -> Option<&'a Touch> {
    let from = touches.partition_point(|it| it.thread < to.thread);
    let upto = touches.partition_point(|it| it.thread <= to.thread);
    let writes = touches[from..upto].iter().filter(|it| it.kind.is(Action::Write));
    writes.filter(|it| is_wanted(it)).min_by_key(|it| it.index.abs_diff(to.index))
}

#[cfg(test)]
#[path = "visibility_tests.rs"]
mod tests;
