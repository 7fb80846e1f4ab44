//! The consequence of a run, and the verdict whether it followed its schedule.

use std::os::unix::process::ExitStatusExt as _;

use norn_frontend::{Cut, FailureMessage, Recording};
use norn_model::{
    Arrival, Class, Consequence, Departure, Limit, Location, MemoryFault, Misuse, Obstacle,
    Schedule, Segment, Until, Verdict,
};
use norn_trace::{End, Follow, Found, Kind, Left, Outcome, Why, class_of};

use crate::SymbolizedTrace;

const SIGABRT: i32 = 6;

/// The consequence of a run. `site` symbolizes an address in the code.
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
            None => exited(status, recording),
        },
    }
}

/// The consequence of an error status. A Rust program whose main thread panics ends with one, after a message.
fn exited(status: i32, recording: &Recording) -> Consequence {
    match recording.message.clone() {
        Some(FailureMessage::Panic { message, at }) => Consequence::Panic { message, at },
        _ => Consequence::Exit(status),
    }
}

/// The signal that killed a process of the program. If the process that Norn started is, for example,
/// a shell, only its exit status reflects that.
fn killer(recording: &Recording) -> Option<i32> {
    let outcome = &recording.run.controlled.as_ref()?.outcome;
    let aborted = outcome.text.as_ref().map(|_| SIGABRT);
    aborted.or_else(|| outcome.signal.map(|it| it.number))
}

/// The consequence of a run in a debugger. The exit status is the debugger's, not the program's.
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
        Some(End::Exited(status @ 1..)) => exited(status, recording),
        _ => Consequence::None,
    }
}

/// The consequence that does not depend on the exit status: the runtime found a failure, or Norn
/// ended the program.
fn known(recording: &Recording) -> Option<Consequence> {
    let controlled = recording.run.controlled.as_ref();
    let found = controlled.and_then(|it| found(&it.outcome, it.max_steps));
    found.or_else(|| match recording.cut? {
        Cut::Timeout(time) => Some(Consequence::Unfinished(Limit::Seconds(time.as_secs()))),
        Cut::Found | Cut::Interrupt(_) | Cut::Cancelled => Some(Consequence::None),
    })
}

/// The failure that the runtime found.
fn found(outcome: &Outcome, max_steps: u64) -> Option<Consequence> {
    Some(match outcome.found {
        Found::None | Found::Stopped => return None,
        Found::Deadlock => Consequence::Deadlock,
        Found::Livelock => Consequence::Livelock,
        // The run ends earlier if all threads spin.
        Found::Steps if max_steps == 0 => Consequence::Unfinished(Limit::Steps(outcome.steps)),
        Found::Steps => Consequence::Unfinished(Limit::Steps(outcome.steps.min(max_steps))),
        Found::UseAfterFree => Consequence::Memory(MemoryFault::UseAfterFree),
        Found::DoubleFree => Consequence::Memory(MemoryFault::DoubleFree),
        Found::BadFree => Consequence::Memory(MemoryFault::BadFree),
        Found::OutOfBounds => Consequence::Memory(MemoryFault::OutOfBounds),
        Found::UseAfterDestroy => Consequence::Memory(MemoryFault::UseAfterDestroy),
        Found::UnlockNotHeld => Consequence::Misuse(Misuse::UnlockNotHeld),
        Found::WaitNotHeld => Consequence::Misuse(Misuse::WaitNotHeld),
        Found::Relock => Consequence::Misuse(Misuse::Relock),
        Found::DestroyInUse => Consequence::Misuse(Misuse::DestroyInUse),
        Found::EndHoldingLock => Consequence::Misuse(Misuse::EndHoldingLock),
        Found::UseAfterClose => Consequence::Misuse(Misuse::UseAfterClose),
        Found::DoubleClose => Consequence::Misuse(Misuse::DoubleClose),
        Found::CloseInUse => Consequence::Misuse(Misuse::CloseInUse),
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
        // A signal has the address of the instruction itself, not a return address.
        let at = hit.and_then(|it| site(it.pc.wrapping_add(1)));
        return Consequence::Signal { signal, at };
    }
    match recording.message.clone() {
        Some(FailureMessage::Assertion { condition, .. }) => Consequence::Assertion(condition),
        Some(FailureMessage::Exception { class, what }) => Consequence::Exception { class, what },
        Some(FailureMessage::Panic { message, at }) => Consequence::Panic { message, at },
        None => Consequence::Abort,
    }
}

/// Whether a run followed its schedule.
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

/// Whether the program ended in the last segment, and that segment ends with the program.
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

/// The event that a thread arrived at; none if the thread ended or never existed.
fn arrival(left: &Left) -> Option<Arrival> {
    let class = Kind::from_code(left.kind).map_or(Class::Other, class_of);
    let arrived = left.pc != 0 && !matches!(left.why, Why::Ended | Why::Absent);
    arrived.then(|| Arrival::new(left.index, class, left.pc, left.object))
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
    fn a_thread_that_ended_arrives_at_no_event() {
        let left = |why| Left { thread: 1, why, kind: 0x60, pc: 5, object: 7, index: 9 };
        assert_eq!(arrival(&left(Why::Ended)), None);
        let blocked = arrival(&left(Why::Blocked)).unwrap();
        assert_eq!((blocked.index, &*blocked.class, blocked.object), (9, "lock", 7));
    }
}
