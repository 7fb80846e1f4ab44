//! Builds chunks with an encoder that follows the format's description and shares no code with the
//! real one. It defines each site again before each use, which is allowed and avoids all
//! prediction.

use std::collections::BTreeMap;

use norn_abi::{
    Kind,
    arena::{CHUNK_MAGIC, ChunkHeader, GLOBAL, VALUES, role},
    codec,
};

/// The code location of most events in the tests.
pub(crate) const PC: u64 = 0x40_1000;

/// A chunk under construction.
#[derive(Clone)]
pub(crate) struct Chunk {
    pub(crate) header: ChunkHeader,
    pub(crate) bytes: Vec<u8>,
    cells: BTreeMap<u64, u64>,
    last_seq: u64,
}

impl Chunk {
    /// The first chunk of the first thread.
    pub(crate) fn new() -> Chunk {
        let header = ChunkHeader { magic: CHUNK_MAGIC, options: VALUES, ..Default::default() };
        Chunk { header, bytes: Vec::new(), cells: BTreeMap::new(), last_seq: 0 }
    }

    /// Chunk `index` of a thread.
    pub(crate) fn of(thread: u32, index: u32) -> Chunk {
        let mut chunk = Chunk::new();
        chunk.header.thread = thread;
        chunk.header.index = index;
        chunk.header.child = thread;
        chunk.header.tid = 100 + thread;
        chunk
    }

    pub(crate) fn child(mut self, parent: u32, child: u32) -> Chunk {
        (self.header.parent, self.header.child) = (parent, child);
        self
    }

    pub(crate) fn handler(mut self, parent: u32) -> Chunk {
        (self.header.parent, self.header.child, self.header.role) = (parent, 0, role::HANDLER);
        self
    }

    pub(crate) fn foreign(mut self) -> Chunk {
        self.header.parent = self.header.thread;
        (self.header.child, self.header.role) = (0, role::FOREIGN);
        self
    }

    pub(crate) fn global(mut self) -> Chunk {
        self.header.options |= GLOBAL;
        self
    }

    /// The stack at the beginning, outermost first; `depth` may exceed the number of known frames.
    pub(crate) fn frames(mut self, frames: &[u64], depth: u32) -> Chunk {
        self.header.frames = u32::try_from(frames.len()).unwrap();
        self.header.depth = depth;
        self.bytes = frames.iter().flat_map(|it| it.to_le_bytes()).collect();
        self
    }

    pub(crate) fn after(mut self, last_seq: u64) -> Chunk {
        self.header.last_seq = last_seq;
        self.last_seq = last_seq;
        self
    }

    /// An access of up to 8 bytes.
    pub(crate) fn access(self, kind: u16, addr: u64, value: Option<u64>) -> Chunk {
        self.access_at(PC, kind, addr, value, None)
    }

    pub(crate) fn access_at(
        mut self,
        pc: u64,
        kind: u16,
        addr: u64,
        value: Option<u64>,
        seq: Option<u64>,
    ) -> Chunk {
        let code = if value.is_some() { 5 } else { 7 };
        self.begin(Kind::from_code(kind).unwrap(), pc, addr, code);
        self.access_seq(seq);
        if let Some(value) = value {
            let size = 8 * (1 << (kind & 7));
            let value = value & (u64::MAX >> (64 - size));
            let cell = self.cells.entry(addr >> 2 & 2047).or_default();
            let before = *cell & (u64::MAX >> (64 - size));
            self.bytes.extend((value ^ before).to_le_bytes());
            *cell = value;
        }
        self
    }

    pub(crate) fn write(self, addr: u64, value: u64) -> Chunk {
        self.access(10, addr, Some(value))
    }

    /// An access to a block, or one of 16 bytes, for which `len` is not written.
    pub(crate) fn block(
        mut self,
        kind: Kind,
        addr: u64,
        len: Option<u64>,
        content: &[u8],
    ) -> Chunk {
        self.begin(kind, PC, addr, 7);
        if let Some(len) = len {
            self.varint(len);
        }
        self.varint(content.len() as u64);
        self.bytes.extend(content);
        self
    }

    pub(crate) fn sync(self, kind: Kind, addr: u64, seq: u64, args: &[u64]) -> Chunk {
        self.sync_at(PC, kind, addr, seq, args)
    }

    pub(crate) fn sync_at(
        mut self,
        pc: u64,
        kind: Kind,
        addr: u64,
        seq: u64,
        args: &[u64],
    ) -> Chunk {
        self.begin(kind, pc, addr, 6);
        let step = zigzag(seq.wrapping_sub(self.last_seq));
        self.bytes.extend(step.to_le_bytes());
        self.last_seq = seq;
        for &arg in args {
            self.varint(arg);
        }
        self
    }

    pub(crate) fn module(self, start: u64, end: u64, seq: u64, path: &str) -> Chunk {
        self.text(Kind::Module, start, seq, end, path)
    }

    pub(crate) fn name(self, number: u64, seq: u64, name: &str) -> Chunk {
        self.text(Kind::Name, number, seq, 0, name)
    }

    fn text(self, kind: Kind, addr: u64, seq: u64, arg: u64, text: &str) -> Chunk {
        let mut chunk = self.sync_at(0, kind, addr, seq, &[arg]);
        chunk.varint(text.len() as u64);
        chunk.bytes.extend(text.as_bytes());
        chunk
    }

    pub(crate) fn enter(mut self, call: u64) -> Chunk {
        self.begin(Kind::Enter, PC, call, 7);
        self
    }

    pub(crate) fn leave(mut self) -> Chunk {
        self.bytes.push(0x80);
        self
    }

    /// Definition of the site, head, slot and address.
    fn begin(&mut self, kind: Kind, pc: u64, addr: u64, code: u8) {
        let key = pc | u64::from(kind.code()) << 48;
        let slot = u16::try_from(codec::slot(key)).unwrap();
        self.bytes.push(0x81);
        self.bytes.extend(slot.to_le_bytes());
        self.bytes.extend(key.to_le_bytes());
        self.bytes.push(0x40 | 6 << 3 | code);
        self.bytes.extend(slot.to_le_bytes());
        self.bytes.extend(zigzag(addr).to_le_bytes());
    }

    fn access_seq(&mut self, seq: Option<u64>) {
        if let Some(seq) = seq {
            self.varint(seq - self.last_seq);
            self.last_seq = seq;
        }
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }
}

fn zigzag(value: u64) -> u64 {
    value << 1 ^ 0u64.wrapping_sub(value >> 63)
}
