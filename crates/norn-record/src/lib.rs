//! Recording: starts a subject with the shared memory of [`norn_abi::arena`] attached, moves its
//! events to disk while it runs, and says how it ended.
//!
//! The recorder is the only one who writes files. The subject and its children only touch shared
//! memory, so nothing that happens to them can lose what they have recorded.

mod arena;
mod collect;
mod launch;
mod signals;

use std::{ffi::OsString, io, path::PathBuf, sync::atomic::Ordering};

use norn_trace::{Order, Run};
use rustix::process::{Resource, getrlimit};
use thiserror::Error;

/// What to record and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where the trace goes.
    pub output: PathBuf,
    /// Which order to record.
    pub order: Order,
    /// Whether to keep the values of memory accesses.
    pub values: bool,
    /// When the trace has this many bytes, recording stops and the subject goes on.
    pub max_size: u64,
    /// Version of the tool, for the trace.
    pub version: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Recording {
    /// The description of the run, as it is in the trace.
    pub run: Run,
    /// How the subject ended.
    pub status: std::process::ExitStatus,
    /// Whether any event was recorded. If not, the subject was not built for it.
    pub recorded: bool,
    /// Whether the subject, or a program that it ran, was built with another version of norn.
    pub stranger: bool,
    /// Whether the subject, or a program that it ran, had no room for the memory that is shared.
    pub unmapped: bool,
    /// Why the trace could not be written to its end.
    pub refused: Option<io::Error>,
}

/// How much of the address space of the recorder and of each process is needed, in bytes. Most of
/// it is never used.
pub const ADDRESS_SPACE: usize = norn_abi::arena::SIZE;

/// Why a run could not be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The trace's folder cannot be made.
    #[error("cannot write the trace to `{}`: {source}{}", path.display(), output_hint(source))]
    Output {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot run `{}`: {source}{}", program.display(), hint(source))]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The shared memory cannot be made.
    #[error("cannot make the memory that is shared with the subject: {0}{hint}", hint = arena_hint(.0))]
    Arena(#[source] io::Error),
    /// Signals cannot be passed on.
    #[error("cannot take signals for the subject: {0}")]
    Signals(#[source] io::Error),
    /// Waiting for the subject failed.
    #[error("lost track of the subject: {0}")]
    Wait(#[source] io::Error),
}

fn output_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "\nhint: `ulimit -f` sets the largest size of a file",
        _ => "\nhint: choose another place with -o",
    }
}

fn arena_hint(error: &io::Error) -> String {
    let limit = match error.kind() {
        io::ErrorKind::FileTooLarge => "the largest size of a file: ulimit -f",
        io::ErrorKind::OutOfMemory => "the address space: ulimit -v",
        _ => return String::new(),
    };
    let size = ADDRESS_SPACE.div_ceil(1 << 20);
    format!("\nhint: it takes {size} MiB, most of them never used; a limit is lower ({limit})")
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => {
            "\nhint: a program in this folder is started as `./program`, and must be built first"
        }
        io::ErrorKind::PermissionDenied => "\nhint: is it a program, and may you execute it?",
        _ => "",
    }
}

/// Runs the subject to its end and records it.
pub fn record(options: &Options) -> Result<Recording, RecordError> {
    let signals = signals::Signals::take_over().map_err(RecordError::Signals)?;
    let arena = arena::Arena::create(options).map_err(RecordError::Arena)?;
    let run = launch::describe(options);
    let output = |source| RecordError::Output { path: options.output.clone(), source };
    let mut writer = norn_trace::Writer::create(&options.output).map_err(output)?;
    if let Some(bytes) = getrlimit(Resource::Fsize).current {
        writer.limit_files(bytes);
    }
    let mut collector = collect::Collector::new(&arena, writer, run, options.max_size);
    let status = match launch::run(options, &arena, &signals, &mut collector) {
        Ok(status) => status,
        Err(error) => {
            collector.abandon();
            return Err(error);
        }
    };
    let recorded = collector.recorded();
    let stranger = arena.control().strangers.load(Ordering::Relaxed) > 0;
    let unmapped = arena.control().unmapped.load(Ordering::Relaxed) > 0;
    let refused = collector.refused();
    let run = collector.finish().map_err(output)?;
    Ok(Recording { run, status, recorded, stranger, unmapped, refused })
}
