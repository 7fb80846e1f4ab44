//! What a person is told of a run that left the path of its clip.

use std::io::{self, Write};

use norn_model::{Class, Code, Line, Point, Verdict};
use norn_replay::Detour;

/// Where a run first left the path, and whether it came back. If the schedule was left later on, the
/// reason is most likely here.
pub(crate) fn tell(to: &mut impl Write, detour: &Detour, verdict: &Verdict) -> io::Result<()> {
    let Detour { thread, event, expected, actual, last, back } = detour;
    let had = if matches!(verdict, Verdict::Followed(_)) { "left" } else { "had left" };
    write!(to, "norn: {thread} {had} the recorded path at its event {event}")?;
    match back {
        Some(back) if back == event => writeln!(to, ", having skipped something")?,
        Some(back) => writeln!(to, ", and came back at event {back}")?,
        None => writeln!(to)?,
    }
    // If it is the same for people, only the address in the code tells one from the other.
    let code = |it| if words(expected) == words(actual) { address(it) } else { String::new() };
    writeln!(to, "  expected  event {event}, {}{}", words(expected), code(expected))?;
    writeln!(to, "  actual    event {event}, {}{}", words(actual), code(actual))?;
    match (event.checked_sub(1), last) {
        (Some(before), Some(last)) => writeln!(to, "  before    event {before}, {}", words(last)),
        _ => Ok(()),
    }
}

/// `read at add counter.c:12`, as much of it as is known.
fn words(point: &Point) -> String {
    let line = point.line.as_ref().map(|Line { file, number }| format!("{file}:{number}"));
    let place: Vec<_> = point.function.clone().into_iter().chain(line).collect();
    match (place.is_empty(), point.class) {
        (true, Class::Other) => "its beginning or end".to_owned(),
        (true, class) => class.name().to_owned(),
        (false, class) => format!("{} at {}", class.name(), place.join(" ")),
    }
}

fn address(point: &Point) -> String {
    let code = point.code.as_ref();
    code.map_or_else(String::new, |Code { module, offset }| format!(" ({module}+{offset:#x})"))
}
