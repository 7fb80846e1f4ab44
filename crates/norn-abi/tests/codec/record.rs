//! Records a thread as the runtime does, and remembers the expected result of decoding.

use norn_abi::{
    Decoder, Fault, Kind, Record, Shape,
    codec::{CONTENT, Format, SLACK, TEXT, key},
    lane::{Content, Lane},
};

use crate::{
    hook::{access, any_access},
    step::{MEMORY, Step},
};

/// A record that owns its content.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    Leave,
    Event {
        kind: Kind,
        pc: u64,
        addr: u64,
        seq: Option<u64>,
        value: Option<u64>,
        args: [u64; 3],
        content: Vec<u8>,
    },
}

/// The records of one chunk and the fields of its header.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    pub(crate) last_seq: u64,
}

impl Chunk {
    /// All records up to the end or the first fault.
    pub(crate) fn read(&self, format: Format, cut: usize) -> (Vec<Seen>, Option<Fault>) {
        let bytes = &self.bytes[..cut.min(self.bytes.len())];
        let mut decoder = Decoder::new(bytes, format, self.last_seq);
        let mut seen = Vec::new();
        loop {
            match decoder.next_record() {
                Ok(Some(record)) => seen.push(owned(record)),
                Ok(None) => return (seen, None),
                Err(fault) => return (seen, Some(fault)),
            }
        }
    }
}

fn owned(record: Record<'_>) -> Seen {
    match record {
        Record::Leave => Seen::Leave,
        Record::Event { kind, pc, addr, seq, value, args, content, .. } => {
            Seen::Event { kind, pc, addr, seq, value, args, content: content.to_owned() }
        }
    }
}

/// The part of the last event that is still to be read back.
#[derive(Clone, Copy)]
enum Pending {
    Nothing,
    Value { offset: usize, size: usize },
    Block { offset: usize, len: usize },
}

/// Aligned so that offsets tell which addresses have the same cell.
#[repr(C, align(32768))]
struct Pages([u8; MEMORY]);

/// A recorded thread.
pub(crate) struct Thread {
    format: Format,
    lane: *mut Lane,
    memory: *mut Pages,
    room: Vec<u8>,
    seq: u64,
    chunk_seq: u64,
    pending: Pending,
    expected: Vec<Seen>,
    chunks: Vec<(Chunk, Vec<Seen>)>,
}

impl Thread {
    /// Starts with chunks of `room` bytes for records.
    pub(crate) fn new(format: Format, room: usize) -> Thread {
        let lane = Box::into_raw(Box::<Lane>::new_zeroed()).cast::<Lane>();
        let mut thread = Thread {
            format,
            lane,
            memory: Box::into_raw(Box::new(Pages([0; MEMORY]))),
            room: vec![0; room + SLACK],
            seq: 1,
            chunk_seq: 0,
            pending: Pending::Nothing,
            expected: Vec::new(),
            chunks: Vec::new(),
        };
        thread.start();
        thread
    }

    /// Executes all steps; returns the chunks with their expected records.
    pub(crate) fn run(mut self, steps: &[Step], settled: bool) -> Vec<(Chunk, Vec<Seen>)> {
        for step in steps {
            self.step(step);
        }
        if settled {
            self.settle();
        }
        self.close();
        std::mem::take(&mut self.chunks)
    }

    fn start(&mut self) {
        let range = self.room.as_mut_ptr_range();
        self.chunk_seq = self.seq;
        // SAFETY: lane and room are ours, and the room is longer than the slack.
        unsafe { Lane::start(self.lane, range.start, range.end, self.seq) };
    }

    fn close(&mut self) {
        // SAFETY: `cur` points into the room.
        let len = unsafe { (*self.lane).cur.offset_from(self.room.as_ptr()) };
        let bytes = self.room[..usize::try_from(len).unwrap()].to_owned();
        let chunk = Chunk { bytes, last_seq: self.chunk_seq };
        self.chunks.push((chunk, std::mem::take(&mut self.expected)));
    }

    /// Does the same as the runtime's `make_room`.
    fn make_room(&mut self) -> &mut Lane {
        self.settle();
        // SAFETY: the lane is ours.
        unsafe {
            if (*self.lane).full() {
                self.close();
                self.start();
            }
            &mut *self.lane
        }
    }

    /// The first action of hooks; blocks are settled in their cold path.
    fn settle_value(&mut self) {
        // SAFETY: as for `settle`.
        unsafe { (*self.lane).settle() };
        self.read_value_back();
    }

    fn read_value_back(&mut self) {
        if matches!(self.pending, Pending::Value { .. }) {
            self.read_back();
        }
    }

    fn settle(&mut self) {
        // SAFETY: what is pending lies in the memory.
        unsafe { (*self.lane).settle_any() };
        self.read_back();
    }

    /// Completes the last expected record with the current content of the memory.
    fn read_back(&mut self) {
        let (offset, len) = match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => return,
            Pending::Value { offset, size } => (offset, size),
            Pending::Block { offset, len } => (offset, len),
        };
        let bytes = self.bytes(offset, len);
        let is_value = matches!(self.expected.last(), Some(Seen::Event { kind, .. }) if matches!(kind.shape(), Shape::Access(_)));
        let Some(Seen::Event { value, content, .. }) = self.expected.last_mut() else { return };
        if is_value {
            let mut word = [0; 8];
            word[..len].copy_from_slice(&bytes);
            *value = Some(u64::from_le_bytes(word));
        } else {
            *content = bytes;
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Access { kind, pc, offset, value, meddled } => {
                self.access(kind, pc, offset, value, meddled);
            }
            Step::Wide { kind, pc, offset, value } => self.wide(kind, pc, offset, value),
            Step::Range { kind, pc, offset, len, fill, content } => {
                self.range(kind, pc, (offset, len), fill, content);
            }
            Step::Enter { call, pc } => self.enter(call, pc),
            Step::Leave => {
                // SAFETY: there is room.
                unsafe { self.make_room().leave() };
                self.expected.push(Seen::Leave);
            }
            Step::Sync { kind, pc, addr, args } => self.sync(kind, pc, addr, args),
            Step::Text { addr, arg, ref text } => self.text(addr, arg, text),
            Step::Forget => {
                self.pending = Pending::Nothing;
                // SAFETY: the lane is ours.
                unsafe { (*self.lane).forget() };
            }
        }
    }

    fn access(&mut self, kind: Kind, pc: usize, offset: usize, value: u64, meddled: Option<u64>) {
        let addr = self.memory as usize + offset;
        let (_, write, size) = kind.as_access().expect("an access");
        let size = usize::from(size);
        let values = self.format.values;
        let mut seq = None;
        // The hook settles the previous write by itself.
        self.read_value_back();
        // SAFETY: the address lies in the memory; the lane is ours.
        let quick =
            !self.format.global && unsafe { access(&mut *self.lane, kind, values, addr, pc) };
        if !quick {
            self.make_room();
            seq = self.access_seq();
            // SAFETY: as above, and there is room.
            unsafe { any_access(&mut *self.lane, kind, values, (addr, pc, seq)) };
        }
        let read = (!write && self.format.values).then(|| {
            let mut word = [0; 8];
            word[..size].copy_from_slice(&self.bytes(offset, size));
            u64::from_le_bytes(word)
        });
        self.expect(kind, pc, addr, seq, read, [0; 3], &[]);
        if write {
            self.store(offset, &value.to_le_bytes()[..size]);
            self.pending = Pending::Value { offset, size };
            if let Some(meddled) = meddled {
                self.store(offset, &meddled.to_le_bytes()[..size]);
            }
            if !self.format.values {
                self.pending = Pending::Nothing;
            }
        }
    }

    fn wide(&mut self, kind: Kind, pc: usize, offset: usize, value: u128) {
        let (_, write, _) = kind.as_access().expect("an access");
        let content = match (self.format.values, write) {
            (false, _) => Content::None,
            (true, false) => Content::Now,
            (true, true) => Content::Later,
        };
        let addr = self.memory as usize + offset;
        let seq = self.access_seq();
        // SAFETY: the address lies in the memory, and there is room.
        unsafe { self.make_room().wide(kind, pc, addr, seq, content) };
        let read = if content == Content::Now { self.bytes(offset, 16) } else { Vec::new() };
        self.expect(kind, pc, addr, seq, None, [0; 3], &read);
        if write {
            self.store(offset, &value.to_le_bytes());
        }
        if content == Content::Later {
            self.pending = Pending::Block { offset, len: 16 };
        }
    }

    fn range(&mut self, kind: Kind, pc: usize, block: (usize, usize), fill: u8, content: Content) {
        let (offset, len) = block;
        let content = if self.format.values { content } else { Content::None };
        let addr = self.memory as usize + offset;
        self.read_value_back();
        let mut seq = None;
        // SAFETY: the block lies in the memory; the lane is ours, and after `make_room` there is room.
        unsafe {
            let lane = &mut *self.lane;
            if self.format.global || !lane.quick_range(kind, pc, addr, len, content) {
                self.make_room();
                seq = self.access_seq();
                (*self.lane).range(kind, pc, addr, len, seq, content);
            }
        }
        let kept = if len <= CONTENT { len } else { 0 };
        let now = if content == Content::Now { self.bytes(offset, kept) } else { Vec::new() };
        self.expect(kind, pc, addr, seq, Some(len as u64), [0; 3], &now);
        if content == Content::Later {
            self.store(offset, &vec![fill; len]);
            if kept > 0 {
                self.pending = Pending::Block { offset, len };
            }
        }
    }

    fn enter(&mut self, call: usize, pc: usize) {
        self.settle_value();
        // SAFETY: the lane is ours.
        while !unsafe { (*self.lane).enter(call, pc) } {
            // SAFETY: there is room.
            unsafe { self.make_room().define(key(pc, Kind::Enter)) };
        }
        self.expect(Kind::Enter, pc, call, None, None, [0; 3], &[]);
    }

    fn sync(&mut self, kind: Kind, pc: usize, addr: usize, args: [u64; 3]) {
        let Shape::Sync(count) = kind.shape() else { panic!("{kind:?} has no arguments") };
        let count = usize::from(count);
        let seq = self.next_seq();
        self.settle_value();
        // SAFETY: the lane is ours; after `make_room` there is room.
        unsafe {
            if !(*self.lane).quick_sync(kind, pc, addr, seq, &args[..count]) {
                self.make_room().sync(kind, pc, addr, seq, &args[..count]);
            }
        }
        let mut expected = [0; 3];
        expected[..count].copy_from_slice(&args[..count]);
        self.expect(kind, pc, addr, Some(seq), None, expected, &[]);
    }

    fn text(&mut self, addr: usize, arg: u64, text: &[u8]) {
        let seq = self.next_seq();
        // SAFETY: there is room.
        unsafe { self.make_room().text(Kind::Module, addr, seq, arg, text) };
        self.expect(
            Kind::Module,
            0,
            addr,
            Some(seq),
            None,
            [arg, 0, 0],
            &text[..text.len().min(TEXT)],
        );
    }

    #[expect(clippy::too_many_arguments, reason = "a record has that many fields")]
    fn expect(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        seq: Option<u64>,
        value: Option<u64>,
        args: [u64; 3],
        content: &[u8],
    ) {
        let (pc, addr, content) = (pc as u64, addr as u64, content.to_owned());
        self.expected.push(Seen::Event { kind, pc, addr, seq, value, args, content });
    }

    /// Other threads take sequence numbers in between, sometimes many.
    fn next_seq(&mut self) -> u64 {
        self.seq += if self.seq.is_multiple_of(7) { 300 } else { 1 };
        self.seq
    }

    fn access_seq(&mut self) -> Option<u64> {
        self.format.global.then(|| self.next_seq())
    }

    fn bytes(&self, offset: usize, len: usize) -> Vec<u8> {
        // SAFETY: the bytes lie in the memory, to which there is no other reference now.
        unsafe { (&(*self.memory).0)[offset..offset + len].to_owned() }
    }

    fn store(&mut self, offset: usize, bytes: &[u8]) {
        // SAFETY: as above.
        unsafe { (&mut (*self.memory).0)[offset..offset + bytes.len()].copy_from_slice(bytes) };
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: both were boxed in `new`; zero is a valid value for each field of a lane.
        unsafe {
            drop(Box::from_raw(self.lane));
            drop(Box::from_raw(self.memory));
        }
    }
}
