//! What a person is told of a controlled run, on standard error.

use std::io::{self, Write};

use norn_model::{Arrival, Consequence, Departure, EventId, Schedule, ThreadId, Verdict};
use norn_replay::{Detour, Ran, Scene};
use norn_trace::{Controlled, Strategy};
use serde_json::{Value as Json, json};

use crate::{fact::address, input, story};

/// What the run led to, and by which choices.
pub(crate) fn consequence(err: &mut impl Write, ran: &Ran) -> io::Result<()> {
    let Some(controlled) = &ran.recording.run.controlled else { return Ok(()) };
    let outcome = &controlled.outcome;
    writeln!(
        err,
        "norn: {} ({}, {} events, {} switches)",
        ran.consequence,
        chosen(controlled),
        events(ran).unwrap_or(outcome.steps),
        outcome.switches
    )?;
    doubts(err, controlled)?;
    norn_replay::story::story(ran).map_or(Ok(()), |it| story::tell(err, &it))
}

/// How many events there were.
fn events(ran: &Ran) -> Option<u64> {
    Some(ran.scene().ok()??.trace.counts().events)
}

/// The same for programs.
pub(crate) fn json(ran: &Ran, verdict: Option<&Verdict>, detour: Option<&Detour>) -> Json {
    let controlled = ran.recording.run.controlled.as_ref();
    let outcome = controlled.map(|it| &it.outcome);
    json!({
        "consequence": ran.consequence,
        "verdict": verdict,
        "detour": detour,
        "strategy": controlled.map(|it| it.strategy),
        "seed": controlled.map(|it| it.seed),
        "events": events(ran),
        "switches": outcome.map(|it| it.switches),
        "away": outcome.map(|it| it.away),
        "inputs": outcome.map(|it| it.inputs),
        "fed": outcome.and_then(|it| it.fed.as_ref()),
        "same_layout": controlled.map(|it| it.same_layout),
        "story": norn_replay::story::story(ran),
    })
}

/// Prints what programs are told of one run or many: the last line of standard output.
pub(crate) fn print(json: &Json) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{json}")?;
    out.flush()
}

/// What may make another run differ.
pub(crate) fn doubts(err: &mut impl Write, controlled: &Controlled) -> io::Result<()> {
    if !controlled.same_layout {
        writeln!(
            err,
            "norn: addresses differ from run to run: the system does not let us fix them"
        )?;
    }
    match controlled.outcome.away {
        0 => {}
        away => writeln!(
            err,
            "norn: {away} times others could go on while a thread was where we do not see it"
        )?,
    }
    input::tell(err, &controlled.outcome)
}

fn chosen(controlled: &Controlled) -> String {
    let name = name(controlled.strategy);
    if name == "follow" {
        "by the clip".to_owned()
    } else {
        format!("{name}, seed {}", controlled.seed)
    }
}

/// What a strategy is called.
fn name(strategy: Strategy) -> String {
    let name = serde_json::to_value(strategy).ok();
    name.as_ref().and_then(|it| it.as_str()).unwrap_or("?").to_owned()
}

/// Whether the schedule was followed, and if not, where it was left.
pub(crate) fn verdict(
    err: &mut impl Write,
    verdict: &Verdict,
    schedule: &Schedule,
    scene: &Scene,
) -> io::Result<()> {
    let count = schedule.segments.len();
    let (word, departure) = match verdict {
        Verdict::Followed(segments) => {
            return writeln!(err, "norn: followed: {segments} of {count} segments");
        }
        Verdict::Diverged(departure) => ("diverged", departure),
        Verdict::Infeasible(departure) => ("infeasible", departure),
    };
    let Departure { segment, thread, why, actual } = departure;
    writeln!(err, "norn: {word} in segment {} of {count}: {thread} {why}", segment + 1)?;
    if let Some(expected) = schedule.segments.get(*segment as usize) {
        writeln!(err, "  expected  {} goes on {}", expected.thread, expected.until)?;
    }
    if let Some(actual) = actual {
        writeln!(err, "  actual    {}", arrival(actual, scene))?;
        if let Some(last) = last(departure, actual, scene) {
            writeln!(err, "  before    {last}")?;
        }
    }
    Ok(())
}

fn arrival(actual: &Arrival, scene: &Scene) -> String {
    let Arrival { index, class, pc, object } = actual;
    let on = scene.modules.variable(*object, 1).map_or_else(|| address(*object), |it| it.name);
    let on = if *object == 0 { String::new() } else { format!(" of {on}") };
    format!("event {index}, {class}{on} at {}", scene.site(*pc).unwrap_or_else(|| address(*pc)))
}

/// The thread's last event that was as expected.
fn last(departure: &Departure, actual: &Arrival, scene: &Scene) -> Option<String> {
    let thread = scene.trace.threads().iter().find(|it| it.name == departure.thread)?.id;
    let index = actual.index.checked_sub(1)?;
    let event = scene.trace.event(EventId { thread, index })?;
    let site = scene.trace.site(event.site)?;
    let place = scene.site(site.pc).unwrap_or_else(|| address(site.pc));
    let name =
        crate::fact::fact(&event.op, scene.trace.names(), |id: ThreadId| scene.thread(id).0).op;
    Some(format!("event {index}, {name} at {place}"))
}

/// Whether what was expected has happened; if nothing was, whether anything harmful has.
pub(crate) fn is_again(expected: Option<&Consequence>, actual: &Consequence) -> bool {
    expected.map_or(actual.is_failure(), |it| it == actual && it.is_failure())
}
