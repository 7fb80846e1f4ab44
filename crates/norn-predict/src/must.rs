//! The order that no schedule can change, for others to ask.

use norn_model::{EventId, ThreadId, Trace};

use crate::{
    order::{Meetings, Order},
    predict::outlines,
    sieve::Sieve,
};

/// Which events of a trace must come before which, whatever the schedule.
#[derive(Debug)]
pub struct MustOrder {
    threads: Vec<ThreadId>,
    order: Order,
}

impl MustOrder {
    /// Learns where the threads of a trace meet.
    pub fn new(trace: &Trace) -> MustOrder {
        let (outlines, _) = outlines(trace, &Sieve::new(trace));
        let order = Order::new(trace, &outlines, Meetings::Forced);
        MustOrder { threads: trace.threads.iter().map(|it| it.id).collect(), order }
    }

    /// Whether one event must come before another.
    pub fn is_before(&self, one: EventId, other: EventId) -> bool {
        if one.thread == other.thread {
            return one.index < other.index;
        }
        let (Some(from), Some(to)) = (self.number(one.thread), self.number(other.thread)) else {
            return false;
        };
        let index = u32::try_from(other.index).unwrap_or(u32::MAX);
        one.index < u64::from(self.order.before(to, index, from))
    }

    fn number(&self, thread: ThreadId) -> Option<u16> {
        let at = self.threads.binary_search(&thread).ok()?;
        u16::try_from(at).ok()
    }
}
