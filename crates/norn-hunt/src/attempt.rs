//! One execution: the program is forced through a schedule, and what it does is compared with what
//! the recorded run did.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use norn_abi::control::{Plan, after};
use norn_model::{
    Access, BugClass, Candidate, Consequence, Departure, EventId, Limit, Obstacle, Schedule,
    Segment, ThreadId, ThreadName, Until, Verdict, Visit,
};
use norn_record::{Control, Recording, Streams};
use norn_replay::{Clip, Codes, Ran, ReplayError, arrange, consequence, process, story, verdict};
use norn_report::Story;
use norn_trace::Outcome;
use norn_witness::{Grade, Witness};

use crate::{Options, confirm, source::Source};

/// What a program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output(Vec<u8>);

/// A folder for everything that is needed on the way.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    runs: AtomicUsize,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) recording: Recording,
    pub(crate) consequence: Consequence,
    /// How it came to that.
    pub(crate) story: Option<Story>,
    pub(crate) output: Output,
}

/// What came of an attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    clip: Clip,
    /// Events of each thread up to the candidate's last event, and that one.
    expected: BTreeMap<ThreadId, u64>,
    /// Segments up to the candidate's last event.
    needed: usize,
    pub(crate) verdict: Verdict,
    pub(crate) run: Run,
    /// What it left.
    pub(crate) trace: PathBuf,
}

impl Scratch {
    pub(crate) fn new(folder: &Path) -> Scratch {
        Scratch { folder: folder.to_owned(), runs: AtomicUsize::new(0) }
    }

    /// A name that was not given before.
    pub(crate) fn next(&self) -> PathBuf {
        self.folder.join(format!("{}", self.runs.fetch_add(1, Ordering::Relaxed)))
    }

    /// Runs the program, with a trace in `trace`. If it does not end in time, that may be the fault
    /// of a busy machine: it is run once more, with twice the time.
    pub(crate) fn run(
        &self,
        options: &Options,
        control: Control,
        trace: &Path,
    ) -> Result<Run, ReplayError> {
        let run = self.run_once(options, control.clone(), trace)?;
        match (&run.consequence, options.run.timeout) {
            (Consequence::Hang(Limit::Seconds(_)), Some(time)) => {
                self.run_once(&options.limited(2 * time), control, trace)
            }
            _ => Ok(run),
        }
    }

    fn run_once(
        &self,
        options: &Options,
        control: Control,
        trace: &Path,
    ) -> Result<Run, ReplayError> {
        let files = self.next();
        make(&files)?;
        let (stdout, stderr) = (files.join("stdout"), files.join("stderr"));
        let streams = Streams::Files { stdout: stdout.clone(), stderr };
        let options = norn_record::Options {
            output: trace.to_owned(),
            control: Some(control),
            streams,
            apart: true,
            ..options.run.clone()
        };
        let recording = norn_record::record(&options)?;
        let mut run = Run::judged(recording, trace);
        run.output = Output(fs::read(&stdout).unwrap_or_default());
        let _ = fs::remove_dir_all(&files);
        Ok(run)
    }

    /// Forces the program through a witness's schedule.
    pub(crate) fn attempt(
        &self,
        options: &Options,
        source: &Source,
        witness: &Witness,
    ) -> Result<Attempt, ReplayError> {
        let Forced { clip, needed, expected } = clip(source, witness);
        let control = Control {
            plan: Plan { after: after::FAIR, max_steps: options.max_steps, ..clip.plan() },
            ..norn_replay::plan(&clip, &Codes::open(&clip)?)?
        };
        let trace = self.next();
        let run = self.run(options, control, &trace)?;
        let outcome = run.recording.run.controlled.as_ref().map(|it| &it.outcome);
        let verdict = outcome.map_or(Verdict::Followed(0), |it| judged(it, &clip));
        Ok(Attempt { clip, expected, needed, verdict, run, trace })
    }
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

impl Run {
    /// Says what a run led to, and how it came to that if it failed.
    fn judged(recording: Recording, trace: &Path) -> Run {
        let judge = |it: &Recording| consequence(it, trace);
        let consequence =
            Some(&recording).filter(|it| it.recorded).map_or_else(Default::default, judge);
        if !consequence.is_failure() {
            return Run { recording, consequence, story: None, output: Output::default() };
        }
        let process = process(&recording);
        let ran = Ran::new(recording, consequence, trace, process);
        let story = story::story(&ran);
        let Ran { recording, consequence, .. } = ran;
        Run { recording, consequence, story, output: Output::default() }
    }

    /// The process of which there is a trace.
    pub(crate) fn process(&self) -> Option<u32> {
        self.recording.recorded.then(|| process(&self.recording))
    }
}

impl Attempt {
    /// Whether the program did the candidate. If it followed a schedule that keeps all values of the
    /// recorded run, it did, unless what it accessed says otherwise.
    pub(crate) fn is_confirmed(
        &self,
        source: &Source,
        witness: &Witness,
    ) -> Result<bool, ReplayError> {
        if !witness.candidate.stuck.is_empty() {
            let stuck = confirm::is_stuck(source, &witness.candidate, &self.run);
            return Ok(self.is_followed() && stuck);
        }
        let followed = self.is_followed();
        // That the time ran out then and there is a segment of its own.
        if witness.candidate.expires().is_some() {
            return Ok(followed);
        }
        let sound = followed && witness.grade == Grade::Sound;
        let Some(process) = self.run.process() else { return Ok(sound) };
        let trace = (self.trace.as_path(), process);
        if sound {
            return confirm::is_plausible(source, &witness.candidate, trace);
        }
        let end = confirm::End { followed, consequence: &self.run.consequence };
        confirm::is_done(source, &witness.candidate, trace, end)
    }

    /// A clip of it that is kept: it has the path of the witness, and what it led to.
    pub(crate) fn kept(&self, source: &Source) -> Clip {
        let mut clip = self.clip.clone();
        clip.expect_path(&source.scene, &self.expected);
        clip.expect = Some(self.run.consequence.clone());
        clip
    }

    /// Whether it came to the candidate's last event as the schedule says. What it does afterwards
    /// is its own affair.
    pub(crate) fn is_followed(&self) -> bool {
        let done = match &self.verdict {
            Verdict::Followed(segments) => *segments,
            Verdict::Diverged(departure) | Verdict::Infeasible(departure) => departure.segment,
        };
        done as usize >= self.needed
    }
}

/// A clip to try.
struct Forced {
    clip: Clip,
    needed: usize,
    expected: BTreeMap<ThreadId, u64>,
}

/// A clip of the witness's schedule, and how many of its segments lead to the candidate's last event.
/// The thread that does it goes on, since nobody is so likely to suffer from it: it may have read
/// what is only half there.
fn clip(source: &Source, witness: &Witness) -> Forced {
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
        return Forced { clip, needed, expected };
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
    Forced { clip, needed, expected }
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
    Forced { clip, needed, expected: turns.iter().copied().collect() }
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

/// Makes a folder.
pub(crate) fn make(path: &Path) -> Result<(), ReplayError> {
    let failed = |source| ReplayError::Scratch { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)
}
