//! What a run led to, and whether it went as its schedule says.

use std::os::unix::process::ExitStatusExt as _;

use norn_frontend::{Cut, FailureMessage, Recording};
use norn_model::{
    Arrival, Class, Consequence, Departure, Limit, Location, MemoryFault, Obstacle, Schedule,
    Segment, Until, Verdict,
};
use norn_trace::{End, Follow, Found, Kind, Left, Outcome, Why, class_of};

use crate::SymbolizedTrace;

const SIGABRT: i32 = 6;

/// What a run led to. `site` names a place in the code.
pub(crate) fn consequence(
    recording: &Recording,
    site: &dyn Fn(u64) -> Option<Location>,
) -> Consequence {
    if let Some(known) = known(recording) {
        return known;
    }
    match (recording.status.signal(), recording.status.code()) {
        (Some(signal), _) => death(signal, recording, site),
        (None, Some(0) | None) => Consequence::None,
        (None, Some(status)) => match killer(recording) {
            Some(signal) => death(signal, recording, site),
            None => Consequence::Exit(status),
        },
    }
}

/// The signal by which a process of the program died, of which the one that was started, such as a
/// shell, only tells by its status.
fn killer(recording: &Recording) -> Option<i32> {
    let outcome = &recording.run.controlled.as_ref()?.outcome;
    let aborted = outcome.text.as_ref().map(|_| SIGABRT);
    aborted.or_else(|| outcome.signal.map(|it| it.number))
}

/// What a run in a debugger led to, as far as the program came: the status is the debugger's.
pub(crate) fn debugged(recording: &Recording, symbolized: &SymbolizedTrace) -> Consequence {
    if let Some(known) = known(recording) {
        return known;
    }
    let site = |pc| symbolized.location(pc);
    let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
    let aborts = symbolized.trace.counts().kinds().any(|it| it.0 == Kind::Abort);
    if aborts || outcome.is_some_and(|it| it.text.is_some()) {
        return death(SIGABRT, recording, &site);
    }
    if let Some(signal) = outcome.and_then(|it| it.signal) {
        return death(signal.number, recording, &site);
    }
    let number = symbolized.trace.process();
    match recording.run.processes.iter().find(|it| it.number == number).map(|it| it.end) {
        Some(End::Exited(status @ 1..)) => Consequence::Exit(status),
        _ => Consequence::None,
    }
}

/// What is known of a run without a look at how the program ended: the runtime has found it, or we
/// have ended the program.
fn known(recording: &Recording) -> Option<Consequence> {
    let controlled = recording.run.controlled.as_ref();
    let found = controlled.and_then(|it| found(&it.outcome, it.max_steps));
    found.or_else(|| match recording.cut? {
        Cut::Timeout(time) => Some(Consequence::Hang(Limit::Seconds(time.as_secs()))),
        Cut::Found | Cut::Interrupt(_) | Cut::Cancelled => Some(Consequence::None),
    })
}

/// What the runtime found.
fn found(outcome: &Outcome, max_steps: u64) -> Option<Consequence> {
    Some(match outcome.found {
        Found::None | Found::Stopped => return None,
        Found::Deadlock => Consequence::Deadlock,
        Found::Livelock => Consequence::Livelock,
        Found::Steps => Consequence::Hang(Limit::Steps(max_steps)),
        Found::UseAfterFree => Consequence::Memory(MemoryFault::UseAfterFree),
        Found::DoubleFree => Consequence::Memory(MemoryFault::DoubleFree),
        Found::BadFree => Consequence::Memory(MemoryFault::BadFree),
        Found::OutOfBounds => Consequence::Memory(MemoryFault::OutOfBounds),
        Found::UseAfterDestroy => Consequence::Memory(MemoryFault::UseAfterDestroy),
    })
}

/// The consequence of a deadly signal. Assertions and exceptions abort, after a message.
fn death(
    signal: i32,
    recording: &Recording,
    site: &dyn Fn(u64) -> Option<Location>,
) -> Consequence {
    if signal != SIGABRT {
        let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
        let hit = outcome.and_then(|it| it.signal).filter(|it| it.number == signal);
        // The place of a signal is that of an instruction, not a return address.
        let at = hit.and_then(|it| site(it.pc.wrapping_add(1)));
        return Consequence::Signal { signal, at };
    }
    match recording.message.clone() {
        Some(FailureMessage::Assertion { condition, .. }) => Consequence::Assertion(condition),
        Some(FailureMessage::Exception { class, what }) => Consequence::Exception { class, what },
        None => Consequence::Abort,
    }
}

/// Whether a run went as its schedule says.
pub fn verdict(outcome: &Outcome, schedule: &Schedule) -> Verdict {
    let departure = || departure(outcome, schedule);
    match outcome.follow {
        Follow::None | Follow::Going | Follow::Done => {
            Verdict::Followed(outcome.segments + u32::from(is_in_last(outcome, schedule)))
        }
        Follow::Diverged => Verdict::Diverged(departure()),
        Follow::Infeasible => Verdict::Infeasible(departure()),
    }
}

/// Whether the program ended in the last segment, of which that is the end.
fn is_in_last(outcome: &Outcome, schedule: &Schedule) -> bool {
    let rest = schedule.segments.get(outcome.segments as usize..).unwrap_or_default();
    outcome.follow == Follow::Going && matches!(rest, [Segment { until: Until::End, .. }])
}

fn departure(outcome: &Outcome, schedule: &Schedule) -> Departure {
    let due = schedule.segments.get(outcome.segments as usize);
    let thread = due.map(|it| it.thread.clone());
    Departure {
        segment: outcome.segments,
        thread: thread.unwrap_or_else(|| norn_model::ThreadName("?".to_owned())),
        why: outcome.left.map_or(Obstacle::Unknown, |it| obstacle(it.why)),
        actual: outcome.left.and_then(|it| arrival(&it)),
    }
}

/// What a thread came to; nothing if it ended or never was.
fn arrival(left: &Left) -> Option<Arrival> {
    let class = Kind::from_code(left.kind).map_or(Class::Other, class_of);
    let came = left.pc != 0 && !matches!(left.why, Why::Ended | Why::Absent);
    came.then(|| Arrival::new(left.index, class, left.pc, left.object))
}

fn obstacle(why: Why) -> Obstacle {
    match why {
        Why::Unknown => Obstacle::Unknown,
        Why::Blocked => Obstacle::Blocked,
        Why::Ended => Obstacle::Ended,
        Why::Absent => Obstacle::Absent,
        Why::Spins => Obstacle::Spins,
        Why::Away => Obstacle::Away,
        Why::OtherEvent => Obstacle::OtherEvent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ended_came_to_nothing() {
        let left = |why| Left { thread: 1, why, kind: 0x60, pc: 5, object: 7, index: 9 };
        assert_eq!(arrival(&left(Why::Ended)), None);
        let blocked = arrival(&left(Why::Blocked)).unwrap();
        assert_eq!((blocked.index, &*blocked.class, blocked.object), (9, "lock", 7));
    }
}
