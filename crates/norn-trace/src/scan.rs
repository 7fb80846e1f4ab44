//! Finds the chunks of a file.
//!
//! Chunks follow each other without gaps, so normally one header leads to the next. Where there is
//! no valid header, the next one is searched for, and the bytes in between are lost. A chunk with a
//! wrong checksum is still read, as far as it can be decoded.

use std::ops::Range;

use norn_abi::{
    arena::{CHUNK, CHUNK_MAGIC, CODEC_V2, ChunkHeader, GLOBAL, VALUES, role},
    codec::{Codec, Format},
};
use norn_model::ThreadId;
use rayon::prelude::*;

use crate::{
    Damage, Flaw,
    bytes::Bytes,
    chunk::{self, HEADER},
};

/// A chunk in a file.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) header: ChunkHeader,
    /// The offset of its header.
    pub(crate) offset: usize,
    /// The range of its frames.
    pub(crate) frames: Range<usize>,
    /// The range of its records.
    pub(crate) records: Range<usize>,
}

impl Chunk {
    pub(crate) fn thread(&self) -> ThreadId {
        ThreadId(self.header.thread)
    }

    pub(crate) fn format(&self) -> Format {
        let options = self.header.options;
        Format {
            values: options & VALUES != 0,
            global: options & GLOBAL != 0,
            codec: if options & CODEC_V2 != 0 { Codec::V2 } else { Codec::V1 },
        }
    }

    /// The range of all of its bytes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.offset..self.records.end
    }

    /// Describes damage of this chunk.
    pub(crate) fn damage(&self, offset: usize, why: Flaw, bytes_lost: usize) -> Damage {
        Damage {
            process: self.header.process,
            offset: offset as u64,
            thread: Some(self.thread()),
            chunk: Some(self.header.index),
            why,
            bytes_lost: bytes_lost as u64,
        }
    }
}

/// The chunks of a process's file, sorted by thread and index, and the damage of the file.
pub(crate) fn scan(bytes: &Bytes, process: u32) -> (Vec<Chunk>, Vec<Damage>) {
    let (mut chunks, mut damage) = walk(bytes, process);
    damage.par_extend(chunks.par_iter().filter_map(|it| {
        let damage = check(bytes, it);
        bytes.give_back(it.range());
        damage
    }));
    chunks.sort_by_key(|it| (it.header.thread, it.header.index));
    drop_repeated(&mut chunks, &mut damage);
    find_gaps(&chunks, &mut damage);
    damage.sort_by_key(|it| it.offset);
    (chunks, damage)
}

/// Walks from header to header.
fn walk(bytes: &[u8], process: u32) -> (Vec<Chunk>, Vec<Damage>) {
    let (mut chunks, mut damage) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let begin = search(bytes, at, process);
        if begin > at {
            let (offset, bytes_lost) = (at as u64, (begin - at) as u64);
            let why = Flaw::NoChunk;
            damage.push(Damage { process, offset, thread: None, chunk: None, why, bytes_lost });
        }
        let Some(header) = header(bytes, begin, process) else { break };
        let end = end(bytes, header, begin, process);
        let chunk = take(header, begin, end);
        let missing = begin + HEADER + header.len as usize - end;
        if missing > 0 && end == bytes.len() {
            damage.push(chunk.damage(begin, Flaw::CutOff, missing));
        }
        at = end;
        chunks.push(chunk);
    }
    (chunks, damage)
}

/// The first offset from `at` on where a chunk can begin; the end of the file if there is none.
fn search(bytes: &[u8], at: usize, process: u32) -> usize {
    if header(bytes, at, process).is_some() {
        return at;
    }
    let magic = CHUNK_MAGIC.to_le_bytes();
    let mut found = bytes[at..].windows(magic.len()).enumerate().filter(|(_, it)| **it == magic);
    let found = found.find(|(off, _)| header(bytes, at + off, process).is_some());
    found.map_or(bytes.len(), |(off, _)| at + off)
}

/// The header at `at`, if it is plausible.
fn header(bytes: &[u8], at: usize, process: u32) -> Option<ChunkHeader> {
    let header = chunk::read(bytes.get(at..)?)?;
    let sound = header.magic == CHUNK_MAGIC
        && header.process == process
        && header.len as usize <= CHUNK - HEADER
        && header.frames as usize * 8 <= header.len as usize
        && header.frames <= header.depth
        && header.role <= role::FOREIGN
        && header.options <= VALUES | GLOBAL | CODEC_V2;
    sound.then_some(header)
}

/// The end of a chunk according to its header. If neither another header nor the end of the file is
/// there, the length may be wrong, and an earlier beginning of a chunk must not be missed.
fn end(bytes: &[u8], header: ChunkHeader, offset: usize, process: u32) -> usize {
    let begin = offset + HEADER;
    let end = begin + header.len as usize;
    if end == bytes.len() || self::header(bytes, end, process).is_some() {
        return end;
    }
    let there = end.min(bytes.len());
    begin + search(&bytes[begin..there], 0, process)
}

fn take(header: ChunkHeader, offset: usize, end: usize) -> Chunk {
    let begin = offset + HEADER;
    let records = (begin + header.frames as usize * 8).min(end);
    Chunk { header, offset, frames: begin..records, records: records..end }
}

/// Verifies the checksum of a chunk. A truncated chunk cannot match and is already reported.
fn check(bytes: &[u8], chunk: &Chunk) -> Option<Damage> {
    let body = &bytes[chunk.frames.start..chunk.records.end];
    let head = bytes[chunk.offset..].first_chunk()?;
    let cut_off = body.len() < chunk.header.len as usize && chunk.records.end == bytes.len();
    let sound = cut_off || chunk::checksum(head, body) == chunk.header.crc;
    (!sound).then(|| chunk.damage(chunk.offset, Flaw::Checksum, 0))
}

/// Of two chunks with the same index, the first one in the file is kept.
fn drop_repeated(chunks: &mut Vec<Chunk>, damage: &mut Vec<Damage>) {
    chunks.dedup_by(|later, kept| {
        let repeated =
            (later.header.thread, later.header.index) == (kept.header.thread, kept.header.index);
        if repeated {
            damage.push(later.damage(later.offset, Flaw::Twice, later.header.len as usize));
        }
        repeated
    });
}

fn find_gaps(chunks: &[Chunk], damage: &mut Vec<Damage>) {
    for thread in chunks.chunk_by(|a, b| a.thread() == b.thread()) {
        let mut next = 0;
        for chunk in thread {
            if chunk.header.index > next {
                let missing = chunk.header.index - next;
                damage.push(chunk.damage(chunk.offset, Flaw::Gap(missing), 0));
            }
            next = chunk.header.index.saturating_add(1);
        }
    }
}
