//! Opens the folder of a trace.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    Damage, FORMAT, Flaw, Run, Trace, TraceError,
    bytes::Bytes,
    file::{self, MAX_DESCRIPTION},
};

/// The oldest supported format.
const OLDEST: u32 = 1;

impl Run {
    /// Reads the description of a run.
    pub fn open(folder: &Path) -> Result<Run, TraceError> {
        let path = folder.join("run.json");
        let text = match file::read_regular(&path, MAX_DESCRIPTION) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound && folder.exists() => {
                return Err(not_a_trace(folder, "it has no `run.json`".to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return Err(not_a_trace(folder, "it is a file".to_owned()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(TraceError::Missing { path: folder.to_owned() });
            }
            Err(source) => return Err(TraceError::Unreadable { path, source }),
        };
        parse(folder, &text)
    }

    /// The numbers of the processes that may have events. A recorder that was killed could not
    /// describe them, but their files exist.
    pub fn process_numbers(&self, folder: &Path) -> Vec<u32> {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let files =
            files.filter_map(|it| it.file_name().to_str()?.strip_suffix(".chunks")?.parse().ok());
        let mut numbers: Vec<_> = files.chain(self.processes.iter().map(|it| it.number)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

impl Trace {
    /// Opens one process of a run. Damage inside it is not an error; see [`Trace::damage`].
    pub fn open(folder: &Path, process: u32) -> Result<Trace, TraceError> {
        let run = Run::open(folder)?;
        let known = run.process_numbers(folder);
        if !known.contains(&process) {
            return Err(TraceError::NoSuchProcess { process, known });
        }
        let path = folder.join(format!("{process}.chunks"));
        match Bytes::open(&path) {
            Ok(bytes) => Ok(Trace::new(run, process, bytes, Vec::new())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (why, bytes) = (Flaw::NoFile, Bytes::Owned(Vec::new()));
                let (thread, chunk) = (None, None);
                let damage = Damage { process, offset: 0, thread, chunk, why, bytes_lost: 0 };
                Ok(Trace::new(run, process, bytes, vec![damage]))
            }
            Err(source) => Err(TraceError::Unreadable { path, source }),
        }
    }

    /// Reads the chunks of one process from memory.
    pub fn from_bytes(run: Run, process: u32, bytes: Vec<u8>) -> Trace {
        Trace::new(run, process, Bytes::Owned(bytes), Vec::new())
    }
}

/// The only field that all formats have in common.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

fn parse(folder: &Path, text: &[u8]) -> Result<Run, TraceError> {
    let wrong = |error: serde_json::Error| not_a_trace(folder, format!("`run.json`: {error}"));
    let Version { format } = serde_json::from_slice(text).map_err(wrong)?;
    match format {
        ..OLDEST => Err(TraceError::Older { format, supported: OLDEST }),
        OLDEST..=FORMAT => serde_json::from_slice(text).map_err(wrong),
        _ => Err(TraceError::Newer { format, supported: FORMAT }),
    }
}

fn not_a_trace(folder: &Path, why: String) -> TraceError {
    TraceError::NotATrace { path: PathBuf::from(folder), why }
}
