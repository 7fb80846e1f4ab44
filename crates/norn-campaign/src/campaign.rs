//! Runs a program many times under varied schedules, and ranks the patterns of the runs.
//!
//! Runs are made in parallel, but their results are used in the order of their numbers. So neither the
//! ranking nor the moment at which it has settled depends on the number of workers.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

use norn_frontend::{Cut, FrontEnd, Interrupt, Launch, Recording, Streams};
use norn_localize::Formula;
use norn_replay::{CompletedRun, ReplayError};

use crate::{
    Criteria, Localizer, Origin, RunEvidence, RunOutcome, RunPatterns, Variation, clip::ClipFolder,
};

/// A campaign.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// Runs the program.
    pub front_end: &'a Arc<dyn FrontEnd>,
    /// What all runs have in common. Each has its own plan, trace, output and process group.
    pub launch: &'a Launch,
    /// Number of runs.
    pub runs: u64,
    /// Number of runs in parallel.
    pub jobs: NonZeroUsize,
    /// The seed of the first run.
    pub seed: u64,
    /// The approximate number of events of the program.
    pub expected: u64,
    /// The number of events after which a run ends as not finished.
    pub max_steps: u64,
    /// Number of slots of each window.
    pub window: usize,
    /// The formula of the scores.
    pub formula: Formula,
    /// What counts as a failure.
    pub criteria: Criteria,
    /// Whether to stop when the ranking has settled.
    pub stop_early: bool,
    /// A folder for the clip of the first run with each failure.
    pub clips: Option<&'a Path>,
    /// An empty folder for the files of the runs.
    pub scratch: &'a Path,
}

/// The results of a campaign.
#[derive(Debug)]
pub struct Conducted {
    /// The evidence.
    pub localizer: Localizer,
    /// Whether it ended because the ranking had settled.
    pub settled: bool,
    /// A run that left no events. It ends the campaign.
    pub unrecorded: Option<Recording>,
    /// Why the first of the lost runs was lost.
    pub error: Option<ReplayError>,
}

/// The progress of a campaign.
#[derive(Debug)]
pub struct CampaignProgress<'a> {
    /// Number of runs that have been used.
    pub runs: u64,
    /// Their evidence.
    pub localizer: &'a Localizer,
}

/// Workers do not start runs whose results would have to wait for more than this many others, for each
/// worker: the traces of waiting results take space.
const AHEAD: u64 = 4;

impl Campaign<'_> {
    /// Makes the runs. `reproduce` gives the command that repeats a run. After each run, `progress` gets
    /// the results so far. An interrupt ends all runs; see [`Interrupt::caught`].
    pub fn conduct(
        &self,
        reproduce: &(dyn Fn(Variation) -> Vec<String> + Sync),
        progress: &(dyn Fn(&CampaignProgress<'_>) + Sync),
    ) -> Result<Conducted, ReplayError> {
        let _watch = Interrupt::watch();
        let results = Conducted {
            localizer: Localizer::new(self.window, self.formula),
            settled: false,
            unrecorded: None,
            error: None,
        };
        let clips = self.clips.map(ClipFolder::new);
        let state =
            State { next: 0, used: 0, over: false, waiting: BTreeMap::new(), clips, results };
        let pool = Pool {
            campaign: self,
            reproduce,
            progress,
            state: Mutex::new(state),
            advanced: Condvar::new(),
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs.get() {
                scope.spawn(|| pool.work());
            }
        });
        let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut results = state.results;
        // A program that cannot be run at all is an error; a single run is not.
        match results.error.take() {
            Some(error) if state.used == 0 || results.localizer.is_empty() => Err(error),
            error => Ok(Conducted { error, ..results }),
        }
    }

    fn run(&self, variation: Variation) -> Result<FinishedRun, ReplayError> {
        let folder = RunFolder::new(self.scratch.join(variation.number.to_string()))?;
        let path = &folder.0;
        let launch = Launch {
            output: path.join("trace"),
            plan: Some(variation.plan(self.max_steps)),
            streams: Streams::Files { stdout: path.join("stdout"), stderr: path.join("stderr") },
            apart: true,
            ..self.launch.clone()
        };
        let mut completed = norn_replay::run(self.front_end, &launch)?;
        let outcome = if completed.recording.recorded {
            self.criteria.judge(&mut completed, path)?
        } else {
            RunOutcome::Unfinished
        };
        let patterns = completed.symbolized()?.map(|it| RunPatterns::of(it, self.window));
        Ok(FinishedRun { variation, outcome, patterns, completed, _folder: folder })
    }
}

/// The folder of a run, which is removed when the run has been used.
struct RunFolder(PathBuf);

impl RunFolder {
    fn new(path: PathBuf) -> Result<RunFolder, ReplayError> {
        match fs::create_dir(&path) {
            Ok(()) => Ok(RunFolder(path)),
            Err(source) => Err(ReplayError::Scratch { path, source }),
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // If this fails, it is removed with the scratch folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A run that has ended.
struct FinishedRun {
    variation: Variation,
    outcome: RunOutcome,
    patterns: Option<RunPatterns>,
    completed: CompletedRun,
    _folder: RunFolder,
}

/// The workers.
struct Pool<'a> {
    campaign: &'a Campaign<'a>,
    reproduce: &'a (dyn Fn(Variation) -> Vec<String> + Sync),
    progress: &'a (dyn Fn(&CampaignProgress<'_>) + Sync),
    state: Mutex<State<'a>>,
    /// Notified when results were used, and when a worker ends.
    advanced: Condvar,
}

struct State<'a> {
    /// The next run to start.
    next: u64,
    /// Number of results that have been used.
    used: u64,
    over: bool,
    /// Results of runs after one that has not ended yet.
    waiting: BTreeMap<u64, Result<FinishedRun, ReplayError>>,
    clips: Option<ClipFolder<'a>>,
    results: Conducted,
}

impl<'a> Pool<'a> {
    fn work(&self) {
        let _guard = PanicGuard(self);
        while let Some(number) = self.next() {
            let campaign = self.campaign;
            let run = campaign.run(Variation::new(number, campaign.seed, campaign.expected));
            let cut = run.as_ref().ok().and_then(|it| it.completed.recording.cut);
            let mut state = self.state();
            if let Some(Cut::Interrupt(_)) = cut {
                state.over = true;
                return;
            }
            state.waiting.insert(number, run);
            while let Some(run) = state.take_next() {
                self.add(&mut state, run);
            }
            self.advanced.notify_all();
        }
    }

    /// The number of the next run to make.
    fn next(&self) -> Option<u64> {
        let ahead = AHEAD.saturating_mul(self.campaign.jobs.get() as u64);
        let mut state = self.state();
        loop {
            if state.over || state.next == self.campaign.runs || Interrupt::caught().is_some() {
                return None;
            }
            if state.next - state.used < ahead {
                state.next += 1;
                return Some(state.next - 1);
            }
            state = self.advanced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Uses the result of a run.
    fn add(&self, state: &mut State<'_>, run: Result<FinishedRun, ReplayError>) {
        let results = &mut state.results;
        match run.and_then(|it| self.add_finished(it, &mut state.clips, results)) {
            Ok(()) => {}
            Err(error) => {
                results.localizer.add_lost();
                results.error.get_or_insert(error);
            }
        }
        results.settled = self.campaign.stop_early && results.localizer.is_settled();
        state.over |= results.settled || results.unrecorded.is_some();
        let (runs, localizer) = (state.used, &state.results.localizer);
        (self.progress)(&CampaignProgress { runs, localizer });
    }

    fn add_finished(
        &self,
        run: FinishedRun,
        clips: &mut Option<ClipFolder<'_>>,
        results: &mut Conducted,
    ) -> Result<(), ReplayError> {
        let (Some(symbolized), Some(patterns)) = (run.completed.symbolized()?, &run.patterns)
        else {
            results.unrecorded = Some(run.completed.recording);
            return Ok(());
        };
        let new = run.outcome.failure().filter(|it| !results.localizer.knows(it));
        let clip = match (new, clips) {
            (Some(_), Some(clips)) => Some(clips.write(symbolized, &run.completed.consequence)?),
            _ => None,
        };
        let reproduce = (self.reproduce)(run.variation);
        let name = run.variation.number.to_string();
        results.localizer.add(&RunEvidence {
            origin: Origin { name, reproduce, clip },
            outcome: &run.outcome,
            patterns,
            symbolized,
        });
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State<'_> {
    /// The result of the next run in the order of their numbers, unless it has not ended yet or the
    /// campaign is over.
    fn take_next(&mut self) -> Option<Result<FinishedRun, ReplayError>> {
        if self.over {
            return None;
        }
        let run = self.waiting.remove(&self.used)?;
        self.used += 1;
        Some(run)
    }
}

/// Ends the campaign when a worker panics: the other workers only finish their current runs.
struct PanicGuard<'a, 'b>(&'a Pool<'b>);

impl Drop for PanicGuard<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().over = true;
        }
        self.0.advanced.notify_all();
    }
}
