//! The header of a chunk, between memory and disk. Little-endian, 64 bytes, checksummed.

use norn_abi::arena::{CHUNK_MAGIC, ChunkHeader};

/// Bytes of a header on disk.
pub(crate) const HEADER: usize = 64;

/// The header's bytes, with the checksum of the rest of it and of `bytes`.
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

/// The checksum of a header, from its length on, and of the bytes after it.
pub(crate) fn checksum(header: &[u8; HEADER], bytes: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[8..]);
    crc.update(bytes);
    crc.finalize()
}
