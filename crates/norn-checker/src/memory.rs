//! What reads see, in the recorded run and in a schedule.
//!
//! Known values are compared byte by byte. Where a value is not known, the read counts as the same
//! if it sees the same writes as in the recorded run: often several, since a program that moves a
//! struct reads at once what it has written field by field.

use std::ops::Range;

use norn_model::{EventId, MemoryAccess, Value};
use rustc_hash::FxHashMap;

use crate::source::{Origin, SourceCursor, Sources};

/// Bytes that are stored together.
const GRANULE: u64 = 8;
/// Of longer accesses only the first bytes are compared: their values are not recorded anyway, and
/// one byte is enough to tell which write a read sees.
const LONGEST: u64 = 64;

/// The granules that an access touches.
pub(crate) fn touched(access: &MemoryAccess) -> impl Iterator<Item = u64> {
    parts(access).map(|it| it.granule)
}

/// The bytes of an access in one granule.
#[derive(Clone)]
struct Part {
    granule: u64,
    /// The bytes of the granule.
    bytes: Range<usize>,
    /// The first of them in the value of the access.
    offset: u32,
}

/// The parts of an access.
fn parts(access: &MemoryAccess) -> impl Iterator<Item = Part> {
    let from = access.addr;
    let to = from.saturating_add(access.size.min(LONGEST));
    (from / GRANULE..to.div_ceil(GRANULE)).map(move |granule| {
        let start = granule * GRANULE;
        let (first, last) = (from.max(start), to.min(start + GRANULE));
        let in_granule = |it: u64| usize::try_from(it - start).unwrap_or(0);
        let offset = u32::try_from(first - from).unwrap_or(u32::MAX);
        Part { granule, bytes: in_granule(first)..in_granule(last), offset }
    })
}

impl Part {
    /// The address of a byte of the granule.
    fn address(&self, at: usize) -> u64 {
        self.granule * GRANULE + at as u64
    }

    /// The bytes of a value by their places in the granule, where each is known or not.
    fn each(&self, value: Value) -> impl Iterator<Item = (usize, Option<u8>)> + use<> {
        let byte = move |at: u32| {
            let value = value?.checked_shr(at.checked_mul(8)?)?;
            Some(value.to_le_bytes()[0])
        };
        self.bytes.clone().zip((self.offset..).map(byte))
    }

    /// The same bytes at once, if all of them are known.
    fn word(&self, value: Value) -> Option<Word> {
        let len = u32::try_from(self.bytes.len()).ok()?;
        let first = u32::try_from(self.bytes.start).ok()?;
        let is_whole = self.offset.checked_add(len)? <= u128::BITS / 8;
        let value = value.filter(|_| is_whole)? >> (8 * self.offset);
        let low = u64::try_from(value & u128::from(u64::MAX)).ok()?;
        let mask = u64::MAX.checked_shr(64 - 8 * len)? << (8 * first);
        let bytes = u8::MAX.checked_shr(8 - len)? << first;
        Some(Word { bytes, mask, value: low << (8 * first) & mask })
    }
}

/// Known bytes of a granule.
struct Word {
    /// A bit for each of the bytes.
    bytes: u8,
    /// The bits of these bytes.
    mask: u64,
    /// Their values, and 0 elsewhere.
    value: u64,
}

/// The event that wrote a byte, as a number; 0 if there is none.
pub(crate) type WriterId = u64;

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

    /// Whether all bytes of a word are known and have its values.
    fn has(&self, word: &Word) -> bool {
        self.known & word.bytes == word.bytes && self.values & word.mask == word.value
    }

    /// Sets the bytes of a part to those of a value.
    fn set(&mut self, part: &Part, value: Value) {
        if let Some(word) = part.word(value) {
            self.values = self.values & !word.mask | word.value;
            self.known |= word.bytes;
            return;
        }
        for (at, byte) in part.each(value) {
            self.set_value(at, byte);
        }
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

/// The writes that all bytes of a read come from. Those of bytes with known values count, too: which values
/// differ from those in memory is not the same while a run is collected, when later reads have not yet shown what
/// memory contained at first.
fn origin<'g>(
    access: &MemoryAccess,
    value: Value,
    content: impl Fn(u64) -> Option<&'g Granule>,
) -> Origin {
    let mut origin = Origin::default();
    for part in parts(access) {
        let cell = content(part.granule);
        for (at, _) in part.each(value) {
            origin.add(part.address(at), cell.map_or(0, |it| it.writer(at)));
        }
    }
    origin
}

fn write(now: &mut Granules, id: EventId, access: &MemoryAccess, value: Value) {
    for part in parts(access) {
        let cell = now.entry(part.granule).or_default();
        cell.set(&part, value);
        cell.set_writer(part.bytes, writer_id(id));
    }
}

/// What the recorded run tells about memory.
#[derive(Debug, Default)]
pub(crate) struct RecordedMemory {
    /// The content before the first write, as far as some read saw it.
    initial: Granules,
    /// While collecting: the current content.
    now: Granules,
    /// The writes that a read saw, where values do not identify them: the value is not known, or it
    /// is not the one that was written last because code without instrumentation wrote, too.
    sources: Sources,
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
        let mut is_identified = true;
        for part in parts(access) {
            let cell = self.now.entry(part.granule).or_default();
            if part.word(value).is_some_and(|it| cell.has(&it)) {
                continue;
            }
            for (at, seen) in part.each(value) {
                if cell.writer(at) == 0 && seen.is_some() {
                    self.initial.entry(part.granule).or_default().set_value(at, seen);
                }
                is_identified &= seen.is_some() && cell.value(at) == seen;
            }
        }
        if !is_identified {
            let origin = origin(access, value, |it| self.now.get(&it));
            self.sources.add(id, origin);
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
    sources: SourceCursor<'a>,
    /// The content at a point of another order that the schedule begins with.
    before: Option<(&'a MemoryHistory, usize)>,
    /// What was written since.
    now: Granules,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorded: &'a RecordedMemory) -> Self {
        let sources = SourceCursor::new(&recorded.sources);
        Memory { recorded, sources, before: None, now: Granules::default() }
    }

    /// The content at a point of an order.
    pub(crate) fn at(
        recorded: &'a RecordedMemory,
        history: &'a MemoryHistory,
        point: usize,
    ) -> Self {
        Memory { before: Some((history, point)), ..Memory::new(recorded) }
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
        for granule in touched(access) {
            if !self.now.contains_key(&granule) {
                let content = self.granule(granule).cloned().unwrap_or_default();
                self.now.insert(granule, content);
            }
        }
        write(&mut self.now, id, access, value);
    }

    fn sees(&mut self, id: EventId, access: &MemoryAccess, value: Value) -> bool {
        let unknown = Granule::default();
        let differs = |part: &Part| {
            let cell = self.granule(part.granule).unwrap_or(&unknown);
            !part.word(value).is_some_and(|it| cell.has(&it))
        };
        if !parts(access).any(|it| differs(&it)) {
            return true;
        }
        let origin = origin(access, value, |it| self.granule(it));
        self.sources.get(id) == Some(origin)
    }
}
