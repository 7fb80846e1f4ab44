//! `norn run`: which thread goes next is decided by a strategy.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use norn_abi::control::Plan;
use norn_model::Consequence;
use norn_record::{Control, Cut, Options, Streams};
use norn_replay::{Clock, Ran};
use norn_trace::Strategy;

use crate::{
    cli::{Format, Limits, Run},
    command::record,
    exit::Exit,
    outcome,
};

pub(super) fn run(args: Run) -> anyhow::Result<Exit> {
    let control = Control { plan: plan(&args), ..Control::default() };
    let options = Options {
        command: args.command,
        output: args.output,
        control: Some(control),
        ..options(&args.limits)
    };
    let ran = norn_replay::run(&options)?;
    record::say(&options, &ran.recording)?;
    let Some(scene) = &ran.scene else { return Ok(Exit::Impossible) };
    let mut err = anstream::stderr().lock();
    if args.format == Format::Json {
        outcome::json(&ran, None)?;
    } else if ran.consequence.is_failure() {
        outcome::consequence(&mut err, &ran)?;
    }
    if let Some(path) = &args.save {
        let mut clip = norn_replay::capture(scene);
        clip.expect = Some(ran.consequence.clone());
        clip.write(path)?;
        writeln!(err, "hint: `norn replay {}` shows it again", path.display())?;
    } else if ran.consequence.is_failure() {
        writeln!(err, "hint: with --save clip.json it can be replayed")?;
    }
    drop(err);
    Ok(exit(&ran))
}

fn plan(args: &Run) -> Plan {
    let Clock { realtime, monotonic } = Clock::default();
    Plan {
        strategy: Strategy::from(args.strategy).code(),
        seed: args.seed,
        depth: args.depth,
        quantum: args.quantum,
        expected: args.expected,
        max_steps: args.limits.max_steps,
        realtime,
        monotonic,
        ..Plan::default()
    }
}

/// What all controlled runs have in common. What the subject says when it dies is read as well,
/// unless that goes to a terminal, which it must not mistake for a pipe.
pub(super) fn options(limits: &Limits) -> Options {
    let terminal = io::stderr().is_terminal();
    Options {
        values: !limits.no_values,
        max_size: limits.max_size,
        timeout: limits.timeout.map(Duration::from_secs),
        streams: if terminal { Streams::Inherit } else { Streams::KeepErrors },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Options::default()
    }
}

/// The subject's own status, unless we had to end it.
fn exit(ran: &Ran) -> Exit {
    match (ran.recording.cut, &ran.consequence) {
        (None, _) => record::end_like(ran.recording.status),
        (Some(Cut::Interrupt(signal)), _) => record::end_by(signal),
        (Some(_), Consequence::None) => Exit::Clean,
        (Some(_), _) => Exit::Harmful,
    }
}
