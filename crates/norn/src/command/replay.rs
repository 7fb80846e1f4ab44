//! `norn replay`: a clip decides which thread runs next.

use std::io::Write as _;

use norn_frontend::{After, Cut, FrontEndError, Launch, Plan, Streams};
use norn_model::{Consequence, Verdict};
use norn_replay::{BatchMode, Clip, CompletedRun, ReplayError};
use norn_report::{Claimed, Report};

use crate::{
    cli::{AfterArg, Replay},
    command::{self, batch, batch::Job, checked, clip_program, expect, gdb, rebuilt, record},
    exit::Exit,
    front_end::front_end,
    report::{self, VERSION},
    scratch::Scratch,
    terminal,
};

pub(super) fn run(args: &Replay) -> anyhow::Result<Exit> {
    let mut clip = read(args)?;
    clip_program::check_environment(&clip, &args.clip, args.allow_loader_variables)?;
    if args.gdb || args.rest.is_empty() {
        clip_program::show(&clip)?;
    }
    rebuilt::find_lines_again(&mut clip)?;
    let commands = args.gdb.then(gdb::commands).transpose()?;
    let debugger = commands.as_ref().map(|it| gdb::words(it.path(), &args.rest)).transpose()?;
    let launch = Launch {
        plan: Some(plan(args, &clip)),
        debugger: debugger.unwrap_or_default(),
        ..clip.launch(launch(args))
    };
    let exit = match args.batch.times {
        Some(_) => repeat(args, &clip, &launch),
        None => once(args, &clip, launch),
    };
    match exit {
        Err(error) if clip.has_path() && is_changed(&error) => {
            writeln!(terminal::stderr(), "norn: the schedule cannot be followed: {error}")?;
            Ok(Exit::Impossible)
        }
        exit => exit,
    }
}

/// Whether the schedule has an event that the program does not have. If the clip was recorded, the
/// program has changed since; in a clip that a user wrote, this is a mistake.
fn is_changed(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<ReplayError>();
    matches!(error, Some(ReplayError::FrontEnd(FrontEndError::NoPlace { .. })))
}

/// The clip, with another program if the user gave one.
fn read(args: &Replay) -> Result<Clip, ReplayError> {
    let mut clip = Clip::read(&args.clip)?;
    if !args.gdb && !args.rest.is_empty() {
        clip.start(args.rest.iter().map(Into::into).collect());
    }
    if clip.command.is_empty() {
        return Err(ReplayError::NoCommand(args.clip.clone()));
    }
    Ok(clip)
}

fn once(args: &Replay, clip: &Clip, launch: Launch) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let launch = match &args.output {
        Some(output) => Launch { output: output.clone(), ..launch },
        None => Launch {
            output: scratch.path().join("trace"),
            max_size: launch.max_size.min(Scratch::MOST_TRACE),
            ..launch
        },
    };
    let check = batch::check(&args.batch, &args.limits);
    let run = checked::run(&launch, check.as_ref())?;
    run.symbolized()?;
    // The trace has been read. `end_by` ends the process without dropping anything.
    drop(scratch);
    record::say(&launch, &run.recording)?;
    if let Some(Cut::Interrupt(signal)) = run.recording.cut {
        return Ok(record::end_by(signal));
    }
    say(clip, &run, args)
}

/// The launch settings of all replays. A debugger has the terminal for itself.
fn launch(args: &Replay) -> Launch {
    let launch = command::run::launch(&args.limits);
    if args.gdb { Launch { streams: Streams::Inherit, ..launch } } else { launch }
}

fn say(clip: &Clip, completed: &CompletedRun, args: &Replay) -> anyhow::Result<Exit> {
    let Some(symbolized) = completed.symbolized()? else { return Ok(Exit::Impossible) };
    let run = norn_report::Run {
        ended_by_debugger: gdb::cut_short(completed),
        ..norn_replay::report::run(completed, Some(clip))?
    };
    let controlled = completed.recording.run.controlled.as_ref();
    let verdict = controlled.map(|it| norn_replay::verdict(&it.outcome, &clip.schedule));
    let claim = run.claim.as_ref();
    let exit =
        exit(clip, [Shown { verdict: verdict.as_ref(), consequence: &run.consequence, claim }]);
    let judged = args.expect.map(|it| {
        let critical = norn_replay::critical_events(clip, symbolized);
        expect::judge(it, exit, !run.consequence.is_unfinished(), &critical)
    });
    let exit = judged.as_ref().map_or(exit, |it| it.exit);
    report::print_run(&Report { run: Some(run), ..report(clip, exit) }, args.batch.format)?;
    judged.map_or(Ok(()), |it| it.say())?;
    Ok(exit)
}

/// A report of a replay, without its results.
fn report(clip: &Clip, exit: Exit) -> Report {
    let program = clip.command.iter().map(|it| it.lossy().into_owned()).collect();
    Report { program, exit: exit.into(), ..Report::new(norn_report::Command::Replay, VERSION) }
}

/// Whether the expected failure has happened; if none was expected, whether any has.
fn is_again(clip: &Clip, actual: &Consequence) -> bool {
    let same = |it: &Consequence| it.is_same(actual) && it.is_failure();
    clip.expect.as_ref().map_or(actual.is_failure(), same)
}

/// Repeated runs of the same schedule.
fn repeat(args: &Replay, clip: &Clip, launch: &Launch) -> anyhow::Result<Exit> {
    let scratch = Scratch::new()?;
    let check = batch::check(&args.batch, &args.limits);
    let job = Job {
        launch,
        mode: BatchMode::Same(&clip.schedule),
        batch: &args.batch,
        until_failure: false,
        check: check.as_ref(),
        keep: args.output.as_deref(),
    };
    let done = job.run(&scratch)?;
    let batch =
        norn_replay::report::batch(&**front_end(), &done.tally, Some(clip), done.kept().as_deref());
    let shown = done.tally.kinds.iter().zip(&batch.kinds).map(|(kind, reported)| Shown {
        verdict: kind.fingerprint.verdict.as_ref(),
        consequence: &kind.fingerprint.consequence,
        claim: reported.claim.as_ref(),
    });
    let exit = exit(clip, shown);
    if done.tally.count > 0 {
        let report = Report { batch: Some(batch), ..report(clip, exit) };
        report::print(&report, args.batch.format)?;
    }
    done.move_kept()?;
    drop(scratch);
    Ok(done.exit(exit))
}

/// What a run shows of its clip.
struct Shown<'a> {
    verdict: Option<&'a Verdict>,
    consequence: &'a Consequence,
    claim: Option<&'a Claimed>,
}

/// The exit status of runs: whether the failure, or what else the clip claims, happened again in one
/// of them; and if not, whether one of them followed the schedule. A run that left the schedule, or did
/// not finish, shows nothing about it.
fn exit<'a>(clip: &Clip, runs: impl IntoIterator<Item = Shown<'a>>) -> Exit {
    let mut exit = Exit::Impossible;
    for Shown { verdict, consequence, claim } in runs {
        if is_again(clip, consequence) || claim.is_some_and(|it| it.again && it.harmful) {
            return Exit::Harmful;
        }
        if matches!(verdict, Some(Verdict::Followed(_))) && !consequence.is_unfinished() {
            exit = Exit::Clean;
        }
    }
    exit
}

fn plan(args: &Replay, clip: &Clip) -> Plan {
    Plan {
        after: match args.after {
            AfterArg::Fair => After::Fair,
            AfterArg::Free => After::Free,
            AfterArg::Stop => After::Stop,
        },
        max_steps: args.limits.max_steps,
        linger: args.gdb,
        ..clip.plan()
    }
}
