//! One run: whether it followed its schedule, and what it led to.

use std::io::{self, Write};

use norn_model::Location;

use super::{paint, story};
use crate::{
    Arrival, Claimed, Control, Departure, Detour, Inputs, Point, Requested, Run, Verdict,
    vocabulary::{self, consequence, obstacle, place},
    writer::Layout,
};

/// What one run did.
pub(super) fn run(out: &mut dyn Write, run: &Run, layout: Layout) -> io::Result<()> {
    if let Some(it) = &run.verdict {
        verdict(out, it, run.segments.unwrap_or_default())?;
    }
    if let (Some(it), Some(verdict)) = (&run.detour, &run.verdict) {
        detour(out, it, verdict)?;
    }
    if run.ended_by_debugger {
        return writeln!(out, "norn: gdb ended the program before it ended by itself");
    }
    let Some(control) = &run.control else { return Ok(()) };
    let what = paint::headline(consequence(&run.consequence), run.consequence.is_failure());
    let (events, switches) = (run.events.unwrap_or_default(), control.switches);
    let chosen = match control.strategy.as_str() {
        "follow" => "by the clip".to_owned(),
        name => format!("{name}, seed {}", control.seed),
    };
    writeln!(out, "norn: {what} ({chosen}, {events} events, {switches} switches)")?;
    if let Some(it) = &run.claim {
        claim(out, it)?;
    }
    doubts(out, control)?;
    run.story.as_ref().map_or(Ok(()), |it| story::story(out, it, layout))
}

/// Whether the claim of the clip is true again.
pub(super) fn claim(out: &mut dyn Write, claim: &Claimed) -> io::Result<()> {
    let Claimed { title, harmful, again, .. } = claim;
    match again {
        true => writeln!(out, "norn: it happened again: {}", paint::headline(title, *harmful)),
        false => writeln!(out, "norn: it did not happen again: {title}"),
    }
}

/// What may make another run differ.
pub(super) fn doubts(out: &mut dyn Write, control: &Control) -> io::Result<()> {
    if !control.same_layout {
        writeln!(
            out,
            "norn: addresses differ from run to run: the system does not let norn fix them"
        )?;
    }
    if control.away > 0 {
        let away = control.away;
        writeln!(
            out,
            "norn: {away} times other threads ran while one was in code that is not instrumented"
        )?;
    }
    if control.older > 0 {
        writeln!(out, "norn: {}", vocabulary::older_loads(control.older))?;
    }
    inputs(out, &control.inputs)
}

fn inputs(out: &mut dyn Write, inputs: &Inputs) -> io::Result<()> {
    let Inputs { uncontrolled, recorded, lost, fed, available, diverged } = inputs;
    if *available > 0 {
        writeln!(out, "norn: {fed} of {available} inputs were fed back")?;
    }
    if let Some(it) = diverged {
        let thread = it.thread.as_deref().unwrap_or("a thread");
        let (expected, actual) = (requested(it.expected.as_ref()), requested(it.actual.as_ref()));
        writeln!(
            out,
            "norn: {thread} asked for other inputs than those of the clip, at its input {}",
            it.input
        )?;
        writeln!(out, "  expected  {expected}\n  actual    {actual}")?;
    }
    if *lost > 0 {
        writeln!(out, "norn: {lost} inputs were not recorded: there was no room")?;
    }
    match (*uncontrolled, *recorded) {
        (0, 0) => Ok(()),
        (count, 0) => {
            writeln!(out, "norn: the program read {count} inputs that norn does not control")?;
            if *available == 0 {
                writeln!(out, "hint: `norn run --record-inputs` records them and feeds them back")?;
            }
            Ok(())
        }
        (_, recorded) => writeln!(out, "norn: {recorded} inputs were recorded"),
    }
}

fn requested(request: Option<&Requested>) -> String {
    let Some(Requested { call, descriptor, asked }) = request else { return "no more".to_owned() };
    let of = descriptor.map_or_else(String::new, |it| format!(" of descriptor {it}"));
    format!("{call}{of}, {asked}")
}

/// Whether the schedule was followed, and if not, where it was left.
fn verdict(out: &mut dyn Write, verdict: &Verdict, count: usize) -> io::Result<()> {
    let word = vocabulary::verdict(verdict);
    let Departure { segment, thread, why, until, actual, before } = match verdict {
        Verdict::Followed(segments) => {
            return writeln!(out, "norn: {word}: {segments} of {count} segments");
        }
        Verdict::Diverged(departure) | Verdict::Infeasible(departure) => departure,
    };
    let (number, why) = (segment + 1, obstacle(*why));
    writeln!(out, "norn: {word} in segment {number} of {count}: {thread} {why}")?;
    if let Some(until) = until {
        let event = until.starts_with("before ") || until.starts_with("after ");
        let word = if event { "until " } else { "" };
        writeln!(out, "  expected  {thread} runs {word}{until}")?;
    }
    if let Some(actual) = actual {
        writeln!(out, "  actual    {}", arrival(actual))?;
    }
    match before {
        Some(before) => writeln!(out, "  before    {}", arrival(before)),
        None => Ok(()),
    }
}

fn arrival(it: &Arrival) -> String {
    let Arrival { event, operation, object, at, code } = it;
    let of = object.as_ref().map_or_else(String::new, |it| format!(" of {}", it.full_name()));
    let code = || code.map(|it| it.to_string());
    let place = at.as_ref().map(paint::place).or_else(code);
    let place = place.map_or_else(String::new, |it| format!(" at {it}"));
    format!("event {event}, {operation}{of}{place}")
}

/// Where a run first left the path of its clip, and whether it came back. If the schedule was left
/// later, the reason is most likely here.
pub(super) fn detour(out: &mut dyn Write, detour: &Detour, verdict: &Verdict) -> io::Result<()> {
    let Detour { thread, event, expected, actual, last, back } = detour;
    let had = if matches!(verdict, Verdict::Followed(_)) { "left" } else { "had left" };
    write!(out, "norn: {thread} {had} the recorded path at its event {event}")?;
    match back {
        Some(back) if back == event => writeln!(out, ", having skipped something")?,
        Some(back) => writeln!(out, ", and came back at event {back}")?,
        None => writeln!(out)?,
    }
    // If both read the same, only the address in the code tells one from the other.
    let same = point(expected) == point(actual);
    let code = |it: &Point| if same { address(&it.at) } else { String::new() };
    writeln!(out, "  expected  event {event}, {}{}", point(expected), code(expected))?;
    writeln!(out, "  actual    event {event}, {}{}", point(actual), code(actual))?;
    match (event.checked_sub(1), last) {
        (Some(before), Some(last)) => writeln!(out, "  before    event {before}, {}", point(last)),
        _ => Ok(()),
    }
}

/// `read at add counter.c:12`, as much of it as is known.
fn point(point: &Point) -> String {
    let known = point.at.function.is_some() || point.at.file.is_some();
    match (known, point.operation.as_str()) {
        (false, "other") => "its beginning or end".to_owned(),
        (false, operation) => operation.to_owned(),
        (true, operation) => format!("{operation} at {}", paint::places(place(&point.at))),
    }
}

fn address(at: &Location) -> String {
    let code = Location { function: None, file: None, ..at.clone() };
    if at.offset.is_some() { format!(" ({})", place(&code)) } else { String::new() }
}
