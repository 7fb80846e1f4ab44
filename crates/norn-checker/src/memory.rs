//! What reads see, in the recorded run and in a schedule.
//!
//! Known values are compared byte by byte. Where a value is not known, the read counts as the same
//! if it sees the same write as in the recorded run.

use std::ops::Range;

use norn_model::{EventId, MemoryAccess, Value};
use rustc_hash::FxHashMap;

/// Bytes that are stored together.
const GRANULE: u64 = 8;
/// Of longer accesses only the first bytes are compared: their values are not recorded anyway, and
/// one byte is enough to tell which write a read sees.
const LONGEST: u64 = 64;

/// The granules that an access touches.
pub(crate) fn touched(access: &MemoryAccess) -> impl Iterator<Item = u64> {
    granules(access).map(|it| it.0)
}

/// The bytes of an access by granule: the granule, its bytes, and their offset in the value.
fn granules(access: &MemoryAccess) -> impl Iterator<Item = (u64, Range<usize>, u64)> {
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

/// The content of eight bytes, as far as it is known, and the writes that it is from. Most granules
/// have one or two variables, so the writes are kept by half; this keeps the entries of maps small.
#[derive(Clone, Debug, Default)]
struct Granule {
    values: u64,
    /// A bit for each byte.
    known: u8,
    /// By half: the write of all of its bytes; by byte, if that differs within a half.
    halves: [WriterId; 2],
    bytes: Option<Box<[WriterId; 8]>>,
}

impl Granule {
    fn value(&self, at: usize) -> Option<u8> {
        (self.known >> at & 1 == 1).then(|| self.values.to_le_bytes()[at])
    }

    fn writer(&self, at: usize) -> WriterId {
        self.bytes.as_ref().map_or(self.halves[at / 4], |it| it[at])
    }

    fn set_value(&mut self, at: usize, value: Option<u8>) {
        let mut bytes = self.values.to_le_bytes();
        bytes[at] = value.unwrap_or(0);
        self.values = u64::from_le_bytes(bytes);
        self.known = self.known & !(1 << at) | u8::from(value.is_some()) << at;
    }

    fn set_writer(&mut self, bytes: Range<usize>, writer: WriterId) {
        match bytes {
            Range { start: 0, end: 8 } => (self.halves, self.bytes) = ([writer; 2], None),
            Range { start: 0, end: 4 } if self.bytes.is_none() => self.halves[0] = writer,
            Range { start: 4, end: 8 } if self.bytes.is_none() => self.halves[1] = writer,
            _ => {
                let [low, high] = self.halves;
                let each = || Box::new([low, low, low, low, high, high, high, high]);
                self.bytes.get_or_insert_with(each)[bytes].fill(writer);
            }
        }
    }
}

type Granules = FxHashMap<u64, Granule>;

fn write(now: &mut Granules, id: EventId, access: &MemoryAccess, value: Value) {
    for (granule, bytes, offset) in granules(access) {
        let cell = now.entry(granule).or_default();
        for (at, byte_at) in bytes.clone().zip(offset..) {
            cell.set_value(at, byte(value, byte_at));
        }
        cell.set_writer(bytes, writer_id(id));
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
            write(&mut self.now, id, access, value);
        }
    }

    fn read(&mut self, id: EventId, access: &MemoryAccess, value: Value) {
        for (granule, bytes, offset) in granules(access) {
            let cell = self.now.entry(granule).or_default();
            for (at, byte_at) in bytes.zip(offset..) {
                let seen = byte(value, byte_at);
                if cell.writer(at) == 0 && seen.is_some() {
                    self.initial.entry(granule).or_default().set_value(at, seen);
                }
                if seen.is_none() || cell.value(at) != seen {
                    self.sources.entry(id).or_insert(cell.writer(at));
                }
            }
        }
    }

    /// Drops what was only needed while collecting.
    pub(crate) fn finish(&mut self) {
        self.now = Granules::default();
    }
}

/// The content of memory at some points of an order, which are numbered: by granule, its content at
/// the first point after it changed.
#[derive(Debug, Default)]
pub(crate) struct MemoryHistory(FxHashMap<u64, Vec<(usize, Granule)>>);

impl MemoryHistory {
    /// The content of a granule at a point, if it was written before.
    fn at(&self, granule: u64, point: usize) -> Option<&Granule> {
        let changes = self.0.get(&granule)?;
        let before = changes.partition_point(|it| it.0 <= point);
        Some(&changes[before.checked_sub(1)?].1)
    }
}

/// The content of memory at a point of a schedule.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    recorded: &'a RecordedMemory,
    /// The content at a point of another order that the schedule begins with.
    before: Option<(&'a MemoryHistory, usize)>,
    /// What was written since.
    now: Granules,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorded: &'a RecordedMemory) -> Self {
        Memory { recorded, before: None, now: Granules::default() }
    }

    /// The content at a point of an order.
    pub(crate) fn at(
        recorded: &'a RecordedMemory,
        history: &'a MemoryHistory,
        point: usize,
    ) -> Self {
        Memory { recorded, before: Some((history, point)), now: Granules::default() }
    }

    /// Appends what was written since the last point to a history, as the content at a point.
    pub(crate) fn record(&self, written: &mut Vec<u64>, point: usize, history: &mut MemoryHistory) {
        written.sort_unstable();
        written.dedup();
        for granule in written.drain(..) {
            if let Some(content) = self.now.get(&granule) {
                history.0.entry(granule).or_default().push((point, content.clone()));
            }
        }
    }

    /// The content of a granule.
    fn granule(&self, granule: u64) -> Option<&Granule> {
        let before = || self.before.and_then(|(history, point)| history.at(granule, point));
        let initial = || self.recorded.initial.get(&granule);
        self.now.get(&granule).or_else(before).or_else(initial)
    }

    /// Performs an access; returns whether it reads the same as in the recorded run.
    pub(crate) fn step(&mut self, id: EventId, access: &MemoryAccess) -> bool {
        let same = access.read.is_none_or(|value| self.sees(id, access, value));
        if let Some(value) = access.write {
            self.write(id, access, value);
        }
        same
    }

    fn write(&mut self, id: EventId, access: &MemoryAccess, value: Value) {
        for (granule, ..) in granules(access) {
            if !self.now.contains_key(&granule) {
                let content = self.granule(granule).cloned().unwrap_or_default();
                self.now.insert(granule, content);
            }
        }
        write(&mut self.now, id, access, value);
    }

    fn sees(&self, id: EventId, access: &MemoryAccess, value: Value) -> bool {
        let unknown = Granule::default();
        granules(access).all(|(granule, bytes, offset)| {
            let cell = self.granule(granule).unwrap_or(&unknown);
            bytes.zip(offset..).all(|(at, byte_at)| {
                let wanted = byte(value, byte_at);
                wanted.is_some() && cell.value(at) == wanted
                    || self.recorded.sources.get(&id) == Some(&cell.writer(at))
            })
        })
    }
}
