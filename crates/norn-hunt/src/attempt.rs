//! An attempt: turns the schedule of a candidate into a clip, forces it on the program, and
//! compares the run with the schedule.

use std::collections::BTreeMap;

use norn_model::{
    Access, BugClass, Candidate, CandidateKind, Consequence, Departure, EventId, Obstacle,
    Schedule, Segment, Step, ThreadId, ThreadName, Until, Verdict, Visit,
};
use norn_replay::{Clip, ReplayError, arrange, point, verdict};
use norn_trace::Outcome;
use norn_witness::{Grade, Witness};

use crate::{
    confirm,
    continuation::{self, Continuation},
    executor::Run,
    perturbation::Perturbation,
    source::Source,
    unrecorded_sync,
    woken::was_woken,
};

/// A clip that is forced on the program.
#[derive(Debug)]
pub(crate) struct Forced {
    pub(crate) clip: Clip,
    /// Number of segments up to and including the candidate's last event.
    needed: usize,
    /// For each thread, its number of events up to and including the candidate's last event.
    expected: BTreeMap<ThreadId, u64>,
    /// How far the program followed the schedule.
    pub(crate) verdict: Verdict,
}

impl Forced {
    fn new(clip: Clip, needed: usize, expected: BTreeMap<ThreadId, u64>) -> Forced {
        Forced { clip, needed, expected, verdict: Verdict::Followed(0) }
    }

    /// The events that the run begins with if the program follows, by thread.
    pub(crate) fn prefix(&self, source: &Source) -> BTreeMap<ThreadName, u64> {
        let name = |it: &ThreadId| source.symbolized.thread(*it);
        self.expected.iter().map(|(thread, events)| (name(thread), *events)).collect()
    }

    /// Determines from the outcome of the run how far the program followed.
    pub(crate) fn judge(&mut self, outcome: &Outcome) {
        self.verdict = judged(outcome, &self.clip);
    }

    /// The clip to keep: it also has the path of the witness and the consequence of the run.
    pub(crate) fn kept(&self, source: &Source, run: &Run) -> Clip {
        let mut clip = self.clip.clone();
        clip.expect_path(&source.symbolized, &self.expected);
        clip.expect = Some(run.consequence().clone());
        clip
    }

    /// The thread that left the schedule before the candidate's last event.
    pub(crate) fn departed(&self, source: &Source) -> Option<ThreadId> {
        let (Verdict::Diverged(departure) | Verdict::Infeasible(departure)) = &self.verdict else {
            return None;
        };
        let mut threads = source.trace.threads.iter();
        let thread = threads.find(|it| it.name == departure.thread)?;
        Some(thread.id).filter(|_| !self.is_followed())
    }

    /// Whether the program performed the candidate's last event as scheduled. What it does afterwards
    /// does not matter.
    pub(crate) fn is_followed(&self) -> bool {
        let done = match &self.verdict {
            Verdict::Followed(segments) => *segments,
            Verdict::Diverged(departure) | Verdict::Infeasible(departure) => departure.segment,
        };
        done as usize >= self.needed || self.has_ended_there()
    }

    /// Whether the run ended in the segment of the last event, as by a crash: its thread does not arrive at
    /// another event then, which would end the segment.
    fn has_ended_there(&self) -> bool {
        let Verdict::Followed(segments) = self.verdict else { return false };
        let due = self.clip.schedule.segments.get(segments as usize);
        segments as usize + 1 == self.needed
            && due.is_some_and(|it| matches!(it.until, Until::After(_)))
    }
}

/// Whether the program performed the candidate. A run that followed a schedule that preserves all
/// recorded values did, unless its own accesses contradict it.
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
    // The expiry of the wait is a segment of its own.
    if candidate.expires().is_some() {
        return Ok(followed);
    }
    // The runtime itself detects these: a schedule alone does not show that the lock is still held, or
    // that the number of the descriptor does not belong to another file meanwhile.
    if matches!(candidate.class(), BugClass::LockMisuse | BugClass::Descriptor) {
        return Ok(followed && matches!(run.consequence(), Consequence::Misuse(_)));
    }
    if candidate.is_unordered_race() {
        let did = run.source()?;
        let is_unordered = did.is_some_and(|did| confirm::is_unordered(source, candidate, did));
        return Ok(is_unordered && unrecorded_sync::between(source, candidate, run)?.is_none());
    }
    if confirm::is_contradicted(candidate, run.consequence()) {
        return Ok(false);
    }
    if candidate.kind == CandidateKind::StolenWakeUp {
        let did = run.source()?;
        if did.is_some_and(|did| !was_woken(source, candidate, did)) {
            return Ok(false);
        }
    }
    let sound = followed && witness.grade == Grade::Sound;
    let Some(did) = run.symbolized()? else { return Ok(sound) };
    if sound {
        return Ok(confirm::is_plausible(source, candidate, did));
    }
    let end = confirm::End { followed, consequence: run.consequence() };
    Ok(confirm::is_done(source, candidate, did, end))
}

/// Whether a run followed its schedule. A run that requested other inputs than the recorded ones
/// proves nothing: it may have failed only because of the inputs that it received instead.
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

/// The clip of a witness's schedule, with the number of segments that lead to the candidate's last
/// event. Then its threads continue, one after the other.
pub(crate) fn force(source: &Source, witness: &Witness, continuation: Continuation) -> Forced {
    let mut turns = source.turns(witness);
    turns.retain(|it| source.trace.can_be_scheduled(it.0));
    if !witness.candidate.stuck.is_empty() {
        return into_impasse(source, &witness.candidate, &turns);
    }
    let recorded = |it: EventId| source.recorded(it);
    let expires = witness.candidate.expires().map(recorded);
    let destroys = destroys(&witness.candidate).map(recorded);
    let early = too_early(&witness.candidate).map(recorded);
    if let Some(early) = early.or(expires).or(destroys) {
        cut(&mut turns, early);
    }
    let expected = turns.iter().copied().collect();
    if let Some((_, until)) = turns.last_mut() {
        *until = until.saturating_sub(1);
    }
    let mut clip = arrange(&source.symbolized, &turns);
    if let Some(wait) = expires {
        let needed = run_out(source, &turns, wait, &mut clip.schedule);
        return Forced::new(clip, needed, expected);
    }
    let last = last_event(source, &turns);
    let needed = clip.schedule.segments.len() + usize::from(last.is_some());
    if let Some([done, rest]) = last {
        let first = continuation::first(source, witness, &turns, continuation);
        clip.schedule.segments.extend([done].into_iter().chain(first).chain([rest]));
        clip.list_modules(&source.symbolized);
    }
    Forced::new(clip, needed, expected)
}

/// The segment of the event that comes after the turns, in the thread of the last one, and the segment in which that
/// thread continues. Counted events lead only up to that event: a read before it may see another value, so that
/// the thread takes another path there.
fn last_event(source: &Source, turns: &[(ThreadId, u64)]) -> Option<[Segment; 2]> {
    let &(thread, index) = turns.last()?;
    let event = source.symbolized.trace.event(EventId { thread, index })?;
    let once = Visit { point: point(&source.symbolized, event.site), times: 1 };
    let name = source.symbolized.thread(thread);
    Some([Until::After(once), Until::Blocks].map(|until| Segment { thread: name.clone(), until }))
}

/// The clip of a perturbation.
pub(crate) fn perturb(source: &Source, perturbation: &Perturbation) -> Forced {
    let (clip, needed) = perturbation.clip(source);
    Forced::new(clip, needed, perturbation.kept(source))
}

/// Lets a wait expire as soon as its thread has reached it, and lets that thread continue at the
/// end. Returns the number of segments that this takes.
fn run_out(
    source: &Source,
    turns: &[(ThreadId, u64)],
    wait: EventId,
    schedule: &mut Schedule,
) -> usize {
    let waits = |it: &(ThreadId, u64)| it.0 == wait.thread && it.1 >= wait.index;
    let at = turns.iter().position(waits).map_or(turns.len(), |it| it + 1);
    let segment = |until| Segment { thread: source.symbolized.thread(wait.thread), until };
    schedule.segments.insert(at, segment(Until::Timeout));
    let needed = schedule.segments.len();
    schedule.segments.push(segment(Until::Blocks));
    needed
}

/// A clip that brings each thread to just before the event in which it blocks, and then lets each
/// of them continue into the deadlock.
fn into_impasse(source: &Source, candidate: &Candidate, turns: &[(ThreadId, u64)]) -> Forced {
    let mut clip = arrange(&source.symbolized, turns);
    let needed = clip.schedule.segments.len();
    let threads = candidate.stuck.iter().map(|it| source.symbolized.thread(it.event.thread));
    let goes_on = threads.map(|thread| Segment { thread, until: Until::Blocks });
    clip.schedule.segments.extend(goes_on);
    Forced::new(clip, needed, turns.iter().copied().collect())
}

/// The use that comes too early. The order is violated as soon as it has happened; its thread then
/// continues with the value that it has read, before the write can repair anything. A combination of several reads
/// is violated by all of them.
pub(crate) fn too_early(candidate: &Candidate) -> Option<EventId> {
    let first = candidate.steps.first().filter(|_| candidate.steps.len() == 2)?;
    let uses = matches!(first.access, Access::Read | Access::Use);
    (candidate.class() == BugClass::Order && uses).then_some(first.event)
}

/// The destruction of an object that another thread uses. The run ends there, before the thread is done
/// with the object.
fn destroys(candidate: &Candidate) -> Option<EventId> {
    let destroys = |it: &&Step| it.access == Access::Destroy;
    let step = candidate.steps.iter().find(destroys);
    step.filter(|_| candidate.class() == BugClass::LockMisuse).map(|it| it.event)
}

/// Truncates the turns so that they end with an event.
fn cut(turns: &mut Vec<(ThreadId, u64)>, event: EventId) {
    let has = |it: &(ThreadId, u64)| it.0 == event.thread && it.1 > event.index;
    if let Some(at) = turns.iter().position(has) {
        turns.truncate(at + 1);
        turns[at].1 = event.index + 1;
    }
}
