//! What is wrong with a trace. Reading goes on all the same.

use std::fmt;

use norn_model::ThreadId;

/// Something that should be in a trace and is not, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Which process's file.
    pub process: u32,
    /// Where in the file.
    pub offset: u64,
    /// Whose chunk it is, if that is known.
    pub thread: Option<ThreadId>,
    /// Which of the thread's chunks it is, if that is known.
    pub chunk: Option<u32>,
    /// What is wrong.
    pub why: Flaw,
    /// How many bytes could not be read. What was never in the file does not count.
    pub bytes_lost: u64,
}

/// What can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// The process has no file.
    NoFile,
    /// Here should be a chunk, and is something else, up to the next chunk.
    NoChunk,
    /// The file ends inside of a chunk.
    CutOff,
    /// The bytes are not those that were written. What makes sense was read.
    Checksum,
    /// From here on, the records of the chunk make no sense.
    Record(&'static str),
    /// So many chunks of the thread are missing before this one.
    Gap(u32),
    /// The thread has another chunk of this number; this one was not read.
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
