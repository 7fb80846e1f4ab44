//! Starts the subject as it would be started without norn, and waits for it.

use std::{
    ffi::OsStr,
    io::{self, PipeReader},
    os::fd::AsFd as _,
    path::PathBuf,
    process::ExitStatus,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use norn_abi::arena::ENV;
use norn_frontend::{Cut, Launch};
use norn_trace::{FORMAT, Run};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{PidfdFlags, pidfd_open},
};

use crate::{
    RecordError,
    arena::Arena,
    collect::Collector,
    confine, input, limit,
    signals::Signals,
    start::{Child, Inherited, Program},
    stream,
    watch::Watch,
};

/// The description of a run that is about to begin.
pub(crate) fn describe(launch: &Launch) -> Run {
    let here = std::env::current_dir().unwrap_or_default();
    let directory = launch.directory.as_ref().map_or_else(|| here.clone(), |it| here.join(it));
    Run {
        format: FORMAT,
        norn: launch.version.clone(),
        command: launch.command.iter().map(Into::into).collect(),
        directory: directory.into(),
        order: launch.order,
        values: launch.values,
        complete: false,
        stopped: None,
        processes: Vec::new(),
        unrecorded_processes: 0,
        unrecorded_threads: 0,
        late_events: 0,
        controlled: None,
        collected: None,
        functions: Vec::new(),
        refused_functions: 0,
    }
}

/// A subject that has ended.
pub(crate) struct Launched {
    pub(crate) status: ExitStatus,
    pub(crate) cut: Option<Cut>,
    /// What it wrote to standard error, if that was captured.
    pub(crate) errors: Option<String>,
    /// Whether its memory layout was the same as in every run.
    pub(crate) same_layout: bool,
}

/// Runs the subject while `collector` moves its events.
pub(crate) fn run(
    launch: &Launch,
    arena: &Arena,
    signals: &Signals,
    collector: &mut Collector<'_>,
) -> Result<Launched, RecordError> {
    let mut words = launch.debugger.iter().chain(&launch.command);
    let name = words.next().ok_or_else(|| RecordError::Start {
        program: PathBuf::new(),
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let failed = |source| RecordError::Start { program: name.into(), source };
    let (mut streams, pipe) = stream::open(&launch.streams).map_err(failed)?;
    if let Some(bytes) = launch.stdin.as_ref().filter(|_| launch.debugger.is_empty()) {
        streams[0] = Some(input::file(bytes).map_err(failed)?.into());
    }
    let environment = launch.environment.iter().map(|it| (it.0.as_ref(), it.1.as_ref()));
    let arena_path = arena.path();
    // Last: no variable that someone else chose may name another arena.
    let own = [(OsStr::new(ENV), arena_path.as_ref())];
    let program = Program {
        name,
        arguments: words.map(AsRef::as_ref).collect(),
        environment: environment.chain(own).collect(),
        directory: launch.directory.as_deref(),
        streams,
        inherited: Inherited {
            mask: signals.mask(),
            dispositions: Signals::dispositions(),
            limits: limit::raise(),
        },
        own_group: false,
        ends_with_parent: false,
    };
    let (child, same_layout) = confine::start(program, launch).map_err(failed)?;
    let launched = supervise(child, pipe, launch, (arena, signals, collector));
    launched.map(|it| Launched { same_layout, ..it }).map_err(RecordError::Wait)
}

/// Collects events and output until the subject has ended, and ends it early if necessary.
fn supervise(
    child: Child,
    pipe: Option<PipeReader>,
    launch: &Launch,
    (arena, signals, collector): (&Arena, &Signals, &mut Collector<'_>),
) -> io::Result<Launched> {
    let mut watch = Watch::new(launch, child.pid());
    let ended = OnceLock::new();
    let over = AtomicBool::new(false);
    let errors = thread::scope(|scope| {
        let listener = pipe.map(|pipe| scope.spawn(|| stream::forward(pipe, &over)));
        // A separate thread waits for the subject, and rings the bell to wake the collector.
        scope.spawn(|| {
            let _ = ended.set(wait(child, arena, signals));
            arena.ring();
        });
        let status = || {
            watch.check(arena);
            ended.get().and_then(|it| it.as_ref().ok().copied())
        };
        collector.collect(status, signals);
        watch.finish(arena);
        over.store(true, Ordering::Release);
        let heard = listener.and_then(|it| it.join().ok());
        let errors = heard.or_else(|| stream::errors(&launch.streams));
        errors.map(|it| String::from_utf8_lossy(&it).into_owned())
    });
    let status = ended.into_inner().unwrap_or_else(|| Err(io::ErrorKind::Other.into()))?;
    Ok(Launched { status, cut: watch.cut, errors, same_layout: false })
}

/// Waits for the subject and meanwhile forwards signals to it.
fn wait(child: Child, arena: &Arena, signals: &Signals) -> io::Result<ExitStatus> {
    let subject = child.pid();
    let Ok(handle) = pidfd_open(subject, PidfdFlags::empty()) else {
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
        while let Some(sent) = signals.next(|it| {
            subject.as_raw_nonzero().get().cast_unsigned() == it || arena.has_process(it)
        }) {
            sent.send(handle.as_fd());
        }
    }
}
