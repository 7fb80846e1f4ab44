//! How a thread moves through its functions, record by record: what the call stacks of events are
//! made of, for who wants to know more of the frames than their calls.

use norn_abi::{Kind, Record};
use norn_model::ThreadId;

use crate::{Trace, count::is_event};

/// One step of a thread's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// The thread is in so many functions: at its beginning, or where records may be missing.
    Depth(u64),
    /// A function was entered.
    Enter {
        /// Where its hook returns to, in the function.
        hook: u64,
        /// Where the function returns to, in its caller.
        from: u64,
    },
    /// The function was left.
    Leave,
    /// All functions but so many were left at once.
    Unwind(u64),
    /// An event.
    Event {
        /// Where the hook returns to.
        pc: u64,
        /// The address that the hook was given, if it was given one.
        addr: Option<u64>,
    },
}

impl Trace {
    /// Goes the way of a thread. Each step comes with the index of the event that it is or that
    /// is next.
    pub fn motions(&self, thread: ThreadId, mut visit: impl FnMut(u64, Motion)) {
        let chunks = self.thread(thread).map_or(0..0, |it| it.chunks.clone());
        for at in chunks {
            let chunk = &self.chunks[at];
            let mut index = self.index.starts[at].index;
            visit(index, Motion::Depth(u64::from(chunk.header.depth)));
            let mut decoder = self.decoder(chunk);
            while let Ok(Some(record)) = decoder.next_record() {
                let Some(motion) = motion(&record) else { continue };
                visit(index, motion);
                index += u64::from(matches!(motion, Motion::Event { .. }));
            }
        }
    }
}

fn motion(record: &Record<'_>) -> Option<Motion> {
    match *record {
        Record::Leave => Some(Motion::Leave),
        Record::Event { kind: Kind::Enter, pc, addr, .. } => {
            Some(Motion::Enter { hook: pc, from: addr })
        }
        Record::Event { kind: Kind::Unwind, addr, .. } => Some(Motion::Unwind(addr)),
        Record::Event { kind, pc, addr, .. } => is_event(kind)
            .then(|| Motion::Event { pc, addr: Some(addr).filter(|_| takes_address(kind)) }),
    }
}

/// Whether the hook of such an event has the address as its first argument.
fn takes_address(kind: Kind) -> bool {
    let atomics = [
        Kind::AtomicLoad,
        Kind::AtomicStore,
        Kind::AtomicRmw,
        Kind::AtomicCas,
        Kind::AtomicCasFailed,
    ];
    kind.as_access().is_some() || atomics.contains(&kind)
}
