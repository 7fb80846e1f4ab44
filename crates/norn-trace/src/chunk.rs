//! Serializes the header of a chunk: little-endian, 64 bytes, with a checksum.

use norn_abi::arena::{CHUNK_MAGIC, ChunkHeader};

/// Size of a header on disk in bytes.
pub(crate) const HEADER: usize = 64;

/// Serializes a header, with the checksum of its other fields and of `bytes`.
#[expect(clippy::cast_possible_truncation, reason = "a chunk is short, a number has two words")]
pub(crate) fn seal(header: ChunkHeader, bytes: &[u8]) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    let words = [
        CHUNK_MAGIC,
        0,
        bytes.len() as u32,
        header.process,
        header.thread,
        header.parent,
        header.child,
        header.role,
        header.index,
        header.options,
        header.depth,
        header.frames,
        header.last_seq as u32,
        (header.last_seq >> 32) as u32,
        header.tid,
        0,
    ];
    for (at, word) in out.chunks_exact_mut(4).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    let crc = checksum(&out, bytes);
    out[4..8].copy_from_slice(&crc.to_le_bytes());
    out
}

/// Parses a header at the beginning of `bytes`.
pub(crate) fn read(bytes: &[u8]) -> Option<ChunkHeader> {
    let bytes: &[u8; HEADER] = bytes.first_chunk()?;
    let mut words = bytes.as_chunks::<4>().0.iter().map(|it| u32::from_le_bytes(*it));
    let mut word = || words.next().unwrap_or(0);
    Some(ChunkHeader {
        magic: word(),
        crc: word(),
        len: word(),
        process: word(),
        thread: word(),
        parent: word(),
        child: word(),
        role: word(),
        index: word(),
        options: word(),
        depth: word(),
        frames: word(),
        last_seq: u64::from(word()) | u64::from(word()) << 32,
        tid: word(),
        reserved: word(),
    })
}

/// The checksum of a header, from its length field on, and of the bytes after it.
pub(crate) fn checksum(header: &[u8; HEADER], bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[8..]);
    crc.update(bytes);
    crc.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_header_is_read_again() {
        let header = ChunkHeader {
            magic: CHUNK_MAGIC,
            crc: 0,
            len: 5,
            process: 1,
            thread: 2,
            parent: 3,
            child: 4,
            role: 1,
            index: 6,
            options: 3,
            depth: 8,
            frames: 0,
            last_seq: 0x0123_4567_89ab_cdef,
            tid: 9,
            reserved: 0,
        };
        let sealed = seal(header, b"bytes");
        let crc = checksum(&sealed, b"bytes");
        assert_eq!(read(&sealed), Some(ChunkHeader { crc, ..header }));
        assert_eq!(read(&sealed[1..]), None);
    }
}
