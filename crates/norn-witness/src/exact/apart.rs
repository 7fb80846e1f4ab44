//! Events that have to stay out of an interval between two others, from the properties of the user.

use super::{model::Node, query::Query};

/// An event that has to stay out of an interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub(crate) event: Node,
    /// The begin of the interval; none is the begin of the run.
    pub(crate) after: Option<Node>,
    pub(crate) before: Node,
}

impl<'a> Query<'a> {
    /// The same question with these events kept out of their intervals.
    pub(crate) fn without(mut self, aparts: &'a [Apart]) -> Self {
        self.aparts = aparts;
        self
    }

    /// Adds a clause for each event that is in its interval in the current order: it has to come
    /// before or after it, or not at all. Returns how many there were.
    pub(crate) fn separate(&mut self, counts: &[u32]) -> usize {
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

    /// Whether an event is in the current order. All events before the window are.
    fn is_there(&self, counts: &[u32], node: Node) -> bool {
        node < self.from || node < self.to && self.is_inside(counts, node)
    }

    fn is_between(&self, it: Apart) -> bool {
        // Events before the window come before all events in it.
        if it.event < self.from {
            return it.after.is_none();
        }
        let place = self.place(it.event);
        it.after.is_none_or(|it| self.place(it) < place) && place < self.place(it.before)
    }
}
