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

/// Bytes of longer accesses have no values, and only their first bytes are looked at.
const LONGEST: u64 = 64;

impl Parts {
    fn bytes(&self) -> impl Iterator<Item = u64> {
        let addr = self.addr;
        (0..self.size.min(LONGEST)).map(move |it| addr.wrapping_add(it))
    }

    fn written(&self, writer: EventId) -> impl Iterator<Item = (u64, Cell)> {
        let cell = move |at| Cell { value: byte(self.write, self.addr, at), writer: Some(writer) };
        self.bytes().map(move |at| (at, cell(at)))
    }
}

/// The byte of a value that belongs to an address.
fn byte(value: Value, addr: u64, at: u64) -> Option<u8> {
    let Value::Known(value) = value else { return None };
    let shift = u32::try_from(at.wrapping_sub(addr)).ok()?.checked_mul(8)?;
    value.checked_shr(shift).map(|it| it.to_le_bytes()[0])
}

/// What a byte holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cell {
    value: Option<u8>,
    writer: Option<EventId>,
}

const NEVER: Cell = Cell { value: None, writer: None };

/// What is known of the recorded run.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// What bytes hold before anybody writes them, as far as somebody read them.
    first: FxHashMap<u64, u8>,
    /// While learning: what bytes hold.
    now: FxHashMap<u64, Cell>,
    /// Whom reads saw of which values are not known.
    sources: FxHashMap<EventId, Option<EventId>>,
}

impl Recorded {
    /// Goes on by one event, in the recorded order.
    pub(crate) fn learn(&mut self, event: &Event) {
        let Some(parts) = parts(&event.op) else { return };
        if !matches!(parts.read, Value::Nothing) {
            self.read(event.id, &parts);
        }
        if !matches!(parts.write, Value::Nothing) {
            self.now.extend(parts.written(event.id));
        }
    }

    fn read(&mut self, id: EventId, parts: &Parts) {
        for at in parts.bytes() {
            let seen = byte(parts.read, parts.addr, at);
            let cell = self.now.entry(at).or_insert(NEVER);
            if cell.writer.is_none()
                && let Some(seen) = seen
            {
                self.first.entry(at).or_insert(seen);
            }
            if seen.is_none() || cell.value.is_none() {
                self.sources.entry(id).or_insert(cell.writer);
            }
        }
    }

    /// Forgets what was only needed to learn.
    pub(crate) fn finish(&mut self) {
        self.now = FxHashMap::default();
    }
}

/// Memory in the course of a schedule.
#[derive(Debug)]
pub(crate) struct Memory<'a> {
    recorded: &'a Recorded,
    now: FxHashMap<u64, Cell>,
}

impl<'a> Memory<'a> {
    pub(crate) fn new(recorded: &'a Recorded) -> Self {
        Memory { recorded, now: FxHashMap::default() }
    }

    /// Goes on by one event; whether it reads what it read in the recorded run.
    pub(crate) fn step(&mut self, event: &Event) -> bool {
        let Some(parts) = parts(&event.op) else { return true };
        let sees = |at| self.sees(event.id, at, byte(parts.read, parts.addr, at));
        let same = matches!(parts.read, Value::Nothing) || parts.bytes().all(sees);
        if !matches!(parts.write, Value::Nothing) {
            self.now.extend(parts.written(event.id));
        }
        same
    }

    fn sees(&self, id: EventId, at: u64, wanted: Option<u8>) -> bool {
        let first = || Cell { value: self.recorded.first.get(&at).copied(), writer: None };
        let cell = self.now.get(&at).copied().unwrap_or_else(first);
        match (cell.value, wanted) {
            (Some(value), Some(wanted)) => value == wanted,
            _ => self.recorded.sources.get(&id) == Some(&cell.writer),
        }
    }
}
