//! A batch of controlled runs in parallel: of one schedule, to check that it is deterministic, or
//! with successive seeds, to find the possible consequences of a program.
//!
//! Each run has its own folder with its trace and its output. The folder of the first run of each
//! kind is kept until the end; the others are used again, so that a batch needs little disk.

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use norn_frontend::{Cut, FrontEnd, Interrupt, Launch, Recording};
use norn_model::{Consequence, Schedule, Verdict};
use norn_trace::Lifetime;
use serde::Serialize;

use crate::{
    Check, ReplayError, RunFolder, RunFolders, crash::Crashes, fingerprint, judge, judge::verdict,
};

/// A batch of runs.
#[derive(Debug)]
pub struct Batch<'a> {
    /// Runs the subject.
    pub front_end: &'a dyn FrontEnd,
    /// What all runs have in common. Each has its own trace, output and process group.
    pub launch: &'a Launch,
    /// What the runs have to show.
    pub mode: BatchMode<'a>,
    /// Number of runs.
    pub count: u64,
    /// Number of runs in parallel.
    pub jobs: NonZeroUsize,
    /// Whether the first failure ends the batch.
    pub until_failure: bool,
    /// The user's check of a run.
    pub check: Option<&'a Check>,
    /// An empty folder for the files of the runs.
    pub scratch: &'a Path,
}

/// What the runs of a batch have to show.
#[derive(Clone, Copy, Debug)]
pub enum BatchMode<'a> {
    /// All runs follow one schedule and are compared event by event.
    Same(&'a Schedule),
    /// Each run has another seed, starting with the plan's; only the consequences count.
    Explore,
}

/// What all runs of one kind have in common. Parts that the mode does not compare are absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fingerprint {
    /// Whether the schedule was followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The consequence.
    pub consequence: Consequence,
    /// Hashes of the events and of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hashes: Option<Hashes>,
}

/// Hashes of what a run did and printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hashes {
    /// All events.
    pub events: u64,
    /// Standard output.
    pub stdout: u64,
    /// Standard error.
    pub stderr: u64,
}

/// Runs of the same kind.
#[derive(Debug)]
pub struct RunKind {
    /// What they have in common.
    pub fingerprint: Fingerprint,
    /// Number of runs.
    pub count: u64,
    /// The number of runs in which other threads could continue while a thread was outside of
    /// instrumented code: the schedule alone does not reproduce such a run.
    pub away: u64,
    /// The number of runs in which recording ended before the program did.
    pub stopped: u64,
    /// The number of the first run of this kind, from 0.
    pub first: u64,
    /// The seed of the first run.
    pub seed: u64,
    /// The folder of the first run.
    pub folder: RunFolder,
    /// The recording of the first run.
    pub recording: Recording,
}

/// The results of a batch.
#[derive(Debug, Default)]
pub struct Tally {
    /// Runs that have ended.
    pub count: u64,
    /// The kinds of runs, in the order of their first runs.
    pub kinds: Vec<RunKind>,
    /// The number of runs in which recording ended before the program did.
    pub stopped: u64,
    /// A run that left no events. It ends the batch.
    pub unrecorded: Option<Recording>,
}

impl Tally {
    /// The kind of the first run that failed.
    pub fn first_failure(&self) -> Option<&RunKind> {
        let failed = self.kinds.iter().filter(|it| it.fingerprint.consequence.is_failure());
        failed.min_by_key(|it| it.first)
    }

    /// Runs that failed.
    pub fn failures(&self) -> u64 {
        let failed = self.kinds.iter().filter(|it| it.fingerprint.consequence.is_failure());
        failed.map(|it| it.count).sum()
    }
}

/// Runs a batch. After each run, `progress` gets the results so far. An interrupt ends all runs; see
/// [`Interrupt::caught`].
pub fn run_batch(
    batch: &Batch<'_>,
    progress: &(dyn Fn(&Tally) + Sync),
) -> Result<Tally, ReplayError> {
    let _watch = Interrupt::watch();
    let folders = RunFolders::new(batch.scratch);
    let (crashes, state) = (Crashes::default(), Mutex::default());
    let pool = Pool { batch, progress, crashes, folders, state };
    thread::scope(|scope| {
        for _ in 0..batch.jobs.get() {
            scope.spawn(|| pool.work());
        }
    });
    let PoolState { mut tally, error, .. } =
        pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.kinds.sort_by_key(|it| it.first);
    error.map_or(Ok(tally), Err)
}

/// The worker threads of a batch.
struct Pool<'a> {
    batch: &'a Batch<'a>,
    progress: &'a (dyn Fn(&Tally) + Sync),
    crashes: Crashes,
    folders: RunFolders,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    next: u64,
    over: bool,
    tally: Tally,
    error: Option<ReplayError>,
}

/// One run that has ended.
struct FinishedRun {
    number: u64,
    seed: u64,
    folder: RunFolder,
    fingerprint: Fingerprint,
    recording: Recording,
}

impl Pool<'_> {
    fn work(&self) {
        let _guard = PanicGuard(self);
        while let Some(number) = self.next() {
            match self.run(number) {
                Ok(run) if matches!(run.recording.cut, Some(Cut::Interrupt(_))) => return,
                Ok(run) => self.count(run),
                Err(error) => {
                    let mut state = self.state();
                    state.over = true;
                    state.error.get_or_insert(error);
                }
            }
        }
    }

    fn next(&self) -> Option<u64> {
        let mut state = self.state();
        let over = state.over || state.next == self.batch.count || Interrupt::caught().is_some();
        state.next += u64::from(!over);
        (!over).then(|| state.next - 1)
    }

    fn run(&self, number: u64) -> Result<FinishedRun, ReplayError> {
        let folder = self.folders.take()?;
        let (launch, seed) = self.launch(number, &folder);
        let recording = self.batch.front_end.run(&launch)?;
        let fingerprint = if recording.recorded {
            self.fingerprint(&folder, &recording)?
        } else {
            Fingerprint { verdict: None, consequence: Consequence::None, hashes: None }
        };
        Ok(FinishedRun { number, seed, folder, fingerprint, recording })
    }

    fn launch(&self, number: u64, folder: &RunFolder) -> (Launch, u64) {
        let mut launch = Launch {
            output: folder.trace(),
            lifetime: Lifetime::Temporary,
            streams: folder.streams(),
            apart: true,
            ..self.batch.launch.clone()
        };
        let mut seed = 0;
        if let Some(plan) = &mut launch.plan {
            if matches!(self.batch.mode, BatchMode::Explore) {
                plan.seed = plan.seed.wrapping_add(number);
            }
            seed = plan.seed;
        }
        (launch, seed)
    }

    fn fingerprint(
        &self,
        folder: &RunFolder,
        recording: &Recording,
    ) -> Result<Fingerprint, ReplayError> {
        let (trace, stdout) = (folder.trace(), folder.stdout());
        let site = |pc| self.crashes.site(self.batch.front_end, &trace, recording, pc);
        let mut consequence = judge::consequence(recording, &site);
        if let Some(check) = self.batch.check {
            consequence = check.apply(recording, consequence, &stdout)?;
        }
        let BatchMode::Same(schedule) = self.batch.mode else {
            return Ok(Fingerprint { verdict: None, consequence, hashes: None });
        };
        let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
        let failed = |source| ReplayError::Scratch { path: folder.path().to_owned(), source };
        let hashes = Hashes {
            events: fingerprint::events(&trace, &recording.run)?,
            stdout: fingerprint::file(&stdout).map_err(failed)?,
            stderr: fingerprint::file(&folder.stderr()).map_err(failed)?,
        };
        let verdict = outcome.map(|it| verdict(it, schedule));
        Ok(Fingerprint { verdict, consequence, hashes: Some(hashes) })
    }

    fn count(&self, run: FinishedRun) {
        let mut state = self.state();
        let failed = run.fingerprint.consequence.is_failure();
        state.over |= !run.recording.recorded || (self.batch.until_failure && failed);
        let superfluous = state.tally.add(run);
        (self.progress)(&state.tally);
        drop(state);
        drop(superfluous);
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    /// Counts a run. Returns the folder that is no longer needed.
    fn add(&mut self, run: FinishedRun) -> Option<RunFolder> {
        let FinishedRun { number, seed, folder, fingerprint, recording } = run;
        if !recording.recorded {
            self.unrecorded = Some(recording);
            return Some(folder);
        }
        self.count += 1;
        let away = recording.run.controlled.as_ref().is_some_and(|it| it.outcome.away > 0);
        let (away, stopped) = (u64::from(away), u64::from(recording.run.stopped.is_some()));
        self.stopped += stopped;
        let new = RunKind {
            fingerprint,
            count: 1,
            away,
            stopped,
            first: number,
            seed,
            folder,
            recording,
        };
        let Some(kind) = self.kinds.iter_mut().find(|it| it.fingerprint == new.fingerprint) else {
            self.kinds.push(new);
            return None;
        };
        kind.count += 1;
        kind.away += away;
        kind.stopped += stopped;
        if kind.first < number {
            return Some(new.folder);
        }
        let RunKind { count, away, stopped, .. } = *kind;
        Some(std::mem::replace(kind, RunKind { count, away, stopped, ..new }).folder)
    }
}

/// Ends the batch when a worker panics: the other workers only finish their current runs.
struct PanicGuard<'a, 'b>(&'a Pool<'b>);

impl Drop for PanicGuard<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().over = true;
        }
    }
}
