//! Recording: starts a subject with the shared memory of [`norn_abi::arena`] attached, moves its
//! events to disk while it runs, and reports how it ended.
//!
//! Only the recorder writes files. The subject and its children write to shared memory alone, so that
//! no crash of theirs loses what they have recorded.

mod arena;
mod collect;
mod confine;
mod control;
mod descendants;
mod function;
mod inlined_lock;
mod input;
mod launch;
mod limit;
mod lock_api;
mod message;
mod panic;
mod pattern;
mod rust_std;
mod signals;
mod start;
mod stream;
mod unseen;
mod watch;

use std::{io, path::PathBuf, sync::atomic::Ordering, time::Instant};

use norn_frontend::{Launch, Recording};
use norn_model::excerpt;
use norn_trace::Writer;
use thiserror::Error;

pub use control::Control;
pub use input::Feed;

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
        /// The error of the system.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot run `{}`: {source}{}", excerpt(&program.to_string_lossy()), hint(source))]
    Start {
        /// The program.
        program: PathBuf,
        /// The error of the system.
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

/// Runs the subject to its end and records it. `control` is the plan in the form of the runtime.
pub fn record(launch: &Launch, control: Option<&Control>) -> Result<Recording, RecordError> {
    let start = Instant::now();
    if let Some((count, what, most)) = control.and_then(Control::excess) {
        return Err(RecordError::TooLong { count, what, most });
    }
    let debugged = !launch.debugger.is_empty();
    // A debugger handles the keys of the terminal itself.
    let ends = (control.is_some() || launch.apart) && !debugged;
    let signals = signals::Signals::take_over(ends).map_err(RecordError::Signals)?;
    let arena = arena::Arena::create(launch, control).map_err(RecordError::Arena)?;
    if let Some(collect) = &launch.collect {
        pattern::request(&arena, collect);
    }
    let run = launch::describe(launch);
    let output = |source| RecordError::Output { path: launch.output.clone(), source };
    let mut writer = Writer::create(&launch.output, launch.lifetime).map_err(output)?;
    if let Some(bytes) = limit::file_size() {
        writer.limit_files(bytes);
    }
    let mut collector = collect::Collector::new(&arena, writer, run, launch);
    let launched = match launch::run(launch, &arena, &signals, &mut collector) {
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
    let outcome = || control::read(&arena.control().outcome, input::fed(&arena, launch, control));
    let controlled = control.map(|it| it.describe(same_layout, outcome()));
    let collected = launch.collect.as_ref().and_then(|it| pattern::read(&arena, it));
    let run = collector.finish(controlled, collected).map_err(output)?;
    if let Some(inputs) = input::kept(&arena, launch).filter(|_| recorded) {
        inputs.write(&launch.output).map_err(output)?;
    }
    let outcome = run.controlled.as_ref().map(|it| &it.outcome);
    let message = message::find(outcome.and_then(|it| it.text.as_deref()), errors.as_deref());
    let duration = start.elapsed();
    Ok(Recording { run, status, duration, recorded, stranger, unmapped, refused, cut, message })
}
