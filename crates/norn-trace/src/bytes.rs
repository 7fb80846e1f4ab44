//! The bytes of a chunk file, mapped instead of read into memory.
#![expect(unsafe_code, reason = "a mapped file is memory that others could change")]

use std::{io, ops::Deref, path::Path};

use memmap2::{Advice, Mmap};

use crate::file::open_regular;

/// A file's bytes.
pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a file.
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        let file = open_regular(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: a complete trace is not written any more. If it is modified nevertheless, or if a
        // recording is still running, the decoder handles arbitrary bytes and does not rely on
        // earlier reads. Truncating the file kills this process, as it does for every tool that
        // maps files.
        let map = unsafe { Mmap::map(&file)? };
        // Only a hint: without it, reading is slower but equally correct.
        let _ = map.advise(Advice::Sequential);
        Ok(Bytes::Mapped(map))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Owned(bytes) => bytes,
        }
    }
}
