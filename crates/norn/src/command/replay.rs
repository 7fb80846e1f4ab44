//! `norn replay`: which thread goes next is decided by a clip.

use std::{ffi::OsString, io::Write as _};

use anyhow::Context as _;
use norn_abi::control::{Plan, after, strategy};
use norn_record::{Control, Cut, Options, Streams};
use norn_replay::{Clip, Codes, Ran};
use norn_trace::End;

use crate::{
    cli::{AfterArg, Format, Replay},
    command::{self, record},
    exit::Exit,
    outcome,
};

pub(super) fn run(args: &Replay) -> anyhow::Result<Exit> {
    let clip = Clip::read(&args.clip)?;
    let codes = Codes::open(&clip)?;
    let tables = norn_replay::plan(&clip, &codes)?;
    let control = Control { plan: plan(args, &clip), ..tables };
    let scratch = tempfile::tempdir()?;
    let options = Options {
        command: clip.command.iter().map(Into::into).collect(),
        output: args.output.clone().unwrap_or_else(|| scratch.path().join("trace")),
        directory: clip.directory.clone(),
        environment: clip.environment.iter().map(|(k, v)| (k.into(), v.into())).collect(),
        control: Some(control),
        debugger: if args.gdb { gdb(&args.debugger)? } else { Vec::new() },
        ..options(args)
    };
    let ran = norn_replay::run(&options)?;
    // From here on, nothing may be left behind.
    drop(scratch);
    record::say(&options, &ran.recording)?;
    if let Some(Cut::Interrupt(signal)) = ran.recording.cut {
        return Ok(record::end_by(signal));
    }
    say(&clip, &ran, args.format)
}

/// What all controlled runs have in common; in a debugger, the terminal is for it.
fn options(args: &Replay) -> Options {
    let options = command::run::options(&args.limits);
    if args.gdb { Options { streams: Streams::Inherit, ..options } } else { options }
}

/// gdb, and what makes it start the program as we would: without a shell, and without variables
/// that only gdb sets.
fn gdb(arguments: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let gdb = norn_replay::program(&["gdb".to_owned()], None).ok();
    let gdb = gdb.context(
        "cannot find gdb\nhint: install it, or replay without --gdb; the clip is the same",
    )?;
    let settings = [
        "set startup-with-shell off",
        "set disable-randomization on",
        "unset environment LINES",
        "unset environment COLUMNS",
    ];
    let mut words = vec![gdb.into(), "-q".into()];
    words.extend(settings.into_iter().flat_map(|it| ["-iex".into(), it.into()]));
    words.extend(arguments.iter().cloned());
    words.push("--args".into());
    Ok(words)
}

fn say(clip: &Clip, ran: &Ran, format: Format) -> anyhow::Result<Exit> {
    let Some(scene) = &ran.scene else { return Ok(Exit::Impossible) };
    let controlled = ran.recording.run.controlled.as_ref();
    let verdict = controlled.map(|it| norn_replay::verdict(&it.outcome, &clip.schedule));
    if format == Format::Json {
        outcome::json(ran, verdict.as_ref())?;
    } else {
        let mut err = anstream::stderr().lock();
        if let Some(verdict) = &verdict {
            outcome::verdict(&mut err, verdict, &clip.schedule, scene)?;
        }
        if ended_by_gdb(ran) {
            writeln!(err, "norn: gdb ended the program before it came to an end itself")?;
        } else {
            outcome::consequence(&mut err, ran)?;
        }
    }
    let again = outcome::is_again(clip.expect.as_ref(), &ran.consequence);
    Ok(if again { Exit::Harmful } else { Exit::Clean })
}

/// Whether a run in gdb was left off: what would have come of it, nobody knows.
fn ended_by_gdb(ran: &Ran) -> bool {
    let number = ran.scene.as_ref().map(|it| it.trace.process());
    let process = ran.recording.run.processes.iter().find(|it| Some(it.number) == number);
    let killed = process.is_some_and(|it| it.end == End::Unknown);
    killed && ran.recording.cut.is_none() && !ran.consequence.is_failure()
}

fn plan(args: &Replay, clip: &Clip) -> Plan {
    let clock = clip.clock.unwrap_or_default();
    Plan {
        strategy: strategy::FOLLOW,
        after: match args.after {
            AfterArg::Fair => after::FAIR,
            AfterArg::Free => after::FREE,
            AfterArg::Stop => after::STOP,
        },
        seed: clip.found.as_ref().map_or(0, |it| it.seed),
        max_steps: args.limits.max_steps,
        realtime: clock.realtime,
        monotonic: clock.monotonic,
        linger: args.gdb.into(),
        ..Plan::default()
    }
}
