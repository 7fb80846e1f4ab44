//! `norn replay`: which thread goes next is decided by a clip.

use norn_abi::control::{Plan, after};
use norn_model::Consequence;
use norn_record::{Control, Cut, Options, Streams};
use norn_replay::{Clip, Codes, Goal, Ran, ReplayError};
use norn_report::Report;

use crate::{
    cli::{AfterArg, Replay, ReportFormat},
    command::{self, checked, gdb, many, many::Job, record},
    exit::Exit,
    report::{self, VERSION},
    scratch::Scratch,
};

pub(super) fn run(args: &Replay) -> anyhow::Result<Exit> {
    let clip = read(args)?;
    let codes = Codes::open(&clip)?;
    let tables = norn_replay::plan(&clip, &codes)?;
    let control = Control { plan: plan(args, &clip), ..tables };
    let options = Options {
        command: clip.command.iter().map(Into::into).collect(),
        directory: clip.directory.clone(),
        environment: clip.environment.iter().map(|(k, v)| (k.into(), v.into())).collect(),
        control: Some(control),
        functions: clip.functions.clone(),
        stdin: clip.inputs.as_ref().and_then(|it| it.stdin.clone()).map(|it| it.0),
        debugger: if args.gdb { gdb::words(&args.rest)? } else { Vec::new() },
        ..options(args)
    };
    if args.batch.times.is_some() {
        repeat(args, &clip, &options)
    } else {
        once(args, &clip, options)
    }
}

/// The clip, with another program if one is wanted.
fn read(args: &Replay) -> Result<Clip, ReplayError> {
    let mut clip = Clip::read(&args.clip)?;
    if !args.gdb && !args.rest.is_empty() {
        clip.start(args.rest.clone());
    }
    if clip.command.is_empty() {
        return Err(ReplayError::NoCommand(args.clip.clone()));
    }
    Ok(clip)
}

fn once(args: &Replay, clip: &Clip, options: Options) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let output = args.output.clone().unwrap_or_else(|| scratch.path().join("trace"));
    let options = Options { output, ..options };
    let check = many::check(&args.batch, &args.limits);
    let ran = checked::run(&options, check.as_ref())?;
    ran.scene()?;
    // From here on, nothing may be left behind.
    drop(scratch);
    record::say(&options, &ran.recording)?;
    if let Some(Cut::Interrupt(signal)) = ran.recording.cut {
        return Ok(record::end_by(signal));
    }
    say(clip, &ran, args.batch.format)
}

/// What all controlled runs have in common; in a debugger, the terminal is for it.
fn options(args: &Replay) -> Options {
    let options = command::run::options(&args.limits);
    if args.gdb { Options { streams: Streams::Inherit, ..options } } else { options }
}

fn say(clip: &Clip, ran: &Ran, format: ReportFormat) -> anyhow::Result<Exit> {
    if ran.scene()?.is_none() {
        return Ok(Exit::Impossible);
    }
    let run = norn_report::Run {
        ended_by_debugger: gdb::cut_short(ran),
        ..norn_replay::report::run(ran, Some(clip))?
    };
    let exit = again(is_again(clip, &ran.consequence));
    report::print_run(&Report { run: Some(run), ..report(clip, exit) }, format)?;
    Ok(exit)
}

/// A report of a replay, without what came of it.
fn report(clip: &Clip, exit: Exit) -> Report {
    let program = clip.command.clone();
    Report { program, exit: exit.into(), ..Report::new(norn_report::Command::Replay, VERSION) }
}

/// Whether what was expected has happened; if nothing was, whether anything harmful has.
fn is_again(clip: &Clip, actual: &Consequence) -> bool {
    let same = |it: &Consequence| it.is_same(actual) && it.is_failure();
    clip.expect.as_ref().map_or(actual.is_failure(), same)
}

fn again(is_again: bool) -> Exit {
    if is_again { Exit::Harmful } else { Exit::Clean }
}

/// Many runs of the same schedule.
fn repeat(args: &Replay, clip: &Clip, options: &Options) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let check = many::check(&args.batch, &args.limits);
    let job = Job {
        options,
        goal: Goal::Same(&clip.schedule),
        batch: &args.batch,
        until_failure: false,
        check: check.as_ref(),
        keep: args.output.as_deref(),
    };
    let done = job.run(&scratch)?;
    let again = done.tally.kinds.iter().any(|it| is_again(clip, &it.picture.consequence));
    if done.tally.count > 0 {
        let batch = norn_replay::report::batch(&done.tally, Some(clip), done.kept().as_deref());
        let report = Report { batch: Some(batch), ..report(clip, self::again(again)) };
        report::print(&report, args.batch.format, false)?;
    }
    done.move_kept()?;
    drop(scratch);
    Ok(done.exit(again))
}

fn plan(args: &Replay, clip: &Clip) -> Plan {
    Plan {
        after: match args.after {
            AfterArg::Fair => after::FAIR,
            AfterArg::Free => after::FREE,
            AfterArg::Stop => after::STOP,
        },
        max_steps: args.limits.max_steps,
        linger: args.gdb.into(),
        ..clip.plan()
    }
}
