//! Runs a search, prints its results as they come, and ends in time.
//!
//! The search runs in a thread of its own and prints what it confirms. The main thread waits for it. When the
//! user interrupts the command, or its time is over, all runs are cut short and the search ends as soon as it
//! can; if it is in a long computation, the main thread does not wait for its end, and reports what is known.

use std::{
    ffi::OsStr,
    io::Write as _,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use norn_frontend::{Cancel, Interrupt};
use norn_hunt::Listener;
use norn_replay::ReplayError;
use norn_report::Ended;

use crate::{
    announce::Announcer,
    baseline::Baseline,
    cli::{Counting, Forcing},
    command::hunt::not_built,
    exit::Exit,
    results::Results,
    terminal,
};

/// How often the main thread looks for interrupts and at the clock.
const LOOK: Duration = Duration::from_millis(20);
/// How long a search may continue after the request to end.
const GRACE: Duration = Duration::from_millis(600);
/// The size of the search's stack in bytes: that of a main thread.
const STACK: usize = 8 << 20;

/// The end of a search.
enum Outcome<R> {
    /// It came to its end; `None` if the program recorded no events.
    Done(Result<Option<R>, ReplayError>),
    /// It was abandoned.
    Abandoned,
}

/// Runs a search until its end or its deadline, reports its results, and returns the exit status. The
/// search checks the request to end that is given with the deadline.
/// `instead` is the command that builds the program, for a hint.
pub(super) fn conduct<R: Results>(
    mut announcer: Announcer<R>,
    limits: (Option<Instant>, Cancel),
    (program, instead): (&OsStr, &str),
    search: impl FnOnce(Listener<'_, R>) -> Result<Option<R>, ReplayError> + Send + 'static,
) -> anyhow::Result<Exit> {
    announcer.start();
    let announcer = Arc::new(Mutex::new(announcer));
    let outcome = run(&announcer, limits, search)?;
    let mut announcer = lock(&announcer);
    let results = match outcome {
        Outcome::Done(Ok(results)) => results,
        Outcome::Done(Err(error)) if stopped().is_none() => {
            announcer.close();
            return Err(error.into());
        }
        // A run that is cut short may fail in many ways.
        Outcome::Done(Err(_)) | Outcome::Abandoned => announcer.take_latest(),
    };
    match (results, stopped()) {
        (Some(mut results), early) => {
            if let Some(ended) = early {
                *results.ended() = ended;
            }
            announcer.finish(&results)
        }
        (None, Some(ended)) => unrecorded(&mut announcer, ended, program),
        (None, None) => {
            announcer.close();
            not_built(program, instead)
        }
    }
}

/// Why the search was to end early, if it was.
fn stopped() -> Option<Ended> {
    let why = if Interrupt::caught().is_some() { Ended::Interrupted } else { Ended::Time };
    Interrupt::is_stopped().then_some(why)
}

fn run<R: Results>(
    announcer: &Arc<Mutex<Announcer<R>>>,
    (deadline, cancel): (Option<Instant>, Cancel),
    search: impl FnOnce(Listener<'_, R>) -> Result<Option<R>, ReplayError> + Send + 'static,
) -> anyhow::Result<Outcome<R>> {
    let (sender, done) = mpsc::channel();
    let shared = Arc::clone(announcer);
    let work = move || {
        let results = search(&|news| lock(&shared).hear(news));
        // The main thread may have gone on without this one.
        let _ = sender.send(results);
    };
    let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK);
    let worker = builder.spawn(work).context("cannot start a thread")?;
    let mut stopped: Option<Instant> = None;
    loop {
        match done.recv_timeout(LOOK) {
            Ok(results) => return Ok(Outcome::Done(results)),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            // Nothing was sent, so the search has panicked.
            Err(mpsc::RecvTimeoutError::Disconnected) => match worker.join() {
                Ok(()) => return Ok(Outcome::Abandoned),
                Err(panic) => resume_unwind(panic),
            },
        }
        if deadline.is_some_and(|it| Instant::now() >= it) {
            Interrupt::stop();
        }
        if Interrupt::is_stopped() {
            cancel.cancel();
            if stopped.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                return Ok(Outcome::Abandoned);
            }
        }
    }
}

fn lock<R>(announcer: &Mutex<Announcer<R>>) -> MutexGuard<'_, Announcer<R>> {
    announcer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports that the command ended while the program was being compiled.
pub(super) fn unbuilt<R: Results>(
    (forcing, counting): (&Forcing, &Counting),
) -> anyhow::Result<Exit> {
    let shown = forcing.command.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    let settings = (forcing, counting);
    let mut announcer: Announcer<R> =
        Announcer::new(settings, shown, Vec::new(), Baseline::default());
    announcer.start();
    unrecorded(&mut announcer, stopped().unwrap_or(Ended::Interrupted), &forcing.command[0])
}

/// Reports that the search ended before anything was recorded.
fn unrecorded<R: Results>(
    announcer: &mut Announcer<R>,
    ended: Ended,
    program: &OsStr,
) -> anyhow::Result<Exit> {
    announcer.close();
    let program = program.display();
    let (why, exit) = match ended {
        Ended::Interrupted => ("interrupted", Exit::Interrupted),
        _ => ("the time limit was reached", Exit::Impossible),
    };
    let mut err = terminal::stderr();
    terminal::line(&mut err, format_args!("norn: {why} before `{program}` was recorded"))?;
    err.flush()?;
    announcer.finish_empty(ended, exit)?;
    Ok(exit)
}
