//! `norn record`: runs a program and records its events.
#![expect(unsafe_code, reason = "ends by the signal that ended the subject")]

use std::{io, iter, os::unix::process::ExitStatusExt as _, process::ExitStatus};

use norn_abi::arena::{PROCESSES, THREADS};
use norn_frontend::{Collect, Launch, Recording};
use norn_record::ADDRESS_SPACE;
use norn_trace::{Run, StopReason};

use crate::{cli::Record, exit::Exit, front_end::front_end, function, terminal, verbosity::note};

pub(super) fn run(args: Record) -> anyhow::Result<Exit> {
    let launch = Launch {
        command: args.command,
        output: args.output,
        order: args.order.into(),
        values: !args.no_values && !args.collect,
        max_size: args.max_size,
        collect: args.collect.then_some(Collect {
            window: args.window,
            observe_all: args.observe_all,
            delays: None,
        }),
        functions: args.functions.names,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Launch::default()
    };
    let recording = front_end().run(&launch)?;
    say(&launch, &recording)?;
    if !recording.recorded {
        return Ok(Exit::Impossible);
    }
    Ok(end_like(recording.status))
}

/// Prints what is missing in the recording to standard error. These are warnings about the result:
/// `--quiet` leaves out only their hints.
pub(super) fn say(launch: &Launch, recording: &Recording) -> anyhow::Result<()> {
    let run = &recording.run;
    let is_error = !recording.recorded;
    let unseen = if recording.recorded { function::unseen(run) } else { Vec::new() };
    let lines = [unrecorded(launch, recording), stopped(recording), too_many(run), unseen];
    for line in lines.into_iter().flatten() {
        if line.starts_with("hint: ") && !is_error {
            note(line)?;
        } else {
            terminal::line(&mut terminal::stderr(), line)?;
        }
    }
    Ok(())
}

/// Why a program left no events.
fn unrecorded(launch: &Launch, recording: &Recording) -> Vec<String> {
    let program = launch.command[0].display();
    let (what, hint) = if recording.stranger {
        let what = "a program was built with another version of norn and was not recorded";
        (what.to_owned(), "build it again".to_owned())
    } else if recording.unmapped {
        let size = ADDRESS_SPACE.div_ceil(1 << 20);
        let what = "a program has not enough address space and was not recorded";
        let hint = "MiB of address space, most of it unused; `ulimit -v` sets the limit";
        (what.to_owned(), format!("recording needs {size} {hint}"))
    } else if !recording.recorded {
        let hint = "build it with `norn build make`, or `norn cc prog.c -o prog`";
        (format!("`{program}` left no events: it was not built with norn"), hint.to_owned())
    } else {
        return Vec::new();
    };
    vec![format!("norn: {what}"), format!("hint: {hint}")]
}

/// Why recording ended before the subject did.
fn stopped(recording: &Recording) -> Vec<String> {
    let lost: u64 = recording.run.processes.iter().map(|it| it.lost).sum();
    let later = format!("{lost} later events are not in it");
    match (recording.run.stopped.map(|it| it.why), &recording.refused) {
        (Some(StopReason::Size), _) => vec![
            format!("norn: the trace reached its maximum size; {later}"),
            "hint: --max-size sets the limit".to_owned(),
        ],
        (Some(StopReason::Disk), Some(why)) => {
            let what = format!("norn: the trace could not be written completely: {why}; {later}");
            let limit = why.kind() == io::ErrorKind::FileTooLarge;
            let hint = "hint: `ulimit -f` sets the largest size of a file".to_owned();
            iter::once(what).chain(limit.then_some(hint)).collect()
        }
        (Some(StopReason::Disk), None) => {
            vec![format!("norn: the trace could not be written completely; {later}")]
        }
        (None, _) => Vec::new(),
    }
}

/// Processes and threads beyond the limits of the arena.
fn too_many(run: &Run) -> Vec<String> {
    let (processes, threads) = (run.unrecorded_processes, run.unrecorded_threads);
    let mut lines = Vec::new();
    if processes > 0 {
        let those = format!("{processes} processes after the first {PROCESSES}");
        lines.push(format!("norn: {those} were not recorded"));
    }
    if threads > 0 {
        let those = format!("{threads} threads or signal handlers");
        lines.push(format!("norn: {those} were not recorded: the limit is {THREADS} at once"));
    }
    lines
}

/// Ends as the program did: with its status, or by its signal.
pub(super) fn end_like(status: ExitStatus) -> Exit {
    match status.signal() {
        Some(signal) => end_by(signal),
        None => Exit::Subject(status.code().and_then(|it| it.try_into().ok()).unwrap_or(255)),
    }
}

/// Ends by a signal.
pub(super) fn end_by(signal: i32) -> Exit {
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: ends this process, which has nothing left to do. The subject has already dumped its own
    // core, if that is enabled.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    Exit::Subject((128 + signal).try_into().unwrap_or(255))
}
