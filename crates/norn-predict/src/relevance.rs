//! Decides which events of a long run prediction needs, so that only these are loaded.
//!
//! Prediction, schedules and checks need everything that is not a plain access, the *skeleton* of
//! the run, and those plain accesses that another order of threads can affect: accesses to memory
//! that threads access [concurrently](crate::concurrent_filter), and accesses to blocks that another
//! thread may free first. Everything else a thread reads and writes as before in any order of the
//! same events. An atomic set is lost where synchronisation orders all accesses to one of its
//! variables. Of memory whose words all have the same [history](crate::granule_history), two words are
//! enough.
//!
//! Like prediction itself this takes two passes over the accesses: [`Relevance::step`] must have
//! seen all of them, and [`Relevance::finish`] must have been called, before [`Relevance::is_relevant`]
//! decides.

use norn_model::{Event, Op, Trace};

use crate::{
    access::accessed,
    concurrent_filter::ConcurrentFilter,
    facts::outlines,
    freed::Freed,
    life::blocks,
    order::{Order, SyncEdges},
    outline::narrow,
    shared_filter::{SharedFilter, granules},
    timestamp::Timestamps,
};

/// Decides which accesses are relevant.
#[derive(Debug)]
pub struct Relevance<'a> {
    concurrent: ConcurrentFilter,
    freed: Freed<'static>,
    order: Order,
    timestamps: Timestamps<'a>,
}

impl<'a> Relevance<'a> {
    /// Whether an event is part of the skeleton: every event but a plain access.
    pub fn is_skeleton(event: &Event) -> bool {
        !matches!(event.op, Op::Read { .. } | Op::Write { .. })
    }

    /// For a run with this skeleton and this many events.
    pub fn new(skeleton: &'a Trace, events: u64) -> Relevance<'a> {
        let (outlines, _) = outlines(skeleton, &SharedFilter::new(0));
        Relevance {
            concurrent: ConcurrentFilter::new(events),
            freed: Freed::new(blocks(skeleton, &outlines)),
            order: Order::new(skeleton, &outlines, SyncEdges::Forced),
            timestamps: Timestamps::new(skeleton),
        }
    }

    /// Notes an event, in recorded order. Its thread is numbered from 0 and has executed `passed`
    /// events of the skeleton before.
    #[inline]
    pub fn step(&mut self, thread: usize, passed: usize, event: &Event) {
        if let Some(thread) = number(thread) {
            self.concurrent.step(&self.order, thread, narrow(passed), event);
        }
    }

    /// Ends the first pass.
    pub fn finish(&mut self) {
        self.concurrent.mark_repeated();
    }

    /// Whether a plain access is relevant. `passed` gives the number of events of the skeleton that its
    /// thread has executed before it.
    #[inline]
    pub fn is_relevant(&self, thread: usize, event: &Event, passed: impl FnOnce() -> u64) -> bool {
        let Some((addr, size, _)) = accessed(&event.op) else { return true };
        let Some(thread) = number(thread) else { return false };
        if granules(addr, size).all(|it| self.concurrent.is_repeated(it)) {
            return false;
        }
        granules(addr, size).any(|it| self.concurrent.is_concurrent(it))
            || self.freed.concerns(thread, addr)
                && self.may_be_freed(thread, passed(), addr, event.seq)
    }

    /// Whether another thread frees the accessed block, and nothing orders that after the access.
    fn may_be_freed(&self, thread: u16, passed: u64, addr: u64, seq: Option<u64>) -> bool {
        let next = u32::try_from(passed).unwrap_or(u32::MAX);
        let after = next.checked_sub(1).map_or(0, |it| self.timestamps.earliest(thread, it));
        let bounds =
            seq.map_or_else(|| (after, self.timestamps.latest(thread, next)), |it| (it, it));
        let Some(block) = self.freed.block(thread, addr, bounds) else { return false };
        let others = self.freed.freed_by(block).filter(|it| it.0 != thread);
        // If the thread's next event of the skeleton comes before the free, so does the access.
        others.into_iter().any(|(other, index)| next >= self.order.before(other, index, thread))
    }
}

/// The number of a thread whose accesses are analysed.
#[inline]
fn number(thread: usize) -> Option<u16> {
    u16::try_from(thread).ok().filter(|it| *it < u16::MAX)
}
