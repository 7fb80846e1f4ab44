//! The values that the accesses to a variable read and wrote, as far as known.

use norn_model::{MemoryAccess, Op, Trace};

use crate::{access::Touch, shared_filter::GRANULE};

/// By access: the values that it read and wrote.
#[derive(Debug)]
pub(crate) struct Contents(Vec<Content>);

#[derive(Clone, Copy, Debug, Default)]
struct Content {
    read: Bytes,
    written: Bytes,
}

/// Some bytes of a granule, the first one lowest.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    values: u64,
    /// The bits that are known.
    known: u64,
}

impl Contents {
    pub(crate) fn new(trace: &Trace, touches: &[Touch]) -> Contents {
        let content = |it: &Touch| {
            let event = &trace.threads[usize::from(it.thread)].events[it.index as usize];
            Content::new(&event.op, it)
        };
        Contents(touches.iter().map(content).collect())
    }

    /// Whether a read can have seen a write: the known common bytes are equal.
    pub(crate) fn fits(&self, write: u32, read: u32) -> bool {
        self.0[read as usize].read.differs(self.0[write as usize].written) != Some(true)
    }

    /// Whether a write certainly has the value that another access read.
    pub(crate) fn is_same(&self, write: u32, read: u32) -> bool {
        self.0[read as usize].read.differs(self.0[write as usize].written) == Some(false)
    }

    /// Whether two reads saw the same value, as far as known.
    pub(crate) fn saw_same(&self, one: u32, other: u32) -> bool {
        self.0[one as usize].read.differs(self.0[other as usize].read) != Some(true)
    }
}

impl Content {
    fn new(op: &Op, touch: &Touch) -> Content {
        let Some(MemoryAccess { addr, read, write, .. }) = op.access() else {
            return Content::default();
        };
        let bytes = |value: Option<u128>| Bytes::new(value, addr, touch);
        Content { read: bytes(read.flatten()), written: bytes(write.flatten()) }
    }
}

impl Bytes {
    /// The part of a value at an address that lies in an access to a granule.
    fn new(value: Option<u128>, addr: u64, touch: &Touch) -> Bytes {
        const BYTE: u64 = 8;
        let start = touch.granule * GRANULE;
        let bits = |bytes: u64| u32::try_from(bytes.saturating_mul(BYTE)).unwrap_or(u32::MAX);
        let behind = value.and_then(|it| it.checked_shr(bits(start.saturating_sub(addr))));
        let here = behind.and_then(|it| it.checked_shl(bits(addr.saturating_sub(start))));
        let low = |it: u128| u64::try_from(it & u128::from(u64::MAX)).unwrap_or(0);
        here.map_or_else(Bytes::default, |it| Bytes { values: low(it), known: spread(touch.mask) })
    }

    /// Whether common bytes differ; `None` if no byte is known in both.
    fn differs(self, other: Bytes) -> Option<bool> {
        let common = self.known & other.known;
        (common != 0).then_some((self.values ^ other.values) & common != 0)
    }
}

/// Expands each bit to a byte of ones.
fn spread(mask: u8) -> u64 {
    (0..u8::BITS).map(|bit| (u64::from(mask >> bit & 1) * 0xff) << (8 * bit)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_where_they_belong() {
        assert_eq!(spread(0b1000_0001), 0xff00_0000_0000_00ff);
        assert_eq!(spread(0xff), u64::MAX);
        assert_eq!(spread(0b0110_0000), 0x00ff_ff00_0000_0000);
    }

    #[test]
    fn common_bytes_are_compared() {
        let trace = norn_model::text::parse(
            "T1 w 0x104:8 0x8877665544332211\nT2 r 0x108 0x88776655\nT2 r 0x10a:2 7\nT2 r 0x10c:2 7",
        );
        let trace = trace.unwrap_or_default();
        let touch = |thread: u16, index: u32, mask: u8| Touch {
            granule: 0x108 / GRANULE,
            index,
            site: 0,
            set: 0,
            section: 0,
            thread,
            mask,
            kind: crate::access::Kind::free(),
            stack: 0,
            epoch: 0,
        };
        let touches = [touch(0, 0, 0x0f), touch(1, 0, 0x0f), touch(1, 1, 0x0c), touch(1, 2, 0x30)];
        let contents = Contents::new(&trace, &touches);
        assert!(contents.is_same(0, 1) && contents.fits(0, 1));
        assert!(!contents.is_same(0, 2) && !contents.fits(0, 2));
        assert!(!contents.is_same(0, 3) && contents.fits(0, 3));
        assert!(!contents.saw_same(1, 2));
    }
}
