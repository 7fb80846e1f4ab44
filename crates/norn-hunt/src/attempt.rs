//! An attempt: a schedule for a candidate becomes a clip that is forced on the program, and what the
//! program did is held against it.

use std::collections::BTreeMap;

use norn_model::{
    Access, BugClass, Candidate, Departure, EventId, Obstacle, Schedule, Segment, ThreadId,
    ThreadName, Until, Verdict, Visit,
};
use norn_replay::{Clip, ReplayError, arrange, verdict};
use norn_trace::Outcome;
use norn_witness::{Grade, Witness};

use crate::{confirm, executor::Run, source::Source};

/// A clip that is forced on the program.
#[derive(Debug)]
pub(crate) struct Forced {
    pub(crate) clip: Clip,
    /// Segments up to the candidate's last event.
    needed: usize,
    /// Events of each thread up to the candidate's last event, and that one.
    expected: BTreeMap<ThreadId, u64>,
    /// How far the program followed.
    pub(crate) verdict: Verdict,
}

impl Forced {
    fn new(clip: Clip, needed: usize, expected: BTreeMap<ThreadId, u64>) -> Forced {
        Forced { clip, needed, expected, verdict: Verdict::Followed(0) }
    }

    /// Learns how far the program followed.
    pub(crate) fn judge(&mut self, outcome: &Outcome) {
        self.verdict = judged(outcome, &self.clip);
    }

    /// A clip to be kept: it has the path of the witness, and what it led to.
    pub(crate) fn kept(&self, source: &Source, run: &Run) -> Clip {
        let mut clip = self.clip.clone();
        clip.expect_path(&source.scene, &self.expected);
        clip.expect = Some(run.consequence().clone());
        clip
    }

    /// Whether the program came to the candidate's last event as the schedule says. What it does
    /// afterwards is its own affair.
    pub(crate) fn is_followed(&self) -> bool {
        let done = match &self.verdict {
            Verdict::Followed(segments) => *segments,
            Verdict::Diverged(departure) | Verdict::Infeasible(departure) => departure.segment,
        };
        done as usize >= self.needed
    }
}

/// Whether the program did the candidate. If it followed a schedule that keeps all values of the
/// recorded run, it did, unless what it accessed says otherwise.
pub(crate) fn is_confirmed(
    source: &Source,
    witness: &Witness,
    run: &Run,
) -> Result<bool, ReplayError> {
    let candidate = &witness.candidate;
    let followed = run.forced.as_ref().is_some_and(Forced::is_followed);
    if !candidate.stuck.is_empty() {
        return Ok(followed && confirm::is_stuck(source, candidate, run));
    }
    // That the time ran out then and there is a segment of its own.
    if candidate.expires().is_some() {
        return Ok(followed);
    }
    let sound = followed && witness.grade == Grade::Sound;
    let Some(did) = run.source()? else { return Ok(sound) };
    if sound {
        return Ok(confirm::is_plausible(source, candidate, did));
    }
    let end = confirm::End { followed, consequence: run.consequence() };
    Ok(confirm::is_done(source, candidate, did, end))
}

/// Whether a run went as its schedule says. One that asked for other inputs than those that were fed
/// back proves nothing: what it got instead may be all that went wrong.
fn judged(outcome: &Outcome, clip: &Clip) -> Verdict {
    let verdict = verdict(outcome, &clip.schedule);
    let parted = outcome.fed.as_ref().and_then(|it| it.parted.as_ref());
    match (parted, verdict) {
        (Some(parted), Verdict::Followed(segment)) => Verdict::Diverged(Departure {
            segment,
            thread: ThreadName(parted.thread.clone().unwrap_or_default()),
            why: Obstacle::OtherEvent,
            actual: None,
        }),
        (_, verdict) => verdict,
    }
}

/// A clip of the witness's schedule, and how many of its segments lead to the candidate's last event.
/// The thread that does it goes on, since nobody is so likely to suffer from it: it may have read
/// what is only half there.
pub(crate) fn force(source: &Source, witness: &Witness) -> Forced {
    let mut turns: Vec<(ThreadId, u64)> =
        witness.turns.iter().map(|it| (it.thread, it.until)).collect();
    if !witness.candidate.stuck.is_empty() {
        return into_impasse(source, &witness.candidate, &turns);
    }
    let expires = witness.candidate.expires();
    if let Some(early) = too_early(&witness.candidate).or(expires) {
        cut(&mut turns, early);
    }
    let expected = turns.iter().copied().collect();
    if let Some((_, until)) = turns.last_mut() {
        *until = until.saturating_sub(1);
    }
    let mut clip = arrange(&source.scene, &source.trace, &turns);
    if let Some(wait) = expires {
        let needed = run_out(source, &turns, wait, &mut clip.schedule);
        return Forced::new(clip, needed, expected);
    }
    let needed = clip.schedule.segments.len();
    if let Some(Segment { thread, until: Until::Event { at: Some(at), .. } }) =
        clip.schedule.segments.last().cloned()
    {
        let once = Visit { times: 1, ..at };
        let after = [Until::After(once), Until::Blocks];
        let segments = after.map(|until| Segment { thread: thread.clone(), until });
        clip.schedule.segments.extend(segments);
    }
    Forced::new(clip, needed, expected)
}

/// Lets the time of a wait run out as soon as its thread has come there, and that thread go on in the
/// end. How many segments it takes to come to that.
fn run_out(
    source: &Source,
    turns: &[(ThreadId, u64)],
    wait: EventId,
    schedule: &mut Schedule,
) -> usize {
    let waits = |it: &(ThreadId, u64)| it.0 == wait.thread && it.1 >= wait.index;
    let at = turns.iter().position(waits).map_or(turns.len(), |it| it + 1);
    let segment = |until| Segment { thread: source.scene.thread(wait.thread), until };
    schedule.segments.insert(at, segment(Until::Timeout));
    let needed = schedule.segments.len();
    schedule.segments.push(segment(Until::Blocks));
    needed
}

/// A clip that brings threads right before where they get stuck, and lets each of them go on.
fn into_impasse(source: &Source, candidate: &Candidate, turns: &[(ThreadId, u64)]) -> Forced {
    let mut clip = arrange(&source.scene, &source.trace, turns);
    let needed = clip.schedule.segments.len();
    let threads = candidate.stuck.iter().map(|it| source.scene.thread(it.event.thread));
    let goes_on = threads.map(|thread| Segment { thread, until: Until::Blocks });
    clip.schedule.segments.extend(goes_on);
    Forced::new(clip, needed, turns.iter().copied().collect())
}

/// The use that comes too early. As soon as it has happened the order is violated; its thread goes on
/// with what it has seen, before the write can repair anything.
pub(crate) fn too_early(candidate: &Candidate) -> Option<EventId> {
    let first = candidate.steps.first()?;
    let uses = matches!(first.access, Access::Read | Access::Use);
    (candidate.class() == BugClass::Order && uses).then_some(first.event)
}

/// Lets turns end with an event.
fn cut(turns: &mut Vec<(ThreadId, u64)>, event: EventId) {
    let has = |it: &(ThreadId, u64)| it.0 == event.thread && it.1 > event.index;
    if let Some(at) = turns.iter().position(has) {
        turns.truncate(at + 1);
        turns[at].1 = event.index + 1;
    }
}
