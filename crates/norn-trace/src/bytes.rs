//! The bytes of a file of chunks, without reading it into memory.
#![expect(unsafe_code, reason = "a mapped file is memory that others could change")]

use std::{fs::File, io, ops::Deref, path::Path};

use memmap2::{Advice, Mmap};

/// A file's bytes.
pub(crate) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a file.
    pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Bytes::Owned(Vec::new()));
        }
        // SAFETY: nobody writes to a trace that is complete. If someone does, or if a recording
        // goes on, the decoder takes whatever bytes it sees; it trusts no earlier look at them.
        // A file that gets shorter ends this process, as it does for every tool that maps files.
        let map = unsafe { Mmap::map(&file)? };
        // It is only a hint: without it, reading is as right, and slower.
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
