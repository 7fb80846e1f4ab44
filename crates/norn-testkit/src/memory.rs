//! What accesses see, byte by byte: in the recorded run, and in any other order.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{AtomicOp, EventId, Op, Trace};

/// Who wrote a byte, if anybody did.
type Writer = Option<EventId>;

/// What is in a byte, if that is known, and who wrote it.
type Byte = (Option<u8>, Writer);

/// What a read needs of one byte: a value, or a writer, or both where either will do.
#[derive(Clone, Copy, Debug)]
struct Need {
    value: Option<u8>,
    writer: Option<Writer>,
}

/// What every access of a trace saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    needs: BTreeMap<(EventId, u64), Need>,
    first: BTreeMap<u64, u8>,
    /// How long blocks are.
    sizes: BTreeMap<u64, u64>,
}

/// Memory at some point of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Memory {
    bytes: BTreeMap<u64, Byte>,
    gone: BTreeSet<u64>,
}

/// A value of some bytes.
type Value = Option<u128>;

/// Where an operation reads and writes, and what: address, size, what is read, what is written.
fn access(op: &Op) -> Option<(u64, u64, Option<Value>, Option<Value>)> {
    Some(match *op {
        Op::Read { addr, size, value, .. } => (addr, size, Some(value), None),
        Op::Write { addr, size, value, .. } => (addr, size, None, Some(value)),
        Op::Atomic { addr, size, op, .. } => {
            let (read, write) = match op {
                AtomicOp::Load(value) | AtomicOp::CasFailed { seen: value, .. } => {
                    (Some(value), None)
                }
                AtomicOp::Store(value) => (None, Some(value)),
                AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => {
                    (Some(old), Some(new))
                }
            };
            (addr, size.into(), read.map(Some), write.map(Some))
        }
        _ => return None,
    })
}

fn byte(value: Value, at: u64) -> Option<u8> {
    let at = usize::try_from(at).ok()?;
    value?.to_le_bytes().get(at).copied()
}

impl Seen {
    /// Goes through the recorded order.
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut seen = Seen::default();
        let mut now: BTreeMap<u64, Byte> = BTreeMap::new();
        for event in trace.merged() {
            if let Op::Alloc { addr, size } = event.op {
                seen.sizes.insert(addr, size);
            }
            let Some((addr, size, read, write)) = access(&event.op) else { continue };
            for at in 0..size {
                let (value, writer) = now.get(&(addr + at)).copied().unwrap_or_default();
                if let Some(read) = read {
                    let wanted = byte(read, at);
                    if writer.is_none()
                        && let Some(wanted) = wanted
                    {
                        seen.first.insert(addr + at, wanted);
                    }
                    let told = wanted.is_some() && wanted == value;
                    let need = Need { value: wanted, writer: (!told).then_some(writer) };
                    seen.needs.insert((event.id, addr + at), need);
                }
                if let Some(write) = write {
                    now.insert(addr + at, (byte(write, at), Some(event.id)));
                }
            }
        }
        seen
    }
}

impl Memory {
    /// Goes on by one event; whether it sees what it saw.
    pub(crate) fn step(&mut self, seen: &Seen, id: EventId, op: &Op) -> bool {
        match *op {
            Op::Alloc { addr, size } => self.gone.retain(|it| !(addr..addr + size).contains(it)),
            Op::Free { addr } => {
                let there = !self.gone.contains(&addr);
                let size = seen.sizes.get(&addr).copied().unwrap_or(0);
                self.gone.extend(addr..addr + size);
                return there;
            }
            _ => {}
        }
        let Some((addr, size, read, write)) = access(op) else { return true };
        let mut same = !self.gone.contains(&addr);
        for at in addr..addr + size {
            let first = || (seen.first.get(&at).copied(), None);
            let (value, writer) = self.bytes.get(&at).copied().unwrap_or_else(first);
            if let Some(need) = seen.needs.get(&(id, at)).filter(|_| read.is_some()) {
                let told = need.value.is_some() && need.value == value;
                same &= told || need.writer == Some(writer);
            }
            if let Some(write) = write {
                self.bytes.insert(at, (byte(write, at - addr), Some(id)));
            }
        }
        same
    }
}
