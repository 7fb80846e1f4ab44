//! What must not come between two events.

use super::{model::Node, query::Query};

/// An event that must not come between two others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub(crate) event: Node,
    /// None is the beginning of the run.
    pub(crate) after: Option<Node>,
    pub(crate) before: Node,
}

impl<'a> Query<'a> {
    /// The same question, and none of these comes in between.
    pub(crate) fn without(mut self, aparts: &'a [Apart]) -> Self {
        self.aparts = aparts;
        self
    }

    /// Says of what comes in between in the current order that it must not; how often it did. It may
    /// come before, or after, or not at all.
    pub(crate) fn part(&mut self, counts: &[u32]) -> usize {
        let aparts = self.aparts;
        self.effort.spend(aparts.len() as u64 / 16);
        let mut broken = 0;
        for it in aparts {
            if self.is_there(counts, it.event) && self.is_between(*it) {
                broken += 1;
                let early = it.after.map(|after| self.precedes(it.event, after));
                let late = self.precedes(it.before, it.event);
                let parts: Vec<_> = early.into_iter().chain([late]).collect();
                self.clause(&parts);
            }
        }
        broken
    }

    /// Whether an event is in the current order. All before the window is.
    fn is_there(&self, counts: &[u32], node: Node) -> bool {
        node < self.from || node < self.to && self.is_inside(counts, node)
    }

    fn is_between(&self, it: Apart) -> bool {
        // What is before the window comes before all that is in it, as the others are.
        if it.event < self.from {
            return it.after.is_none();
        }
        let place = self.place(it.event);
        it.after.is_none_or(|it| self.place(it) < place) && place < self.place(it.before)
    }
}
