//! The values that accesses see, byte by byte, in the recorded run and in any other order.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    BlockEffect, Effect, EventId, MemoryAccess, Object, ObjectEffect, Op, Trace, Value,
};

/// The event that wrote a byte; none if no event did.
type Writer = Option<EventId>;

/// The content of a byte, if it is known, and the event that wrote it.
type Byte = (Option<u8>, Writer);

/// What a read requires of one byte to see the same as recorded: a value, a writer, or either.
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
    /// By address: the size of the block.
    sizes: BTreeMap<u64, u64>,
    /// By use of a descriptor: the event that closed it last.
    closed: BTreeMap<EventId, Option<EventId>>,
}

/// The content of memory at some point of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Memory {
    bytes: BTreeMap<u64, Byte>,
    freed: BTreeSet<u64>,
    /// By descriptor: the event that closed it last.
    closes: BTreeMap<u64, EventId>,
}

fn byte(value: Value, at: u64) -> Option<u8> {
    let at = usize::try_from(at).ok()?;
    value?.to_le_bytes().get(at).copied()
}

impl Seen {
    /// Scans the recorded order.
    pub(crate) fn new(trace: &Trace) -> Self {
        let mut seen = Seen::default();
        let mut now: BTreeMap<u64, Byte> = BTreeMap::new();
        let mut closes: BTreeMap<u64, EventId> = BTreeMap::new();
        for event in trace.merged() {
            if let Op::Destroy { object, class: Object::Descriptor } = event.op {
                closes.insert(object, event.id);
            }
            if let Op::Use { object, .. } = event.op {
                seen.closed.insert(event.id, closes.get(&object).copied());
            }
            if let Effect::Block(BlockEffect::Allocated { addr, size }) = event.op.effect() {
                seen.sizes.insert(addr, size);
            }
            let Some(access) = event.op.access() else { continue };
            let MemoryAccess { addr, size, read, write, .. } = access;
            for at in 0..size {
                let (value, writer) = now.get(&(addr + at)).copied().unwrap_or_default();
                if let Some(read) = read {
                    let wanted = byte(read, at);
                    if writer.is_none()
                        && let Some(wanted) = wanted
                    {
                        seen.first.insert(addr + at, wanted);
                    }
                    let known = wanted.is_some() && wanted == value;
                    let need = Need { value: wanted, writer: (!known).then_some(writer) };
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
    /// Performs an event; returns whether it sees the same as in the recorded run.
    pub(crate) fn step(&mut self, seen: &Seen, id: EventId, op: &Op) -> bool {
        let gone = op.effect().used_object().is_some_and(|it| self.freed.contains(&it));
        match op.effect() {
            Effect::Access(access) => self.access(seen, id, &access),
            Effect::Block(BlockEffect::Allocated { addr, size }) => {
                self.freed.retain(|it| !(addr..addr + size).contains(it));
                true
            }
            Effect::Block(BlockEffect::Freed { addr }) => {
                let valid = !self.freed.contains(&addr);
                let size = seen.sizes.get(&addr).copied().unwrap_or(0);
                self.freed.extend(addr..addr + size);
                valid
            }
            Effect::Object(ObjectEffect::Destroy { object, class: Object::Descriptor }) => {
                self.closes.insert(object, id);
                true
            }
            Effect::Object(ObjectEffect::Use { object, .. }) => {
                seen.closed.get(&id) == Some(&self.closes.get(&object).copied())
            }
            Effect::None
            | Effect::Thread(_)
            | Effect::Lock(_)
            | Effect::Condition(_)
            | Effect::Barrier(_)
            | Effect::Semaphore(_)
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(_)
            | Effect::Object(ObjectEffect::Init { .. } | ObjectEffect::Destroy { .. }) => !gone,
        }
    }

    fn access(&mut self, seen: &Seen, id: EventId, access: &MemoryAccess) -> bool {
        let MemoryAccess { addr, size, read, write, .. } = *access;
        let mut same = !self.freed.contains(&addr);
        for at in addr..addr + size {
            let first = || (seen.first.get(&at).copied(), None);
            let (value, writer) = self.bytes.get(&at).copied().unwrap_or_else(first);
            if let Some(need) = seen.needs.get(&(id, at)).filter(|_| read.is_some()) {
                let known = need.value.is_some() && need.value == value;
                same &= known || need.writer == Some(writer);
            }
            if let Some(write) = write {
                self.bytes.insert(at, (byte(write, at - addr), Some(id)));
            }
        }
        same
    }
}
