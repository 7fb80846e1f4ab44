//! Writes the folder of a trace.
//!
//! ```text
//! run.norn/
//!   run.json      what was run and how it ended; rewritten at the end
//!   0.chunks      the events of process 0: chunks, one after another, as they filled up
//!   1.chunks      the events of a forked child
//!   inputs.json   what came from outside, if that was to be kept
//!   report.json   what a search found, written at its end
//! ```
//! A chunk is a [`ChunkHeader`](norn_abi::arena::ChunkHeader) , little-endian, and as
//! many bytes as it says; `docs/trace-format.md` has the details.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use norn_abi::arena::{ChunkHeader, PROCESSES};

use crate::{Run, bytes, chunk, chunk_file::ChunkFile, file, input};

/// Version of the folder layout and of the files in it.
pub const FORMAT: u32 = norn_abi::VERSION;
/// A folder inside that of a trace for the instrumented build of the program. It may exist before
/// the trace.
pub const PROGRAM: &str = "program";
/// The file that says what was run, and by which a folder is known to hold a trace.
pub const RUN: &str = "run.json";
/// The events of the first process.
const FIRST: &str = "0.chunks";
/// The report of the search that made a trace. Another trace in the same folder makes it obsolete.
pub const REPORT: &str = "report.json";

/// A subject with corrupted memory may name any process; chunks of impossible ones share one file.
#[expect(clippy::cast_possible_truncation, reason = "it is a small number")]
const MAX_PROCESSES: u32 = PROCESSES as u32;

/// Disk space that is kept free while recording: when the disk is full, most of it is used for the
/// remaining chunks, and the rest for `run.json`, which is rewritten at the end. The same amount is
/// kept free in each chunk file, in case there is a limit on file sizes.
const RESERVE: &str = "reserve";
const RESERVE_SIZE: usize = 512 << 10;
const RESERVE_REST: u64 = 64 << 10;

/// How long a trace is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// Until the user removes it.
    #[default]
    Kept,
    /// Until it has been read, soon after the recording. If the disk is full or the recorder is killed, nothing of it
    /// has to remain: there is no reserve, it is described once, at the end, and the files of an earlier trace are
    /// overwritten.
    Temporary,
}

/// Writes a trace while it is being recorded.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    made: bool,
    begun: bool,
    lifetime: Lifetime,
    files: Vec<Option<ChunkFile>>,
    written: u64,
    largest: u64,
}

/// Whether a trace may be written to this folder: it contains at most an earlier trace.
pub fn is_ours(folder: &Path) -> io::Result<bool> {
    if !folder.exists() || folder.join(RUN).exists() {
        return Ok(true);
    }
    for entry in fs::read_dir(folder)? {
        if entry?.file_name() != PROGRAM {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Writer {
    /// Prepares `folder` and creates it if necessary. An earlier trace stays there until this
    /// recording begins.
    pub fn create(folder: &Path, lifetime: Lifetime) -> io::Result<Writer> {
        file::refuse_link(folder)?;
        let made = !folder.exists();
        if !is_ours(folder)? {
            let text = "the folder is not empty and holds no trace";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        fs::create_dir_all(folder)?;
        let (folder, files) = (folder.to_owned(), Vec::new());
        let (begun, written, largest) = (false, 0, u64::MAX);
        let writer = Writer { folder, made, begun, lifetime, files, written, largest };
        let prepared = match lifetime {
            Lifetime::Kept => reserve(&writer.folder),
            // If nothing is recorded, what an earlier trace says must not count.
            Lifetime::Temporary if made => Ok(()),
            Lifetime::Temporary => file::empty(&writer.folder.join(RUN)),
        };
        if let Err(error) = prepared {
            writer.abandon();
            return Err(error);
        }
        Ok(writer)
    }

    /// Limits the size of files in bytes.
    pub fn limit_files(&mut self, bytes: u64) {
        self.largest = bytes.saturating_sub(RESERVE_SIZE as u64);
    }

    /// Begins the recording and removes an earlier trace.
    pub fn begin(&mut self, run: &Run) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default();
            if self.lifetime == Lifetime::Temporary && is_of_one_process(name) {
                file::empty(&path)?;
                continue;
            }
            let obsolete = name == input::FILE || name == REPORT;
            if obsolete || path.extension().is_some_and(|it| it == "chunks") {
                fs::remove_file(path)?;
            }
        }
        self.begun = true;
        self.file(0)?;
        if self.lifetime == Lifetime::Kept { self.describe(run) } else { Ok(()) }
    }

    /// Appends one chunk with its checksum to the file of its process. If space is insufficient, as
    /// much as possible is written.
    pub fn append(&mut self, header: ChunkHeader, bytes: &[u8]) -> io::Result<()> {
        let process = header.process.min(MAX_PROCESSES);
        let largest = self.largest;
        let outcome = self.file(process)?.append(header, bytes, largest);
        if outcome.is_err() {
            self.largest = u64::MAX;
            if self.lifetime == Lifetime::Temporary {
                return outcome;
            }
            File::options().write(true).open(self.folder.join(RESERVE))?.set_len(RESERVE_REST)?;
            return outcome;
        }
        self.written += (chunk::HEADER + bytes.len()) as u64;
        Ok(())
    }

    /// Closes the file of a process that has ended. Later chunks of it are still accepted.
    pub fn close(&mut self, process: u32) {
        if let Some(file) = self.files.get_mut(process as usize) {
            *file = None;
        }
    }

    /// Number of bytes of chunks so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes the final description. If nothing was recorded, the folder stays as it was before.
    pub fn finish(self, run: &Run) -> io::Result<()> {
        self.release()?;
        if self.begun { self.describe(run) } else { Ok(()) }
    }

    fn release(&self) -> io::Result<()> {
        if self.lifetime == Lifetime::Kept {
            fs::remove_file(self.folder.join(RESERVE))?;
        }
        if self.made && !self.begun {
            fs::remove_dir(&self.folder)?;
        }
        Ok(())
    }

    /// Abandons the recording, because the program could not be started: the folder stays as it was
    /// before.
    pub fn abandon(self) {
        // A failure is harmless: an empty folder remains.
        let _ = self.release();
    }

    fn file(&mut self, process: u32) -> io::Result<&mut ChunkFile> {
        let number = process as usize;
        if self.files.len() <= number {
            self.files.resize_with(number + 1, || None);
        }
        let slot = &mut self.files[number];
        if let Some(file) = slot {
            return Ok(file);
        }
        let path = self.folder.join(format!("{process}.chunks"));
        Ok(slot.insert(ChunkFile::open(&path)?))
    }

    /// Replaces the description atomically, so that a complete one always exists.
    fn describe(&self, run: &Run) -> io::Result<()> {
        let (path, text) = (self.folder.join(RUN), serde_json::to_vec_pretty(run)?);
        match self.lifetime {
            Lifetime::Kept => file::write(&path, &text),
            Lifetime::Temporary => file::overwrite(&path)?.write_all(&text),
        }
    }
}

/// Whether a file belongs to the trace of a run without other processes and without inputs.
fn is_of_one_process(name: &OsStr) -> bool {
    name == RUN || name == FIRST
}

/// Whether a folder holds nothing but small files, which the next trace has as well. Large ones may still be mapped by
/// those who read them, and must not become shorter.
pub fn can_be_overwritten(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !is_of_one_process(&entry.file_name()) || entry.metadata()?.len() >= bytes::MAPPED {
            return Ok(false);
        }
    }
    Ok(true)
}

fn reserve(folder: &Path) -> io::Result<()> {
    file::create(&folder.join(RESERVE))?.write_all(&vec![0; RESERVE_SIZE])
}
