//! One execution: the program is forced through a schedule, and what it does is compared with what
//! the recorded run did.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use norn_abi::control::{Plan, after};
use norn_model::{Consequence, Segment, ThreadId, Until, Verdict, Visit};
use norn_record::{Control, Recording, Streams};
use norn_replay::{
    Clip, Codes, Ran, ReplayError, Scene, arrange, consequence, process,
    story::{self, Story},
    verdict,
};
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
    pub(crate) clip: Clip,
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

    /// Runs the program once, with a trace in `trace`.
    pub(crate) fn run(
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
        let mut run = Run::judged(recording, trace)?;
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
        let (clip, needed) = clip(source, witness);
        let control = Control {
            plan: Plan { after: after::FAIR, max_steps: options.max_steps, ..clip.plan() },
            ..norn_replay::plan(&clip, &Codes::open(&clip)?)?
        };
        let trace = self.next();
        let run = self.run(options, control, &trace)?;
        let outcome = run.recording.run.controlled.as_ref().map(|it| &it.outcome);
        let verdict = outcome.map_or(Verdict::Followed(0), |it| verdict(it, &clip.schedule));
        Ok(Attempt { clip, needed, verdict, run, trace })
    }
}

impl Run {
    /// Says what a run led to, and how it came to that if it failed.
    fn judged(recording: Recording, trace: &Path) -> Result<Run, ReplayError> {
        let judge = |it: &Recording| consequence(it, trace);
        let consequence =
            Some(&recording).filter(|it| it.recorded).map_or_else(Default::default, judge);
        if !consequence.is_failure() {
            return Ok(Run { recording, consequence, story: None, output: Output::default() });
        }
        let scene = Some(Scene::open(trace, process(&recording))?);
        let ran = Ran { recording, scene, consequence };
        let story = story::story(&ran);
        let Ran { recording, consequence, .. } = ran;
        Ok(Run { recording, consequence, story, output: Output::default() })
    }

    /// The process of which there is a trace.
    pub(crate) fn process(&self) -> Option<u32> {
        self.recording.recorded.then(|| process(&self.recording))
    }
}

impl Attempt {
    /// Whether the program did the candidate. A schedule that keeps all values of the recorded run
    /// needs no second look.
    pub(crate) fn is_confirmed(
        &self,
        source: &Source,
        witness: &Witness,
    ) -> Result<bool, ReplayError> {
        if !self.is_followed() || witness.grade == Grade::Sound {
            return Ok(self.is_followed());
        }
        let Some(process) = self.run.process() else { return Ok(false) };
        confirm::is_same(source, &witness.candidate, (&self.trace, process))
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

/// A clip of the witness's schedule, and how many of its segments lead to the candidate's last event.
/// The thread that does it goes on, since nobody is so likely to suffer from it: it may have read
/// what is only half there.
fn clip(source: &Source, witness: &Witness) -> (Clip, usize) {
    let mut turns: Vec<(ThreadId, u64)> =
        witness.turns.iter().map(|it| (it.thread, it.until)).collect();
    if let Some((_, until)) = turns.last_mut() {
        *until = until.saturating_sub(1);
    }
    let mut clip = arrange(&source.scene, &source.trace, &turns);
    let needed = clip.schedule.segments.len();
    if let Some(Segment { thread, until: Until::Event { at: Some(at), .. } }) =
        clip.schedule.segments.last().cloned()
    {
        let once = Visit { times: 1, ..at };
        let after = [Until::After(once), Until::Blocks];
        let segments = after.map(|until| Segment { thread: thread.clone(), until });
        clip.schedule.segments.extend(segments);
    }
    (clip, needed)
}

/// Makes a folder.
pub(crate) fn make(path: &Path) -> Result<(), ReplayError> {
    let failed = |source| ReplayError::Scratch { path: path.to_owned(), source };
    fs::create_dir_all(path).map_err(failed)
}
