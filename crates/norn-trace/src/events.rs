//! The events of a chunk.
//!
//! A chunk is decoded record by record. Most records are one event each; calls and returns change
//! the call stack, and some events need the record that follows them. A record of a turn has a
//! sequence number; it orders the thread's next event, if that has no number of its own.
#![expect(clippy::inline_always, reason = "a tenth of the speed for every function that is not")]

use norn_abi::{
    AccessClass, Decoder, Kind, Record,
    atomic::{AtomicRequest, WIDEST},
};
use norn_model::{Event, EventId, Held, LockMode, Op, SiteId, ThreadId, Value, WokenBy};

use crate::{
    Site, Trace,
    calls::Calls,
    channel::Transfer,
    copy,
    count::is_event,
    op::{self, Parts},
    site::Slots,
};

/// The events of one chunk.
pub struct ChunkEvents<'a> {
    trace: &'a Trace,
    /// The index of the chunk in the trace.
    at: usize,
    thread: ThreadId,
    index: u64,
    decoder: Decoder<'a>,
    /// A record that was decoded ahead.
    next: Option<Record<'a>>,
    /// The sequence number of the last turn, if the thread had no event since.
    turn: Option<u64>,
    slots: Slots,
    calls: Calls,
    held: Held,
    content: &'a [u8],
}

/// The operation of an event, and the content of its block.
type Meaning<'a> = (Op, &'a [u8]);

impl<'a> ChunkEvents<'a> {
    pub(crate) fn new(trace: &'a Trace, at: usize) -> Self {
        let (chunk, start) = (&trace.chunks[at], &trace.index.starts[at]);
        let frames = &trace.bytes[chunk.frames.clone()];
        let mut decoder = trace.decoder(chunk);
        // The next event takes its number from the turn, so it must not take the path for plain
        // records.
        let next = start.turn.and_then(|_| decoder.next_record().ok().flatten());
        ChunkEvents {
            trace,
            at,
            thread: chunk.thread(),
            index: start.index,
            decoder,
            next,
            turn: start.turn,
            slots: Slots::new(),
            calls: Calls::start(&mut &trace.index.stacks, frames, chunk.header.depth),
            held: start.held.clone(),
            content: &[],
        }
    }

    /// The thread of the events.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The bytes that the last event read or wrote, if it accessed a block whose content was
    /// recorded.
    pub fn content(&self) -> &'a [u8] {
        self.content
    }

    /// The next record, which may be in the thread's next chunk.
    fn peek(&mut self) -> Option<Record<'a>> {
        while self.next.is_none() {
            match self.decoder.next_record().ok()? {
                Some(Record::Event { kind: Kind::Turn, seq, .. }) => self.turn = seq,
                Some(Record::Event { kind: Kind::Expired, .. }) => {}
                Some(record) => self.next = Some(record),
                None => return self.peek_far(),
            }
        }
        self.next
    }

    /// The first record of the thread's next chunk.
    #[cold]
    fn peek_far(&self) -> Option<Record<'a>> {
        let mut decoder = self.trace.decoder(self.trace.following(self.at)?);
        loop {
            let record = decoder.next_record().ok()??;
            if !matches!(record, Record::Event { kind: Kind::Turn | Kind::Expired, .. }) {
                return Some(record);
            }
        }
    }

    #[inline(always)]
    fn site(&mut self, slot: u16, site: Site) -> SiteId {
        self.slots.id(&self.trace.index.sites, slot, site)
    }

    /// The operation of any record but an access of up to 8 bytes, if it is an event.
    fn other(&mut self, record: &Record<'a>) -> Option<Meaning<'a>> {
        let Record::Event { kind, addr, value, args, content, .. } = *record else { return None };
        let len = value.unwrap_or(0);
        let mut parts = Parts { kind, addr, len, args, content, high: [0; 2] };
        match kind {
            Kind::Unwind => {
                self.calls.unwind(&mut &self.trace.index.stacks, addr);
                return None;
            }
            Kind::Call => {
                let function = self.trace.index.name(addr);
                let arguments = self.arguments(args);
                return Some((Op::Call { function, arguments }, content));
            }
            Kind::Return => {
                let function = self.trace.index.name(addr);
                let value = (args[1] != 0).then_some(args[0]);
                return Some((Op::Return { function, value }, content));
            }
            Kind::Mark => {
                let name = self.trace.index.name(args[0]);
                return Some((Op::Mark { name, object: addr }, content));
            }
            Kind::RangeWrite if content.is_empty() => {
                let next = self.peek();
                parts.content = next.and_then(|it| copy::completes(len, &it)).unwrap_or(&[]);
            }
            Kind::AtomicLoad
            | Kind::AtomicStore
            | Kind::AtomicRmw
            | Kind::AtomicCas
            | Kind::AtomicCasFailed
                if AtomicRequest::unpack(args[0]).log2_size == WIDEST =>
            {
                parts.high = self.high_halves();
            }
            _ => {}
        }
        let op = self.complete(op::op(&parts)?);
        Some((op, parts.content))
    }

    /// The high halves of the values of a 16-byte atomic operation, which are in a separate record.
    fn high_halves(&mut self) -> [u64; 2] {
        match self.peek() {
            Some(Record::Event { kind: Kind::HighHalves, args: [before, after, _], .. }) => {
                [before, after]
            }
            _ => [0; 2],
        }
    }

    /// The arguments of a call; the last three are in a separate record.
    fn arguments(&mut self, [first, second, third]: [u64; 3]) -> [u64; 6] {
        let [fourth, fifth, sixth] = match self.peek() {
            Some(Record::Event { kind: Kind::CallRest, args, .. }) => args,
            _ => [0; 3],
        };
        [first, second, third, fourth, fifth, sixth]
    }

    /// Completes an operation with information from earlier events.
    fn complete(&mut self, mut op: Op) -> Op {
        match &mut op {
            Op::Acquire { lock, mode: mode @ (LockMode::Read | LockMode::Write), .. } => {
                self.held.acquire(*lock, *mode);
            }
            // The runtime records `Write` for the release of every read-write lock.
            Op::Release { lock, mode: mode @ (LockMode::Read | LockMode::Write) } => {
                if let Some((held, _)) = self.held.release(*lock) {
                    *mode = held;
                }
            }
            Op::WaitAcquire { woken, .. } => *woken = self.woken(),
            Op::Send { channel, from, to }
            | Op::Receive { channel, from, to, .. }
            | Op::Ready { channel, from, to } => {
                let transfer = self.transfer();
                (*channel, *from, *to) = (transfer.channel, transfer.from, transfer.to);
            }
            _ => {}
        }
        op
    }

    fn woken(&self) -> WokenBy {
        let id = EventId { thread: self.thread, index: self.index };
        let woken = &self.trace.index.woken;
        let found = woken.binary_search_by_key(&id, |it| it.0).ok();
        found.map_or(WokenBy::Nothing, |at| woken[at].1)
    }

    fn transfer(&self) -> Transfer {
        let id = EventId { thread: self.thread, index: self.index };
        let transfers = &self.trace.index.transfers;
        let found = transfers.binary_search_by_key(&id, |it| it.0).ok();
        found.map_or_else(Transfer::default, |at| transfers[at].1)
    }

    /// The value of a write that is a copy, if it is one.
    #[cold]
    fn copied(&mut self, site: SiteId) -> Value {
        let Some(Record::Event { kind, pc, value, content, .. }) = self.peek() else {
            return None;
        };
        let read = self.trace.index.sites.find(Site { pc, kind })?;
        let value = value.map(u128::from).or_else(|| op::value(content, 16));
        value.filter(|_| self.trace.copies.is(site, read))
    }

    /// The next event. Plain records, the common case, are handled here.
    #[inline(always)]
    fn advance(&mut self) -> Option<Event> {
        let stacks = &mut &self.trace.index.stacks;
        while self.next.is_none()
            && let Some(record) = self.decoder.next_plain()
        {
            match record {
                Record::Leave => self.calls.leave(stacks),
                Record::Event { kind: Kind::Enter, addr, .. } => self.calls.enter(stacks, addr),
                Record::Event { kind, pc, slot, addr, seq, value, .. } => {
                    return Some(self.access(Site { pc, kind }, slot, addr, seq, value));
                }
            }
        }
        self.any()
    }

    /// The next event, in the general case.
    #[inline(never)]
    fn any(&mut self) -> Option<Event> {
        let stacks = &mut &self.trace.index.stacks;
        loop {
            let record = match self.next.take() {
                Some(record) => record,
                None => self.decoder.next_record().ok().flatten()?,
            };
            match record {
                Record::Leave => self.calls.leave(stacks),
                Record::Event { kind: Kind::Enter, addr, .. } => self.calls.enter(stacks, addr),
                Record::Event { kind: Kind::Turn, seq, .. } => self.turn = seq,
                Record::Event { kind, pc, slot, addr, seq, value, .. } if is_word(kind) => {
                    let seq = seq.or(self.turn.take());
                    return Some(self.access(Site { pc, kind }, slot, addr, seq, value));
                }
                Record::Event { kind, pc, slot, seq, .. } => {
                    let seq = if is_event(kind) { seq.or(self.turn.take()) } else { seq };
                    if let Some((op, content)) = self.other(&record) {
                        let site = self.site(slot, Site { pc, kind });
                        self.content = content;
                        return Some(self.event(op, site, seq));
                    }
                }
            }
        }
    }

    /// An access of up to 8 bytes.
    #[inline(always)]
    fn access(
        &mut self,
        site: Site,
        slot: u16,
        addr: u64,
        seq: Option<u64>,
        value: Option<u64>,
    ) -> Event {
        let code = site.kind.code();
        let (write, volatile) = (code & 8 != 0, code >> 4 == AccessClass::Volatile as u16);
        let site = self.site(slot, site);
        let op = op::access(write, addr, 1 << (code & 3), value.map(u128::from), volatile);
        self.content = &[];
        self.event(op, site, seq)
    }

    #[inline(always)]
    fn event(&mut self, mut op: Op, site: SiteId, seq: Option<u64>) -> Event {
        if let Op::Write { value, .. } = &mut op
            && self.trace.copies.may_be(site)
        {
            *value = self.copied(site).or(*value);
        }
        let id = EventId { thread: self.thread, index: self.index };
        self.index += 1;
        Event { id, op, site, stack: self.calls.stack, seq }
    }
}

/// Whether the kind is an access of up to 8 bytes.
fn is_word(kind: Kind) -> bool {
    kind.as_access().is_some_and(|(.., size)| size <= 8)
}

impl Iterator for ChunkEvents<'_> {
    type Item = Event;

    #[inline]
    fn next(&mut self) -> Option<Event> {
        self.advance()
    }

    /// Faster than iterating event by event.
    #[inline]
    fn fold<B, F: FnMut(B, Event) -> B>(mut self, init: B, mut f: F) -> B {
        let mut all = init;
        while let Some(event) = self.advance() {
            all = f(all, event);
        }
        all
    }
}

impl Drop for ChunkEvents<'_> {
    fn drop(&mut self) {
        self.trace.bytes.give_back(self.trace.chunks[self.at].range());
    }
}

impl std::fmt::Debug for ChunkEvents<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ChunkEvents { thread, index, .. } = self;
        f.debug_struct("ChunkEvents")
            .field("thread", thread)
            .field("index", index)
            .finish_non_exhaustive()
    }
}
