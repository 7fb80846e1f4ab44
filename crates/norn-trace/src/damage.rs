//! Damage of a trace. Reading continues in spite of it.

use std::fmt;

use norn_model::ThreadId;

/// A part of a trace that is missing or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The process whose file is damaged.
    pub process: u32,
    /// The offset in the file.
    pub offset: u64,
    /// The thread of the chunk, if known.
    pub thread: Option<ThreadId>,
    /// The index of the chunk among those of its thread, if known.
    pub chunk: Option<u32>,
    /// The kind of damage.
    pub why: Flaw,
    /// Number of bytes that could not be read, not counting bytes that are missing in the file.
    pub bytes_lost: u64,
}

/// The kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// The process has no file.
    NoFile,
    /// There is no chunk here; the bytes up to the next chunk were skipped.
    NoChunk,
    /// The file ends inside of a chunk.
    CutOff,
    /// The checksum is wrong. Records that could be decoded were read.
    Checksum,
    /// The records of the chunk cannot be decoded from here on.
    Record(&'static str),
    /// This many chunks of the thread are missing before this one.
    Gap(u32),
    /// The thread has another chunk with this index; this one was not read.
    Twice,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}, offset {:#x}", self.process, self.offset)?;
        if let (Some(thread), Some(chunk)) = (self.thread, self.chunk) {
            write!(f, ", chunk {chunk} of thread {thread}")?;
        }
        write!(f, ": {}", self.why)?;
        match self.bytes_lost {
            0 => Ok(()),
            lost => write!(f, "; {lost} bytes lost"),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NoFile => write!(f, "the file is missing"),
            Flaw::NoChunk => write!(f, "no chunk where one should begin"),
            Flaw::CutOff => write!(f, "the file ends inside of a chunk"),
            Flaw::Checksum => write!(f, "wrong checksum"),
            Flaw::Record(why) => write!(f, "unreadable record: {why}"),
            Flaw::Gap(1) => write!(f, "the chunk before is missing"),
            Flaw::Gap(count) => write!(f, "{count} chunks before are missing"),
            Flaw::Twice => write!(f, "a chunk of this number was there already"),
        }
    }
}
