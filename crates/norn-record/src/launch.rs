//! Starts the subject as it would have been started without us, and waits for it.
#![expect(
    unsafe_code,
    reason = "what a child does before it becomes the subject, Rust cannot check"
)]

use std::{
    io,
    os::{fd::AsFd as _, unix::process::CommandExt as _},
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    sync::OnceLock,
    thread,
};

use norn_abi::arena::ENV;
use norn_trace::{FORMAT, Run};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, PidfdFlags, Resource, Rlimit, getrlimit, pidfd_open, setrlimit},
};

use crate::{Options, RecordError, arena::Arena, collect::Collector, signals::Signals};

/// The description of a run that is about to begin.
pub(crate) fn describe(options: &Options) -> Run {
    let directory = std::env::current_dir().unwrap_or_default();
    Run {
        format: FORMAT,
        norn: options.version.clone(),
        command: options.command.iter().map(|it| it.to_string_lossy().into_owned()).collect(),
        directory: directory.to_string_lossy().into_owned(),
        order: options.order,
        values: options.values,
        complete: false,
        stopped: None,
        processes: Vec::new(),
        unrecorded_processes: 0,
        unrecorded_threads: 0,
        late_events: 0,
    }
}

/// Runs the subject while `collector` moves its events.
pub(crate) fn run(
    options: &Options,
    arena: &Arena,
    signals: &Signals,
    collector: &mut Collector<'_>,
) -> Result<ExitStatus, RecordError> {
    let (program, arguments) = options.command.split_first().ok_or_else(|| RecordError::Start {
        program: PathBuf::new(),
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env(ENV, arena.path());
    signals.give_back_in(&mut command);
    raise_limit(&mut command);
    let child =
        command.spawn().map_err(|source| RecordError::Start { program: program.into(), source })?;
    let ended = OnceLock::new();
    thread::scope(|scope| {
        // In a thread of its own, which rings the bell at the end.
        scope.spawn(|| {
            let _ = ended.set(wait(child, arena, signals));
            arena.ring();
        });
        collector.collect(|| ended.get().and_then(|it| it.as_ref().ok().copied()), signals);
    });
    let status = ended.into_inner().unwrap_or_else(|| Err(io::ErrorKind::Other.into()));
    status.map_err(RecordError::Wait)
}

/// Waits for the subject, and meanwhile passes signals on to it.
fn wait(mut child: Child, arena: &Arena, signals: &Signals) -> io::Result<ExitStatus> {
    let subject = child.id();
    let Ok(handle) = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()) else {
        return child.wait();
    };
    loop {
        let mut polled = [PollFd::new(&handle, PollFlags::IN), PollFd::new(signals, PollFlags::IN)];
        let outcome = poll(&mut polled, None);
        if outcome == Err(Errno::INTR) {
            continue;
        }
        if outcome.is_err() || !polled[0].revents().is_empty() {
            return child.wait();
        }
        while let Some(sent) = signals.next(|it| it == subject || arena.has_process(it)) {
            sent.send(handle.as_fd());
        }
    }
}

/// There are two open files for each process that lives, so as many are allowed as can be; to the
/// subject only as many as before.
fn raise_limit(command: &mut Command) {
    let before = getrlimit(Resource::Nofile);
    // If it fails, fewer processes can be recorded at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: before.maximum, ..before });
    // SAFETY: only makes a system call.
    unsafe {
        command.pre_exec(move || Ok(setrlimit(Resource::Nofile, before)?));
    }
}
