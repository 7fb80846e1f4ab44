//! Executes the program: along a schedule, or exploring.
//!
//! The trace of a run is opened on its first use, and only once: to confirm, to compare with
//! earlier runs, to describe and to make a clip.

use std::{
    cell::OnceCell,
    fs::{self, File},
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
    sync::Arc,
    time::Duration,
};

use norn_frontend::{After, Cancel, Interrupt, Launch, Plan as RunPlan};
use norn_model::{Consequence, FailureSite};
use norn_replay::{
    Clip, CompletedRun, ReplayError, RunFolder, RunFolders, SymbolizedTrace, failure_site, story,
};
use norn_report::{Ended, Story};
use norn_trace::Lifetime;
use norn_witness::Witness;

use crate::{
    Options,
    attempt::{Forced, force, perturb},
    campaign::Executor,
    continuation::Continuation,
    explore,
    guide::Mutation,
    perturbation::Perturbation,
    source::{Loading, Source},
};

/// Maximum number of lines that are quoted of what a failing program printed, and of characters of each.
const PRINTED_LINES: usize = 5;
const PRINTED_LENGTH: usize = 300;
/// Number of bytes at the end of its standard error in which these lines are.
const PRINTED_BYTES: u64 = 4096;

/// What a program hands over when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    stdout: Vec<u8>,
    /// The exit status, if the normal one is not 0: then a status is a result, not a failure.
    pub(crate) status: Option<i32>,
}

/// Specifies a run.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    /// Force the schedule of a witness, which was found in a trace.
    Follow(Arc<Source>, Arc<Witness>, Continuation),
    /// Hold threads at places, in a program whose trace this is.
    Perturb(Arc<Source>, Arc<Perturbation>),
    /// Explore: the number of the run, and its approximate number of events.
    Explore(usize, u64),
    /// Explore: repeat a run with another disturbance.
    Mutate(Mutation),
    /// Explore along a schedule that lets unfinished threads continue.
    Finish(Arc<Clip>),
}

impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        match (self, other) {
            (Plan::Follow(source, witness, how), Plan::Follow(other, same, so)) => {
                Arc::ptr_eq(source, other) && witness == same && how == so
            }
            (Plan::Perturb(source, perturbation), Plan::Perturb(other, same)) => {
                Arc::ptr_eq(source, other) && perturbation == same
            }
            (Plan::Explore(number, events), Plan::Explore(other, same)) => {
                (number, events) == (other, same)
            }
            (Plan::Mutate(mutation), Plan::Mutate(other)) => mutation == other,
            (Plan::Finish(clip), Plan::Finish(other)) => Arc::ptr_eq(clip, other),
            (
                Plan::Follow(..)
                | Plan::Perturb(..)
                | Plan::Explore(..)
                | Plan::Mutate(_)
                | Plan::Finish(_),
                _,
            ) => false,
        }
    }
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Run {
    completed: CompletedRun,
    /// Where it failed, if it did.
    pub(crate) failure: Option<FailureSite>,
    /// The explanation of its failure, if it failed.
    pub(crate) story: Option<Story>,
    /// The last lines that it wrote to standard error, if it failed.
    pub(crate) printed: Vec<String>,
    pub(crate) output: Output,
    /// The schedule that was forced on it, and how far it followed.
    pub(crate) forced: Option<Forced>,
    /// The mutation that it explores.
    pub(crate) mutation: Option<Mutation>,
    /// The directory of its trace, unless that is kept permanently.
    folder: Option<RunFolder>,
    loading: Loading,
    source: OnceCell<Source>,
}

impl Run {
    pub(crate) fn consequence(&self) -> &Consequence {
        &self.completed.consequence
    }

    /// How long it took.
    pub(crate) fn duration(&self) -> Duration {
        self.completed.recording.duration
    }

    /// The process that is traced.
    pub(crate) fn process(&self) -> Option<u32> {
        self.completed.recording.recorded.then(|| self.completed.process())
    }

    /// Its trace with symbols.
    pub(crate) fn symbolized(&self) -> Result<Option<&SymbolizedTrace>, ReplayError> {
        self.completed.symbolized()
    }

    /// Its trace with symbols, if it failed.
    pub(crate) fn failed_trace(&self) -> Result<Option<&SymbolizedTrace>, ReplayError> {
        if self.consequence().is_failure() { self.completed.symbolized() } else { Ok(None) }
    }

    /// Its trace with symbols, if it passed and can therefore be analysed. The analyses take each load
    /// for one of the newest store, and the end of the trace for that of the run.
    pub(crate) fn passed_trace(&self) -> Result<Option<Arc<SymbolizedTrace>>, ReplayError> {
        let consequence = self.consequence();
        let passed = !consequence.is_failure() && !consequence.is_unfinished();
        let is_whole = self.completed.recording.run.stopped.is_none();
        if !passed || !is_whole || self.older_loads() > 0 {
            return Ok(None);
        }
        self.completed.shared_trace()
    }

    /// How many of its atomic loads returned an older store than the newest one.
    pub(crate) fn older_loads(&self) -> u64 {
        let controlled = self.completed.recording.run.controlled.as_ref();
        controlled.map_or(0, |it| it.outcome.older)
    }

    /// Whether a thread left its turn to others while it was in code that is not recorded. Then the
    /// order of that code and of other threads' events is unknown.
    pub(crate) fn was_away(&self) -> bool {
        let controlled = self.completed.recording.run.controlled.as_ref();
        controlled.is_some_and(|it| it.outcome.away > 0)
    }

    /// Whether its trace was opened and has at most this many events.
    pub(crate) fn is_short(&self, most: u64) -> bool {
        let symbolized = self.completed.symbolized().ok().flatten();
        symbolized.is_some_and(|it| it.trace.counts().events <= most)
    }

    /// Its trace with the events in memory.
    pub(crate) fn source(&self) -> Result<Option<&Source>, ReplayError> {
        if self.source.get().is_none()
            && let Some(symbolized) = self.completed.shared_trace()?
        {
            let _ = self.source.set(Source::new(symbolized, self.loading));
        }
        Ok(self.source.get())
    }

    /// Its report, as that of a replay of a clip.
    pub(crate) fn report(&self, clip: &Clip) -> Result<norn_report::Run, ReplayError> {
        norn_replay::report::run(&self.completed, Some(clip))
    }

    /// Its trace: the directory, and the events if they are in memory.
    pub(crate) fn into_trace(self) -> (Option<RunFolder>, Option<Source>) {
        (self.folder, self.source.into_inner())
    }
}

/// Executes a program on this machine.
#[derive(Debug)]
pub(crate) struct LocalExecutor {
    options: Options,
    folders: RunFolders,
    /// The exit status that is not a failure.
    normal_status: i32,
}

impl LocalExecutor {
    pub(crate) fn new(options: Options, scratch: &Path) -> LocalExecutor {
        LocalExecutor { options, folders: RunFolders::new(scratch), normal_status: 0 }
    }

    /// An executor for a program that normally ends with this status.
    pub(crate) fn with_normal_status(self, normal_status: i32) -> LocalExecutor {
        LocalExecutor { normal_status, ..self }
    }

    /// The exit status that is not a failure.
    pub(crate) fn normal_status(&self) -> i32 {
        self.normal_status
    }

    /// An executor with other options.
    pub(crate) fn with_options(self, options: Options) -> LocalExecutor {
        LocalExecutor { options, ..self }
    }

    /// Executes the program, with its trace in a folder that is kept.
    pub(crate) fn record(&self, plan: RunPlan, trace: &Path) -> Result<Run, ReplayError> {
        let launch = Launch { output: trace.to_owned(), ..self.options.launch.clone() };
        let run = self.run_in(self.folders.take()?, plan, launch)?;
        Ok(Run { folder: None, ..run })
    }

    /// Executes the program, with its trace in a temporary folder.
    fn execute(&self, plan: RunPlan, cancel: &Cancel) -> Result<Run, ReplayError> {
        let folder = self.folders.take()?;
        let launch = Launch {
            output: folder.trace(),
            lifetime: Lifetime::Temporary,
            cancel: cancel.clone(),
            ..self.options.launch.clone()
        };
        self.run_in(folder, plan, launch)
    }

    /// Executes the program, with its output in a temporary folder.
    fn run_in(&self, folder: RunFolder, plan: RunPlan, launch: Launch) -> Result<Run, ReplayError> {
        let options = &self.options;
        let launch = Launch { plan: Some(plan), streams: folder.streams(), apart: true, ..launch };
        let mut completed = norn_replay::run(&options.front_end, &launch)?;
        let mut status = None;
        if self.normal_status != 0 {
            status = completed.recording.status.code();
            if let Consequence::Exit(_) = completed.consequence {
                completed.consequence = Consequence::None;
            }
        }
        let story =
            if completed.consequence.is_failure() { story::story(&completed) } else { None };
        let failure = failure_site(&completed, story.as_ref());
        let printed = if failure.is_some() { last_lines(&folder.stderr()) } else { Vec::new() };
        let output = Output { stdout: fs::read(folder.stdout()).unwrap_or_default(), status };
        let (folder, source) = (Some(folder), OnceCell::new());
        let (forced, mutation) = (None, None);
        let loading = options.loading();
        Ok(Run {
            completed,
            failure,
            story,
            printed,
            output,
            forced,
            mutation,
            folder,
            loading,
            source,
        })
    }

    /// Replays a clip, as `norn replay` does.
    pub(crate) fn replay(&self, clip: &Clip) -> Result<Run, ReplayError> {
        let launch = Launch { keep_inputs: false, ..self.options.launch.clone() };
        let options = Options { launch: clip.launch(launch), ..self.options.clone() };
        let replayer = LocalExecutor {
            options,
            folders: self.folders.clone(),
            normal_status: self.normal_status,
        };
        let plan = self.plan_of(clip);
        replayer.execute(plan, &Cancel::default())
    }

    /// The plan that follows a clip.
    fn plan_of(&self, clip: &Clip) -> RunPlan {
        RunPlan { after: After::Fair, max_steps: self.options.max_steps, ..clip.plan() }
    }

    /// Forces a schedule on the program.
    fn follow(&self, mut forced: Forced, cancel: &Cancel) -> Result<Run, ReplayError> {
        let run = self.execute(self.plan_of(&forced.clip), cancel)?;
        let controlled = run.completed.recording.run.controlled.as_ref();
        if let Some(it) = controlled {
            forced.judge(&it.outcome);
        }
        Ok(Run { forced: Some(forced), ..run })
    }
}

/// The last lines of a file, as far as they are texts of a reasonable length.
fn last_lines(path: &Path) -> Vec<String> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(PRINTED_BYTES)))?;
        file.take(PRINTED_BYTES).read_to_end(&mut text)
    });
    // What a program printed is only quoted: without it, the report is still right.
    if read.is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&text);
    let lines = without_backtraces(text.lines()).into_iter();
    let mut lines: Vec<_> = lines.rev().filter(|it| !it.trim().is_empty()).collect();
    lines.truncate(PRINTED_LINES);
    lines.into_iter().rev().map(|it| it.chars().take(PRINTED_LENGTH).collect()).collect()
}

/// Lines without the backtraces that Rust programs print behind the messages of panics: the message would not be among
/// the last lines.
fn without_backtraces<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut is_in_one = false;
    let is_kept = |it: &&str| {
        let goes_on = it.starts_with(' ') || it.starts_with("note: ");
        is_in_one = *it == "stack backtrace:" || (is_in_one && goes_on);
        !is_in_one
    };
    lines.filter(is_kept).collect()
}

impl Executor for LocalExecutor {
    type Plan = Plan;
    type Run = Run;

    fn run(&self, plan: &Plan, cancel: &Cancel) -> Result<Run, ReplayError> {
        match plan {
            Plan::Follow(source, witness, continuation) => {
                self.follow(force(source, witness, *continuation), cancel)
            }
            Plan::Perturb(source, perturbation) => {
                self.follow(perturb(source, perturbation), cancel)
            }
            Plan::Explore(number, events) => {
                self.execute(explore::plan(&self.options, *number, *events), cancel)
            }
            Plan::Mutate(mutation) => {
                let clip = mutation.disturbance.clip(&mutation.source);
                let run = self.execute(self.plan_of(&clip), cancel)?;
                Ok(Run { mutation: Some(mutation.clone()), ..run })
            }
            Plan::Finish(clip) => self.execute(self.plan_of(clip), cancel),
        }
    }

    fn capacity(&self) -> Option<usize> {
        self.options.front_end.capacity()
    }

    fn stopped(&self) -> Option<Ended> {
        let why = if Interrupt::caught().is_some() { Ended::Interrupted } else { Ended::Time };
        Interrupt::is_stopped().then_some(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_has_no_backtrace() {
        let text = "thread 'main' panicked at a.rs:1:2:\nempty\nstack backtrace:\n   0: main\n             at ./a.rs:1\n\
                    note: Some details are omitted\nbye\n   1: list";
        let kept = without_backtraces(text.lines());
        assert_eq!(kept, ["thread 'main' panicked at a.rs:1:2:", "empty", "bye", "   1: list"]);
    }
}
