//! Shortens the schedule of a run that failed: the same events with fewer context switches.
//!
//! The order of dependent events stays as it is, so that every read sees the same value
//! ([`norn_witness::Minimiser`]). What a thread was about to do when the run ended is no event, and may
//! depend on more than the events show; so the caller replays the result before it relies on it.

use norn_model::{Schedule, Segment, ThreadId, Until};
use norn_replay::{Clip, ReplayError, arrange};
use norn_report::FailureKind;
use norn_witness::{Minimiser, Turn};

use crate::{executor::Run, source::Source};

/// Runs with more events keep their schedule: to shorten it would take longer than to replay it.
const MOST_EVENTS: usize = 200_000;

/// A clip with a shorter schedule for a run that has failed and whose schedule is that of `clip`; none if
/// there is none.
pub(crate) fn shorten(run: &Run, clip: &Clip) -> Result<Option<Clip>, ReplayError> {
    let Some(source) = run.source()? else { return Ok(None) };
    let events = source.symbolized.trace.counts().events;
    let is_whole = usize::try_from(events).is_ok_and(|it| it == source.trace.len());
    let expires = clip.schedule.segments.iter().any(|it| it.until == Until::Timeout);
    if !is_whole || source.trace.len() > MOST_EVENTS || expires || run.older_loads() > 0 {
        return Ok(None);
    }
    let turns = Minimiser::new(&source.trace).with_fewer_switches(&recorded(source));
    let turns: Vec<_> = turns.iter().map(|it| (it.thread, it.until)).collect();
    let mut shorter = arrange(&source.symbolized, &turns);
    let last = last(source, run, &turns);
    let segment = |thread: &ThreadId| Segment {
        thread: source.symbolized.thread(*thread),
        until: Until::Blocks,
    };
    shorter.schedule.segments.extend(last.iter().map(segment));
    shorter.expect_path(&source.symbolized, &turns.iter().copied().collect());
    let count = |it: &Schedule| it.segments.len();
    Ok(Some(shorter).filter(|it| count(&it.schedule) < count(&clip.schedule)))
}

/// The order of the run itself.
fn recorded(source: &Source) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for event in source.trace.merged() {
        let (thread, until) = (event.id.thread, event.id.index + 1);
        match turns.last_mut().filter(|it| it.thread == thread) {
            Some(turn) => turn.until = until,
            None => turns.push(Turn { thread, until }),
        }
    }
    turns
}

/// The threads that have to continue into the failure: all that are blocked in a deadlock, or the one of
/// the last event.
fn last(source: &Source, run: &Run, turns: &[(ThreadId, u64)]) -> Vec<ThreadId> {
    let Some(FailureKind::Stuck(stuck)) = run.story.as_ref().map(|it| &it.failure) else {
        let failed = source.trace.merged().last().map(|it| it.id.thread);
        return failed.or(turns.last().map(|it| it.0)).into_iter().collect();
    };
    let is_stuck = |it: &&norn_model::Thread| {
        let name = source.symbolized.thread(it.id);
        stuck.waiters.iter().any(|waiter| waiter.step.thread == name)
    };
    source.trace.threads.iter().filter(is_stuck).map(|it| it.id).collect()
}
