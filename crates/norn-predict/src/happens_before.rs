//! The happens-before relation that no schedule can change, for other crates.

use norn_model::{EventId, ThreadId, Trace};

use crate::{
    facts::outlines,
    order::{Order, SyncEdges},
    shared_filter::SharedFilter,
};

/// The order of events that holds in every schedule.
#[derive(Debug)]
pub struct HappensBefore {
    threads: Vec<ThreadId>,
    order: Order,
}

impl HappensBefore {
    /// Builds the order from the synchronisation of a trace.
    pub fn new(trace: &Trace) -> HappensBefore {
        let (outlines, _) = outlines(trace, &SharedFilter::new(0));
        let order = Order::new(trace, &outlines, SyncEdges::Forced);
        HappensBefore { threads: trace.threads.iter().map(|it| it.id).collect(), order }
    }

    /// Whether one event comes before another in every schedule.
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
