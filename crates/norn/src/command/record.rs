//! `norn record`.
#![expect(unsafe_code, reason = "ends by the signal that ended the subject")]

use std::{io::Write as _, os::unix::process::ExitStatusExt as _, process::ExitStatus};

use norn_abi::arena::{PROCESSES, THREADS};
use norn_record::{Options, Recording};
use norn_trace::StopReason;

use crate::{cli::Record, exit::Exit};

pub(super) fn run(args: Record) -> anyhow::Result<Exit> {
    let options = Options {
        command: args.command,
        output: args.output,
        order: args.order.into(),
        values: !args.no_values,
        max_size: args.max_size,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let recording = norn_record::record(&options)?;
    say(&options, &recording)?;
    if !recording.recorded {
        return Ok(Exit::Impossible);
    }
    Ok(end_like(recording.status))
}

/// What the person must know about the recording, on standard error.
fn say(options: &Options, recording: &Recording) -> anyhow::Result<()> {
    let mut err = anstream::stderr().lock();
    let program = options.command[0].display();
    if recording.stranger {
        writeln!(
            err,
            "norn: a program was built with another version of norn and is not recorded"
        )?;
        writeln!(err, "hint: build it again")?;
        return Ok(());
    }
    if !recording.recorded {
        writeln!(err, "norn: `{program}` left no events: it was not built with norn")?;
        writeln!(
            err,
            "hint: build it with `CC=\"norn cc\" CXX=\"norn c++\"`, or `norn cc prog.c -o prog`"
        )?;
        return Ok(());
    }
    let lost: u64 = recording.run.processes.iter().map(|it| it.lost).sum();
    match recording.run.stopped.map(|it| it.why) {
        Some(StopReason::Size) => writeln!(
            err,
            "norn: the trace reached its largest size; {lost} later events are not in it\n\
             hint: --max-size sets the limit"
        )?,
        Some(StopReason::Disk) => writeln!(
            err,
            "norn: the trace could not be written to the end (disk full?); {lost} later events \
             are not in it"
        )?,
        None => {}
    }
    let (processes, threads) =
        (recording.run.unrecorded_processes, recording.run.unrecorded_threads);
    if processes > 0 {
        writeln!(err, "norn: {processes} processes after the first {PROCESSES} are not recorded")?;
    }
    if threads > 0 {
        writeln!(
            err,
            "norn: {threads} threads or signal handlers are not recorded: there is room for \
             {THREADS} at once"
        )?;
    }
    Ok(())
}

/// Ends as the subject did: with its status, or by its signal.
fn end_like(status: ExitStatus) -> Exit {
    if let Some(signal) = status.signal() {
        let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: ends this process, which has nothing left to do; the subject has left its own
        // core, if that was wanted.
        unsafe {
            libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
        return Exit::Subject((128 + signal).try_into().unwrap_or(255));
    }
    Exit::Subject(status.code().and_then(|it| it.try_into().ok()).unwrap_or(255))
}
