//! What the accesses to a variable read and wrote, as far as it is known.

use norn_model::{AtomicOp, Op, Trace};

use crate::{access::Touch, sieve::GRANULE};

/// What the accesses to a variable read and wrote, by their numbers.
#[derive(Debug)]
pub(crate) struct Contents(Vec<Content>);

#[derive(Clone, Copy, Debug, Default)]
struct Content {
    read: Bytes,
    written: Bytes,
}

/// Some of the bytes of a granule.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    values: [u8; 8],
    /// Which of them are known, as bits.
    known: u8,
}

impl Contents {
    pub(crate) fn new(trace: &Trace, touches: &[Touch]) -> Contents {
        let content = |it: &Touch| {
            let event = &trace.threads[usize::from(it.thread)].events[it.index as usize];
            Content::new(&event.op, it.granule * GRANULE)
        };
        Contents(touches.iter().map(content).collect())
    }

    /// Whether a read can have seen a write: what is known of their common bytes is the same.
    pub(crate) fn fits(&self, write: u32, read: u32) -> bool {
        self.0[read as usize].read.differs(self.0[write as usize].written) != Some(true)
    }

    /// Whether a write has the value that another access read, for certain.
    pub(crate) fn is_same(&self, write: u32, read: u32) -> bool {
        self.0[read as usize].read.differs(self.0[write as usize].written) == Some(false)
    }

    /// Whether two reads saw the same, as far as is known.
    pub(crate) fn saw_same(&self, one: u32, other: u32) -> bool {
        self.0[one as usize].read.differs(self.0[other as usize].read) != Some(true)
    }
}

impl Content {
    fn new(op: &Op, start: u64) -> Content {
        let (at, read, written) = match *op {
            Op::Read { addr, size, value, .. } => ((addr, size), value, None),
            Op::Write { addr, size, value, .. } => ((addr, size), None, value),
            Op::Atomic { addr, size, op, .. } => {
                let (read, written) = match op {
                    AtomicOp::Load(it) | AtomicOp::CasFailed { seen: it, .. } => (Some(it), None),
                    AtomicOp::Store(it) => (None, Some(it)),
                    AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => {
                        (Some(old), Some(new))
                    }
                };
                ((addr, size.into()), read, written)
            }
            _ => return Content::default(),
        };
        let bytes = |value: Option<u128>| value.map(|it| Bytes::new(it, at, start));
        Content {
            read: bytes(read).unwrap_or_default(),
            written: bytes(written).unwrap_or_default(),
        }
    }
}

impl Bytes {
    /// The part of a value that is in the granule that starts here.
    fn new(value: u128, (addr, size): (u64, u64), start: u64) -> Bytes {
        let mut bytes = Bytes::default();
        for (at, byte) in bytes.values.iter_mut().enumerate() {
            let offset = (start + at as u64).checked_sub(addr).filter(|it| *it < size);
            let offset = offset.and_then(|it| usize::try_from(it).ok());
            if let Some(value) = offset.and_then(|it| value.to_le_bytes().get(it).copied()) {
                *byte = value;
                bytes.known |= 1 << at;
            }
        }
        bytes
    }

    /// Whether common bytes differ; nothing if none is known of both.
    fn differs(self, other: Bytes) -> Option<bool> {
        let common = self.known & other.known;
        let pairs = self.values.iter().zip(other.values).enumerate();
        let mut pairs = pairs.filter(|(at, _)| common >> at & 1 != 0);
        (common != 0).then(|| pairs.any(|(_, (one, other))| *one != other))
    }
}
