//! What reads see, in the recorded run and in a schedule.
//!
//! Known values are compared byte by byte. Where a value is not known, the read counts as the same
//! if it sees the same write as in the recorded run.

use norn_model::{EventId, MemoryAccess, Value};
use rustc_hash::FxHashMap;

/// Bytes that are stored together.
const GRANULE: u64 = 8;
/// Of longer accesses only the first bytes are compared: their values are not recorded anyway, and
/// one byte is enough to tell which write a read sees.
const LONGEST: u64 = 64;

/// The bytes of an access by granule: the granule, its bytes, and their offset in the value.
fn granules(access: &MemoryAccess) -> impl Iterator<Item = (u64, std::ops::Range<usize>, u64)> {
    let from = access.addr;
    let to = from.saturating_add(access.size.min(LONGEST));
    (from / GRANULE..to.div_ceil(GRANULE)).map(move |granule| {
        let start = granule * GRANULE;
        let (first, last) = (from.max(start), to.min(start + GRANULE));
        let offset = |it: u64| usize::try_from(it - start).unwrap_or(0);
        (granule, offset(first)..offset(last), first - from)
    })
}

/// A byte of a value, if it is known.
fn byte(value: Value, at: u64) -> Option<u8> {
    let shift = u32::try_from(at).ok()?.checked_mul(8)?;
    value?.checked_shr(shift).map(|it| it.to_le_bytes()[0])
}

/// The event that wrote a byte, as a number; 0 if there is none.
type WriterId = u64;

/// A trace with more events in one thread than fit in 40 bits does not fit in memory either.
fn writer_id(id: EventId) -> WriterId {
    (u64::from(id.thread.0) << 40 | (id.index & ((1 << 40) - 1))) + 1
}

/// The content of eight bytes, as far as it is known, and the writes that it is from.
#[derive(Clone, Copy, Debug, Default)]
struct Granule {
    values: [Option<u8>; 8],
    writers: [WriterId; 8],
}

type Granules = FxHashMap<u64, Granule>;

fn write(now: &mut Granules, initial: &Granules, id: EventId, access: &MemoryAccess, value: Value) {
    for (granule, bytes, offset) in granules(access) {
        let fresh = || initial.get(&granule).copied().unwrap_or_default();
        let cell = now.entry(granule).or_insert_with(fresh);
        for (at, byte_at) in bytes.zip(offset..) {
            cell.values[at] = byte(value, byte_at);
            cell.writers[at] = writer_id(id);
        }
    }
}

/// What the recorded run tells about memory.
#[derive(Debug, Default)]
pub(crate) struct RecordedMemory {
    /// The content before the first write, as far as some read saw it.
    initial: Granules,
    /// While collecting: the current content.
    now: Granules,
    /// The write that a read saw, where values do not identify it, by its first such byte: the
    /// value is not known, or it is not the one that was written last because code without
    /// instrumentation wrote, too.
    sources: FxHashMap<EventId, WriterId>,
}

impl RecordedMemory {
    /// Adds the next access of the recorded run.
    pub(crate) fn learn(&mut self, id: EventId, access: &MemoryAccess) {
        if let Some(value) = access.read {
            self.read(id, access, value);
        }
        if let Some(value) = access.write {
            write(&mut self.now, &Granules::default(), id, access, value);
        }
    }

    fn read(&mut self, id: EventId, access: &MemoryAccess, value: Value) {
        for (granule, bytes, offset) in granules(access) {
            let cell = self.now.entry(granule).or_default();
            for (at, byte_at) in bytes.zip(offset..) {
                let seen = byte(value, byte_at);
                if cell.writers[at] == 0 && seen.is_some() {
                    self.initial.entry(granule).or_default().values[at] = seen;
                }
                if seen.is_none() || cell.values[at] != seen {
                    self.sources.entry(id).or_insert(cell.writers[at]);
                }
            }
        }
    }

    /// Drops what was only needed while collecting.
    pub(crate) fn finish(&mut self) {
        self.now = Granules::default();
    }
}

/// The content of memory at a point of a schedule.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    recorded: &'a RecordedMemory,
    now: Granules,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorded: &'a RecordedMemory) -> Self {
        Memory { recorded, now: Granules::default() }
    }

    /// Performs an access; returns whether it reads the same as in the recorded run.
    pub(crate) fn step(&mut self, id: EventId, access: &MemoryAccess) -> bool {
        let same = access.read.is_none_or(|value| self.sees(id, access, value));
        if let Some(value) = access.write {
            write(&mut self.now, &self.recorded.initial, id, access, value);
        }
        same
    }

    fn sees(&self, id: EventId, access: &MemoryAccess, value: Value) -> bool {
        granules(access).all(|(granule, bytes, offset)| {
            let cell = self.now.get(&granule).or_else(|| self.recorded.initial.get(&granule));
            let cell = cell.copied().unwrap_or_default();
            bytes.zip(offset..).all(|(at, byte_at)| {
                let wanted = byte(value, byte_at);
                wanted.is_some() && cell.values[at] == wanted
                    || self.recorded.sources.get(&id) == Some(&cell.writers[at])
            })
        })
    }
}
