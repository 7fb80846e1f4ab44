//! `norn replay`: which thread goes next is decided by a clip.

use norn_abi::control::{Plan, after, strategy};
use norn_record::{Control, Cut, Options};
use norn_replay::{Clip, Codes, Ran};

use crate::{
    cli::{AfterArg, Format, Replay},
    command::{record, run::options},
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
        ..options(&args.limits)
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
        outcome::consequence(&mut err, ran)?;
    }
    let again = outcome::is_again(clip.expect.as_ref(), &ran.consequence);
    Ok(if again { Exit::Harmful } else { Exit::Clean })
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
