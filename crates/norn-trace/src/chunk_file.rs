//! A file of chunks while a trace is written to it.
//!
//! Blocks of the disk are reserved well ahead of its end, many at once. Otherwise the kernel reserves them one
//! by one as the file grows, and that takes longer than to copy the bytes.

use std::{
    fs::File,
    io::{self, IoSlice, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{FileExt as _, OpenOptionsExt as _},
    path::Path,
};

use norn_abi::arena::ChunkHeader;
use rustix::fs::{FallocateFlags, fallocate};

use crate::{chunk, file};

/// From this size on, blocks are reserved: the traces of most programs are smaller.
const LARGE: u64 = 8 << 20;
/// How many bytes are reserved at once.
const STEP: u64 = 16 << 20;

/// The file of a process.
#[derive(Debug)]
pub(crate) struct ChunkFile {
    file: File,
    /// The end of the file.
    end: u64,
    /// The end of what is reserved.
    reserved: u64,
}

impl ChunkFile {
    /// Opens a file at its end. A link is not followed.
    pub(crate) fn open(path: &Path) -> io::Result<ChunkFile> {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let mut file = options.custom_flags(file::NOFOLLOW).open(path)?;
        let end = file.seek(SeekFrom::End(0))?;
        Ok(ChunkFile { file, end, reserved: 0 })
    }

    /// Appends a chunk. If it does not fit, or would make the file larger than `largest`, as much as possible of
    /// it is written, as a valid chunk.
    pub(crate) fn append(
        &mut self,
        header: ChunkHeader,
        bytes: &[u8],
        largest: u64,
    ) -> io::Result<()> {
        let head = chunk::seal(header, bytes);
        let room = usize::try_from(largest.saturating_sub(self.end)).unwrap_or(usize::MAX);
        let len = (head.len() + bytes.len()) as u64;
        self.reserve(self.end + len);
        let outcome = write_both(&mut self.file, &head, bytes, room);
        match outcome {
            Ok(()) => self.end += len,
            Err(_) => self.shorten(header, bytes)?,
        }
        outcome
    }

    /// Reserves blocks up to `end` and beyond. If that is not possible, the file grows as usual.
    fn reserve(&mut self, end: u64) {
        if end <= self.reserved || end < LARGE {
            return;
        }
        let done = fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.end, STEP);
        self.reserved = if done.is_ok() { self.end + STEP } else { u64::MAX };
    }

    /// Turns the part of a chunk that could be written into a valid chunk.
    fn shorten(&mut self, header: ChunkHeader, bytes: &[u8]) -> io::Result<()> {
        let start = self.end;
        self.end = self.file.seek(SeekFrom::End(0))?;
        let kept = (self.end - start).checked_sub(chunk::HEADER as u64);
        let kept =
            kept.and_then(|it| bytes.get(..usize::try_from(it).ok()?)).filter(|it| !it.is_empty());
        if let Some(kept) = kept {
            return self.file.write_all_at(&chunk::seal(header, kept), start);
        }
        self.file.set_len(start)?;
        self.end = self.file.seek(SeekFrom::Start(start))?;
        Ok(())
    }
}

/// Returns the blocks beyond the end.
impl Drop for ChunkFile {
    fn drop(&mut self) {
        if self.reserved != 0 {
            // If it fails, the file only takes more of the disk than it has bytes.
            let _ = self.file.set_len(self.end);
        }
    }
}

/// Writes a header and the bytes after it, in one call if possible, up to `room` bytes.
fn write_both(file: &mut File, head: &[u8], bytes: &[u8], room: usize) -> io::Result<()> {
    if head.len() + bytes.len() > room {
        file.write_all(&head[..head.len().min(room)])?;
        file.write_all(&bytes[..room.saturating_sub(head.len())])?;
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let written = file.write_vectored(&[IoSlice::new(head), IoSlice::new(bytes)])?;
    if written < head.len() {
        file.write_all(&head[written..])?;
    }
    file.write_all(&bytes[written.saturating_sub(head.len())..])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use norn_abi::arena::CHUNK;

    use super::*;

    /// Bytes of the disk that a file takes.
    fn taken(path: &Path) -> u64 {
        path.metadata().unwrap().blocks() * 512
    }

    #[test]
    fn blocks_beyond_the_end_are_returned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.chunks");
        let mut file = ChunkFile::open(&path).unwrap();
        let bytes = vec![1; CHUNK - chunk::HEADER];
        let count = LARGE / CHUNK as u64 + 2;
        for _ in 0..count {
            file.append(ChunkHeader::default(), &bytes, u64::MAX).unwrap();
        }
        let len = count * CHUNK as u64;
        assert_eq!(path.metadata().unwrap().len(), len);
        if file.reserved == u64::MAX {
            // The file system cannot reserve blocks.
            return;
        }
        assert!(taken(&path) >= file.reserved, "{} {}", taken(&path), file.reserved);
        drop(file);
        assert_eq!(path.metadata().unwrap().len(), len);
        assert!(taken(&path) < len + (1 << 20), "{} {len}", taken(&path));
    }
}
