//! The critical section around an event: a thread that is held inside of it keeps others from their
//! accesses.

use norn_model::{EventId, LockEffect};
use norn_trace::Trace;

/// The critical section around an event. Without locks it is the event alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The first event: the request for the outermost lock.
    pub(crate) begin: EventId,
    /// The index after the event that released the last lock.
    pub(crate) end: u64,
}

impl Section {
    /// The section around an event of a run.
    pub(crate) fn around(trace: &Trace, id: EventId) -> Section {
        let alone = Section { begin: id, end: id.index + 1 };
        let (mut held, mut begin) = (0_u32, id.index);
        for event in trace.events(id.thread) {
            let index = event.id.index;
            match event.op.effect().lock() {
                Some(LockEffect::Acquire { .. }) => {
                    if held == 0 && index <= id.index {
                        begin = index;
                    }
                    held += 1;
                }
                Some(LockEffect::Release { .. }) => held = held.saturating_sub(1),
                Some(LockEffect::Failed { .. }) | None => {}
            }
            if held == 0 && index <= id.index {
                begin = id.index;
            }
            if held == 0 && index >= id.index {
                return Section { begin: EventId { index: begin, ..id }, end: index + 1 };
            }
        }
        alone
    }
}
