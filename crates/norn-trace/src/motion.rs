//! The calls and returns of a thread, record by record, for analyses that need more of a frame than
//! its call.

use norn_abi::{Kind, Record};
use norn_model::ThreadId;

use crate::{Trace, count::is_event};

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// The current call depth: at the thread's beginning, or where records may be missing.
    Depth(u64),
    /// The thread entered a function.
    Enter {
        /// The return address of its hook, in the function.
        hook: u64,
        /// The return address of the function, in its caller.
        from: u64,
    },
    /// The thread returned from the function.
    Leave,
    /// All frames but this many were removed at once.
    Unwind(u64),
    /// An event.
    Event {
        /// The return address of the hook.
        pc: u64,
        /// The address argument of the hook, if it has one.
        addr: Option<u64>,
    },
}

impl Trace {
    /// Visits the steps of a thread. Each step comes with the index of its event, or of the next
    /// event.
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
