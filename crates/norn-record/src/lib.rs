//! Recording: starts a subject with the shared memory of [`norn_abi::arena`] attached, moves its
//! events to disk while it runs, and reports how it ended.
//!
//! Only the recorder writes files. The subject and its children write to shared memory alone, so that
//! no crash of theirs loses what they have recorded.

mod arena;
mod collect;
mod confine;
mod control;
mod function;
mod input;
mod interrupt;
mod kin;
mod launch;
mod limit;
mod signals;
mod stream;
mod unseen;
mod watch;

use std::{ffi::OsString, io, path::PathBuf, sync::atomic::Ordering, time::Duration};

use norn_trace::{Order, Run};
use thiserror::Error;

pub use control::Control;
pub use input::Feed;
pub use interrupt::Interrupt;
pub use stream::Streams;
pub use watch::Cut;

/// What to record and how.
#[derive(Clone, Debug, Default)]
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
    /// The plan by which the runtime schedules threads, in a controlled run.
    pub control: Option<Control>,
    /// Patterns for the names of functions whose calls are recorded.
    pub functions: Vec<String>,
    /// How long the subject may run.
    pub timeout: Option<Duration>,
    /// Where its output goes.
    pub streams: Streams,
    /// Whether the subject gets its own process group, all of which is killed when it ends. Only for a
    /// controlled run.
    pub apart: bool,
    /// The debugger in which it runs, and its arguments, if it runs in one. It gets the terminal,
    /// and decides when to start and end the subject. Only for a controlled run.
    pub debugger: Vec<OsString>,
    /// The working directory of the subject, if not that of the recorder.
    pub directory: Option<PathBuf>,
    /// Environment variables of the subject in addition to those of the recorder.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether to record inputs from outside the program. Only for a controlled run.
    pub keep_inputs: bool,
    /// The content of standard input, if the subject does not inherit it. A debugger keeps its own.
    pub stdin: Option<Vec<u8>>,
}

/// The result of recording a run.
#[derive(Debug)]
pub struct Recording {
    /// The description of the run, as it is in the trace.
    pub run: Run,
    /// How the subject ended, or the debugger in which it ran.
    pub status: std::process::ExitStatus,
    /// Whether any event was recorded. If not, the subject was not built with norn.
    pub recorded: bool,
    /// Whether the subject, or a program that it ran, was built with another version of norn.
    pub stranger: bool,
    /// Whether the subject, or a program that it ran, could not map the shared memory.
    pub unmapped: bool,
    /// The error because of which the trace is incomplete.
    pub refused: Option<io::Error>,
    /// Why the recorder ended the subject, if it did.
    pub cut: Option<Cut>,
    /// The end of what it wrote to standard error, if that was captured.
    pub errors: Option<String>,
}

/// The address space that the shared memory takes in the recorder and in each process, in bytes. Most
/// of it is never backed by memory.
pub const ADDRESS_SPACE: usize = norn_abi::arena::SIZE;

/// Why a run could not be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The folder of the trace cannot be created.
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
    /// The schedule does not fit into the shared memory.
    #[error("the schedule has {count} {what}, the limit is {most}")]
    TooLong {
        /// The number of entries.
        count: usize,
        /// The kind of entries.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// The shared memory cannot be created.
    #[error("cannot create the memory that is shared with the subject: {0}{hint}", hint = arena_hint(.0))]
    Arena(#[source] io::Error),
    /// Signals cannot be forwarded.
    #[error("cannot forward signals to the subject: {0}")]
    Signals(#[source] io::Error),
    /// Waiting for the subject failed.
    #[error("lost track of the subject: {0}")]
    Wait(#[source] io::Error),
}

fn output_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "\nhint: `ulimit -f` sets the largest size of a file",
        _ => "\nhint: choose another folder with -o",
    }
}

fn arena_hint(error: &io::Error) -> String {
    let limit = match error.kind() {
        io::ErrorKind::FileTooLarge => "the largest size of a file: ulimit -f",
        io::ErrorKind::OutOfMemory => "the address space: ulimit -v",
        _ => return String::new(),
    };
    let size = ADDRESS_SPACE.div_ceil(1 << 20);
    format!("\nhint: it takes {size} MiB, most of which is never used; a limit is lower ({limit})")
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
    if let Some((count, what, most)) = options.control.as_ref().and_then(Control::excess) {
        return Err(RecordError::TooLong { count, what, most });
    }
    let debugged = !options.debugger.is_empty();
    // A debugger handles the keys of the terminal itself.
    let ends = options.control.is_some() && !debugged;
    let signals = signals::Signals::take_over(ends).map_err(RecordError::Signals)?;
    let arena = arena::Arena::create(options).map_err(RecordError::Arena)?;
    let run = launch::describe(options);
    let output = |source| RecordError::Output { path: options.output.clone(), source };
    let mut writer = norn_trace::Writer::create(&options.output).map_err(output)?;
    if let Some(bytes) = limit::file_size() {
        writer.limit_files(bytes);
    }
    let mut collector = collect::Collector::new(&arena, writer, run, options);
    let launched = match launch::run(options, &arena, &signals, &mut collector) {
        Ok(launched) => launched,
        Err(error) => {
            collector.abandon();
            return Err(error);
        }
    };
    let recorded = collector.recorded();
    let stranger = arena.control().strangers.load(Ordering::Relaxed) > 0;
    let unmapped = arena.control().unmapped.load(Ordering::Relaxed) > 0;
    let refused = collector.refused();
    let launch::Launched { status, cut, errors, same_layout } = launched;
    let outcome = || control::read(&arena.control().outcome, input::fed(&arena, options));
    let controlled = options.control.as_ref().map(|it| it.describe(same_layout, outcome()));
    let run = collector.finish(controlled).map_err(output)?;
    if let Some(inputs) = input::kept(&arena, options).filter(|_| recorded) {
        inputs.write(&options.output).map_err(output)?;
    }
    Ok(Recording { run, status, recorded, stranger, unmapped, refused, cut, errors })
}
