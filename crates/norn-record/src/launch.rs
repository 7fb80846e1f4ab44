//! Starts the subject as it would have been started without us, and waits for it.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::{
    io::{self, PipeReader},
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicI32, Ordering},
    },
    thread,
};

use norn_abi::arena::ENV;
use norn_trace::{FORMAT, Run};

use crate::{
    Cut, Options, RecordError, arena::Arena, collect::Collector, confine, kin, stream, watch::Watch,
};

/// The description of a run that is about to begin.
pub(crate) fn describe(options: &Options) -> Run {
    let here = std::env::current_dir().unwrap_or_default();
    let directory = options.directory.as_ref().map_or_else(|| here.clone(), |it| here.join(it));
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
        unrecorded_threads: 0,
        late_events: 0,
        controlled: None,
    }
}

/// A subject that has ended.
pub(crate) struct Launched {
    pub(crate) status: ExitStatus,
    pub(crate) cut: Option<Cut>,
    /// What it wrote to standard error, if that was to be kept.
    pub(crate) errors: Option<String>,
    /// Whether its memory was laid out as in every run.
    pub(crate) same_layout: bool,
}

/// Runs the subject while `collector` moves its events.
pub(crate) fn run(
    options: &Options,
    arena: &Arena,
    collector: &mut Collector<'_>,
) -> Result<Launched, RecordError> {
    let (program, arguments) = options.command.split_first().ok_or_else(|| RecordError::Start {
        program: PathBuf::new(),
        source: io::ErrorKind::InvalidInput.into(),
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env(ENV, arena.path());
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &options.directory {
        command.current_dir(directory);
    }
    let start = |source| RecordError::Start { program: program.into(), source };
    let pipe = options.streams.connect(&mut command).map_err(start)?;
    if options.control.is_some() {
        kin::adopt_orphans();
        let (child, same_layout) = confine::spawn(command, options.apart).map_err(start)?;
        let watch = Watch::new(options, child.id());
        let launched = wait(child, arena, collector, watch, pipe);
        return launched.map(|it| Launched { same_layout, ..it }).map_err(RecordError::Wait);
    }
    let signals = Signals::take_over(&mut command);
    let child = command.spawn().map_err(start)?;
    drop(command);
    let watch = Watch::new(options, child.id());
    SUBJECT.store(child.id().cast_signed(), Ordering::Relaxed);
    let launched = wait(child, arena, collector, watch, pipe);
    SUBJECT.store(0, Ordering::Relaxed);
    drop(signals);
    launched.map_err(RecordError::Wait)
}

/// Waits in a thread of its own, which rings the bell at the end.
fn wait(
    mut child: Child,
    arena: &Arena,
    collector: &mut Collector<'_>,
    mut watch: Watch,
    pipe: Option<PipeReader>,
) -> io::Result<Launched> {
    let ended = OnceLock::new();
    let over = AtomicBool::new(false);
    let errors = thread::scope(|scope| {
        let listener = pipe.map(|pipe| scope.spawn(|| stream::pass_on(pipe, &over)));
        scope.spawn(|| {
            let status = child.wait();
            let _ = ended.set(status);
            arena.ring();
        });
        collector.collect(|| {
            watch.look(arena);
            ended.get().and_then(|it| it.as_ref().ok().copied())
        });
        watch.finish(arena);
        over.store(true, Ordering::Release);
        let errors = listener.and_then(|it| it.join().ok());
        errors.map(|it| String::from_utf8_lossy(&it).into_owned())
    });
    let status = ended.into_inner().unwrap_or_else(|| Err(io::ErrorKind::Other.into()))?;
    Ok(Launched { status, cut: watch.cut, errors, same_layout: false })
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
