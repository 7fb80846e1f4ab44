//! Starts the subject as it would have been started without us, and waits for it.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::{
    io,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    sync::{
        OnceLock,
        atomic::{AtomicI32, Ordering},
    },
    thread,
};

use norn_abi::arena::ENV;
use norn_trace::{FORMAT, Run};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{Options, RecordError, arena::Arena, collect::Collector};

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
    collector: &mut Collector<'_>,
) -> Result<ExitStatus, RecordError> {
    let (program, arguments) = options.command.split_first().ok_or_else(|| RecordError::Start {
        program: PathBuf::new(),
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env(ENV, arena.path());
    let signals = Signals::take_over(&mut command);
    raise_limit(&mut command);
    let child =
        command.spawn().map_err(|source| RecordError::Start { program: program.into(), source })?;
    SUBJECT.store(child.id().cast_signed(), Ordering::Relaxed);
    let status = wait(child, arena, collector);
    SUBJECT.store(0, Ordering::Relaxed);
    drop(signals);
    status.map_err(RecordError::Wait)
}

/// Waits in a thread of its own, which rings the bell at the end.
fn wait(mut child: Child, arena: &Arena, collector: &mut Collector<'_>) -> io::Result<ExitStatus> {
    let ended = OnceLock::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let status = child.wait();
            let _ = ended.set(status);
            arena.ring();
        });
        collector.collect(|| ended.get().and_then(|it| it.as_ref().ok().copied()));
    });
    ended.into_inner().unwrap_or_else(|| Err(io::ErrorKind::Other.into()))
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

/// The subject's process id, for the handler.
static SUBJECT: AtomicI32 = AtomicI32::new(0);

/// While the subject runs, keys that interrupt the terminal are for the subject alone, and a
/// request to end is passed on to it: so that the trace is always finished.
struct Signals {
    before: [(i32, libc::sighandler_t); 4],
}

impl Signals {
    fn take_over(command: &mut Command) -> Signals {
        let ignore = libc::SIG_IGN;
        let pass = pass_on as *const () as libc::sighandler_t;
        let wanted = [
            (libc::SIGINT, ignore),
            (libc::SIGQUIT, ignore),
            (libc::SIGTERM, pass),
            (libc::SIGHUP, pass),
        ];
        // SAFETY: the handler only calls `kill`.
        let before = wanted.map(|(signal, how)| (signal, unsafe { libc::signal(signal, how) }));
        // SAFETY: only calls `signal`, which may be called after a fork.
        unsafe {
            command.pre_exec(move || {
                restore(&before);
                Ok(())
            });
        }
        Signals { before }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

fn restore(before: &[(i32, libc::sighandler_t)]) {
    for &(signal, how) in before {
        // SAFETY: puts back what was there.
        unsafe { libc::signal(signal, how) };
    }
}

extern "C" fn pass_on(signal: i32) {
    let subject = SUBJECT.load(Ordering::Relaxed);
    if subject > 0 {
        // SAFETY: only a question to the kernel.
        unsafe { libc::kill(subject, signal) };
    }
}
