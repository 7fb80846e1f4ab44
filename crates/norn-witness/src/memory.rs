//! What reads see: in the recorded run, and in a schedule.
//!
//! Values are compared byte by byte where they are known. Where they are not, it counts whether the
//! read sees the same write.

use norn_model::{AtomicOp, Event, EventId, Op};
use rustc_hash::FxHashMap;

/// One access, taken apart.
struct Parts {
    addr: u64,
    size: u64,
    read: Value,
    write: Value,
}

/// What is read or written.
#[derive(Clone, Copy)]
enum Value {
    Nothing,
    Unknown,
    Known(u128),
}

impl From<Option<u128>> for Value {
    fn from(value: Option<u128>) -> Self {
        value.map_or(Value::Unknown, Value::Known)
    }
}

fn parts(op: &Op) -> Option<Parts> {
    Some(match *op {
        Op::Read { addr, size, value, .. } => {
            Parts { addr, size, read: value.into(), write: Value::Nothing }
        }
        Op::Write { addr, size, value, .. } => {
            Parts { addr, size, read: Value::Nothing, write: value.into() }
        }
        Op::Atomic { addr, size, op, .. } => {
            let (read, write) = match op {
                AtomicOp::Load(value) => (Value::Known(value), Value::Nothing),
                AtomicOp::Store(value) => (Value::Nothing, Value::Known(value)),
                AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => {
                    (Value::Known(old), Value::Known(new))
                }
                AtomicOp::CasFailed { seen, .. } => (Value::Known(seen), Value::Nothing),
            };
            Parts { addr, size: size.into(), read, write }
        }
        _ => return None,
    })
}

/// Bytes that are kept together.
const GRANULE: u64 = 8;
/// Of longer accesses only the first bytes are looked at; they have no values anyway.
const LONGEST: u64 = 64;

impl Parts {
    /// The bytes, by granule: which, from which to which of its bytes, and where they are in the
    /// value.
    fn granules(&self) -> impl Iterator<Item = (u64, std::ops::Range<usize>, u64)> {
        let (from, to) = (self.addr, self.addr.saturating_add(self.size.min(LONGEST)));
        (from / GRANULE..to.div_ceil(GRANULE)).map(move |granule| {
            let start = granule * GRANULE;
            let (first, last) = (from.max(start), to.min(start + GRANULE));
            let byte = |it: u64| usize::try_from(it - start).unwrap_or(0);
            let bytes = byte(first)..byte(last);
            (granule, bytes, first - from)
        })
    }
}

/// A byte of a value.
fn byte(value: Value, at: u64) -> Option<u8> {
    let Value::Known(value) = value else { return None };
    let shift = u32::try_from(at).ok()?.checked_mul(8)?;
    value.checked_shr(shift).map(|it| it.to_le_bytes()[0])
}

/// Who wrote a byte; 0 if nobody did.
type Writer = u64;

/// Threads and indices that do not fit into the number are no smaller problem elsewhere.
fn writer(id: EventId) -> Writer {
    (u64::from(id.thread.0) << 40 | (id.index & ((1 << 40) - 1))) + 1
}

/// What eight bytes hold, as far as it is known, and who wrote them.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    values: [Option<u8>; 8],
    writers: [Writer; 8],
}

type Cells = FxHashMap<u64, Cell>;

fn write(cells: &mut Cells, first: &Cells, id: EventId, parts: &Parts) {
    for (granule, bytes, offset) in parts.granules() {
        let cell = cells.entry(granule).or_insert_with(|| fresh(first, granule));
        for (at, byte_at) in bytes.zip(offset..) {
            cell.values[at] = byte(parts.write, byte_at);
            cell.writers[at] = writer(id);
        }
    }
}

fn fresh(first: &Cells, granule: u64) -> Cell {
    first.get(&granule).copied().unwrap_or_default()
}

/// What is known of the recorded run.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// What bytes hold before anybody writes them, as far as somebody read them.
    first: Cells,
    /// While learning: what bytes hold.
    now: Cells,
    /// Whom reads saw where values do not tell, by their first such byte: a value is not known, or
    /// it is not the one that was written last, since code that we do not see has written, too.
    sources: FxHashMap<EventId, Writer>,
}

impl Recorded {
    /// Goes on by one event, in the recorded order.
    pub(crate) fn learn(&mut self, event: &Event) {
        let Some(parts) = parts(&event.op) else { return };
        if !matches!(parts.read, Value::Nothing) {
            self.read(event.id, &parts);
        }
        if !matches!(parts.write, Value::Nothing) {
            write(&mut self.now, &Cells::default(), event.id, &parts);
        }
    }

    fn read(&mut self, id: EventId, parts: &Parts) {
        for (granule, bytes, offset) in parts.granules() {
            let cell = self.now.entry(granule).or_default();
            for (at, byte_at) in bytes.zip(offset..) {
                let seen = byte(parts.read, byte_at);
                if cell.writers[at] == 0 && seen.is_some() {
                    self.first.entry(granule).or_default().values[at] = seen;
                }
                if seen.is_none() || cell.values[at] != seen {
                    self.sources.entry(id).or_insert(cell.writers[at]);
                }
            }
        }
    }

    /// Forgets what was only needed to learn.
    pub(crate) fn finish(&mut self) {
        self.now = Cells::default();
    }
}

/// Memory in the course of a schedule.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    recorded: &'a Recorded,
    now: Cells,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorded: &'a Recorded) -> Self {
        Memory { recorded, now: Cells::default() }
    }

    /// Goes on by one event; whether it reads what it read in the recorded run.
    pub(crate) fn step(&mut self, event: &Event) -> bool {
        let Some(parts) = parts(&event.op) else { return true };
        let same = matches!(parts.read, Value::Nothing) || self.sees(event.id, &parts);
        if !matches!(parts.write, Value::Nothing) {
            write(&mut self.now, &self.recorded.first, event.id, &parts);
        }
        same
    }

    fn sees(&self, id: EventId, parts: &Parts) -> bool {
        parts.granules().all(|(granule, bytes, offset)| {
            let first = || fresh(&self.recorded.first, granule);
            let cell = self.now.get(&granule).copied().unwrap_or_else(first);
            bytes.zip(offset..).all(|(at, byte_at)| {
                let wanted = byte(parts.read, byte_at);
                wanted.is_some() && cell.values[at] == wanted
                    || self.recorded.sources.get(&id) == Some(&cell.writers[at])
            })
        })
    }
}
