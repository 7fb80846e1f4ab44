//! The bytes of a chunk file, mapped instead of read into memory if they are many.
#![expect(unsafe_code, reason = "a mapped file is memory that others could change")]

use std::{
    io::{self, Read as _},
    ops::{Deref, Range},
    path::Path,
};

use memmap2::{Advice, Mmap, UncheckedAdvice};

use crate::file::open_regular;

/// Files of at least this size are mapped. Smaller ones are read faster than mapped, and may be truncated meanwhile.
pub(crate) const MAPPED: u64 = 1 << 20;
/// From this size on, what has been read of a file is given back at once. The kernel would do that when
/// memory is short; but until then it counts as memory of this process.
const LARGE: usize = 1 << 26;

/// A file's bytes.
pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps or reads a file.
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len();
        if length < MAPPED {
            let mut bytes = Vec::new();
            file.take(length).read_to_end(&mut bytes)?;
            return Ok(Bytes::Owned(bytes));
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

    /// Gives the memory of a range of a large file back. The bytes can still be read.
    pub(crate) fn give_back(&self, range: Range<usize>) {
        if let Bytes::Mapped(map) = self
            && map.len() >= LARGE
            && range.end <= map.len()
        {
            // SAFETY: the mapping is never written, so its pages hold what the file holds, and reading
            // them again gives the same bytes.
            let given = unsafe {
                map.unchecked_advise_range(UncheckedAdvice::DontNeed, range.start, range.len())
            };
            // Only a hint, as above.
            let _ = given;
        }
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
