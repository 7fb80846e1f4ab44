//! `norn replay`: which thread goes next is decided by a clip.

use std::io::Write as _;

use norn_abi::control::{Plan, after, strategy};
use norn_record::{Control, Cut, Options};
use norn_replay::{Clip, Codes, Goal, Ran, ReplayError};

use crate::{
    cli::{AfterArg, Format, Replay},
    command::{
        checked, many,
        many::{Done, Job},
        record,
        run::options,
    },
    exit::Exit,
    outcome,
    scratch::Scratch,
    tally,
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
        ..options(&args.limits)
    };
    if args.batch.is_many() { repeat(args, &clip, &options) } else { once(args, &clip, options) }
}

/// The clip, with another program if one is wanted.
fn read(args: &Replay) -> Result<Clip, ReplayError> {
    let mut clip = Clip::read(&args.clip)?;
    if !args.command.is_empty() {
        clip.start(args.command.clone());
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
    // From here on, nothing may be left behind.
    drop(scratch);
    record::say(&options, &ran.recording)?;
    if let Some(Cut::Interrupt(signal)) = ran.recording.cut {
        return Ok(record::end_by(signal));
    }
    say(clip, &ran)
}

fn say(clip: &Clip, ran: &Ran) -> anyhow::Result<Exit> {
    let Some(scene) = &ran.scene else { return Ok(Exit::Impossible) };
    let mut err = anstream::stderr().lock();
    if let Some(controlled) = &ran.recording.run.controlled {
        let verdict = norn_replay::verdict(&controlled.outcome, &clip.schedule);
        outcome::verdict(&mut err, &verdict, &clip.schedule, scene)?;
    }
    outcome::consequence(&mut err, ran)?;
    let again = outcome::is_again(clip.expect.as_ref(), &ran.consequence);
    Ok(if again { Exit::Harmful } else { Exit::Clean })
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
    if done.tally.count > 0 {
        report(args, clip, &done)?;
    }
    done.move_kept()?;
    let is_again = |it| outcome::is_again(clip.expect.as_ref(), it);
    let again = done.tally.kinds.iter().any(|it| is_again(&it.picture.consequence));
    drop(scratch);
    Ok(done.exit(again))
}

fn report(args: &Replay, clip: &Clip, Done { tally, kept }: &Done) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    if args.batch.format == Format::Json {
        let json = tally::json(tally, kept.as_deref());
        return Ok(writeln!(out, "{json:#}")?);
    }
    Ok(tally::same(&mut out, tally, kept.as_deref(), &clip.schedule)?)
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
        ..Plan::default()
    }
}
