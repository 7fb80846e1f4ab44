//! Many controlled runs side by side: of one schedule, to see whether it always comes out the same,
//! or with one seed after another, to see what can come of a program.
//!
//! Each run has a folder of its own, with its trace and what it printed. The folder of the first
//! run of each kind stays until the end; the others go at once, so that many runs need little room.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use norn_frontend::{Cut, FrontEnd, Interrupt, Launch, Recording, Streams};
use norn_model::{Consequence, Schedule, Verdict};
use serde::Serialize;

use crate::{Check, ReplayError, crash::Crashes, fingerprint, judge, judge::verdict};

/// Many runs.
#[derive(Debug)]
pub struct Many<'a> {
    /// Runs the subject.
    pub front_end: &'a dyn FrontEnd,
    /// What all runs have in common. Each has its own trace, output and process group.
    pub launch: &'a Launch,
    /// What is to be learned.
    pub goal: Goal<'a>,
    /// How many.
    pub count: u64,
    /// How many at once.
    pub jobs: NonZeroUsize,
    /// Whether a failure is the end.
    pub until_failure: bool,
    /// What the person says of a run.
    pub check: Option<&'a Check>,
    /// An empty folder for all that is needed on the way.
    pub scratch: &'a Path,
}

/// What many runs are for.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// To follow a schedule, and to see whether all runs are the same, event by event.
    Same(&'a Schedule),
    /// To see what can come of the program: each run has another seed, the plan's and those after.
    Explore,
}

/// What two runs of the same kind have in common. What was not asked for is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// Whether the schedule was followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// What it led to.
    pub consequence: Consequence,
    /// Numbers for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub print: Option<Print>,
}

/// Numbers that differ if what they stand for does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Print {
    /// All events.
    pub events: u64,
    /// Standard output.
    pub stdout: u64,
    /// Standard error.
    pub stderr: u64,
}

/// Runs of the same kind.
#[derive(Debug)]
pub struct Kind {
    /// What they have in common.
    pub picture: Picture,
    /// How many.
    pub count: u64,
    /// The number of runs in which other threads could continue while a thread was outside of
    /// instrumented code: the schedule alone does not reproduce such a run.
    pub away: u64,
    /// In how many of them recording ended before the program did.
    pub stopped: u64,
    /// Which was the first, from 0.
    pub first: u64,
    /// The seed of that one.
    pub seed: u64,
    /// What that one left: `trace`, `stdout` and `stderr`.
    pub folder: PathBuf,
    /// How that one was.
    pub recording: Recording,
}

/// What came of many runs.
#[derive(Debug, Default)]
pub struct Tally {
    /// Runs that have ended.
    pub count: u64,
    /// By their first runs.
    pub kinds: Vec<Kind>,
    /// In how many runs recording ended before the program did.
    pub stopped: u64,
    /// A run that left no events: there are no others then.
    pub unrecorded: Option<Recording>,
}

impl Tally {
    /// The kind of the first run that failed.
    pub fn first_failure(&self) -> Option<&Kind> {
        self.kinds.iter().filter(|it| it.picture.consequence.is_failure()).min_by_key(|it| it.first)
    }

    /// Runs that failed.
    pub fn failures(&self) -> u64 {
        let failed = self.kinds.iter().filter(|it| it.picture.consequence.is_failure());
        failed.map(|it| it.count).sum()
    }
}

/// Runs a subject many times. After each run, `each` is told what there is so far. A request to end
/// ends all runs; [`Interrupt::caught`] tells.
pub fn many(many: &Many<'_>, each: &(dyn Fn(&Tally) + Sync)) -> Result<Tally, ReplayError> {
    let _watch = Interrupt::watch();
    let shop = Shop { many, each, crashes: Crashes::default(), state: Mutex::default() };
    thread::scope(|scope| {
        for _ in 0..many.jobs.get() {
            scope.spawn(|| shop.work());
        }
    });
    let State { mut tally, error, .. } =
        shop.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.kinds.sort_by_key(|it| it.first);
    error.map_or(Ok(tally), Err)
}

/// Where the runs are done.
struct Shop<'a> {
    many: &'a Many<'a>,
    each: &'a (dyn Fn(&Tally) + Sync),
    crashes: Crashes,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    over: bool,
    tally: Tally,
    error: Option<ReplayError>,
}

/// One run that has ended.
struct Done {
    number: u64,
    seed: u64,
    folder: PathBuf,
    picture: Picture,
    recording: Recording,
}

impl Shop<'_> {
    fn work(&self) {
        let _guard = Guard(self);
        while let Some(number) = self.next() {
            match self.run(number) {
                Ok(done) if matches!(done.recording.cut, Some(Cut::Interrupt(_))) => return,
                Ok(done) => self.count(done),
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
        let over = state.over || state.next == self.many.count || Interrupt::caught().is_some();
        state.next += u64::from(!over);
        (!over).then(|| state.next - 1)
    }

    fn run(&self, number: u64) -> Result<Done, ReplayError> {
        let folder = self.many.scratch.join(number.to_string());
        let failed = |source| ReplayError::Scratch { path: folder.clone(), source };
        fs::create_dir(&folder).map_err(failed)?;
        let (launch, seed) = self.launch(number, &folder);
        let recording = self.many.front_end.run(&launch)?;
        let picture = if recording.recorded {
            self.picture(&folder, &recording)?
        } else {
            Picture { verdict: None, consequence: Consequence::None, print: None }
        };
        Ok(Done { number, seed, folder, picture, recording })
    }

    fn launch(&self, number: u64, folder: &Path) -> (Launch, u64) {
        let mut launch = Launch {
            output: folder.join("trace"),
            streams: Streams::Files {
                stdout: folder.join("stdout"),
                stderr: folder.join("stderr"),
            },
            apart: true,
            ..self.many.launch.clone()
        };
        let mut seed = 0;
        if let Some(plan) = &mut launch.plan {
            if matches!(self.many.goal, Goal::Explore) {
                plan.seed = plan.seed.wrapping_add(number);
            }
            seed = plan.seed;
        }
        (launch, seed)
    }

    fn picture(&self, folder: &Path, recording: &Recording) -> Result<Picture, ReplayError> {
        let (trace, stdout) = (folder.join("trace"), folder.join("stdout"));
        let site = |pc| self.crashes.site(self.many.front_end, &trace, recording, pc);
        let mut consequence = judge::consequence(recording, &site);
        if let Some(check) = self.many.check {
            consequence = check.ask(recording, consequence, &stdout)?;
        }
        let Goal::Same(schedule) = self.many.goal else {
            return Ok(Picture { verdict: None, consequence, print: None });
        };
        let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
        let failed = |source| ReplayError::Scratch { path: folder.to_owned(), source };
        let print = Print {
            events: fingerprint::events(&trace, &recording.run)?,
            stdout: fingerprint::file(&stdout).map_err(failed)?,
            stderr: fingerprint::file(&folder.join("stderr")).map_err(failed)?,
        };
        let verdict = outcome.map(|it| verdict(it, schedule));
        Ok(Picture { verdict, consequence, print: Some(print) })
    }

    fn count(&self, done: Done) {
        let mut state = self.state();
        let failed = done.picture.consequence.is_failure();
        state.over |= !done.recording.recorded || (self.many.until_failure && failed);
        let superfluous = state.tally.add(done);
        (self.each)(&state.tally);
        drop(state);
        if let Some(folder) = superfluous {
            // If it fails, the folder goes with all others.
            let _ = fs::remove_dir_all(folder);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tally {
    /// Counts a run; returns a folder that is not needed any more.
    fn add(&mut self, done: Done) -> Option<PathBuf> {
        let Done { number, seed, folder, picture, recording } = done;
        if !recording.recorded {
            self.unrecorded = Some(recording);
            return Some(folder);
        }
        self.count += 1;
        let away = recording.run.controlled.as_ref().is_some_and(|it| it.outcome.away > 0);
        let (away, stopped) = (u64::from(away), u64::from(recording.run.stopped.is_some()));
        self.stopped += stopped;
        let new = Kind { picture, count: 1, away, stopped, first: number, seed, folder, recording };
        let Some(kind) = self.kinds.iter_mut().find(|it| it.picture == new.picture) else {
            self.kinds.push(new);
            return None;
        };
        kind.count += 1;
        kind.away += away;
        kind.stopped += stopped;
        if kind.first < number {
            return Some(new.folder);
        }
        let Kind { count, away, stopped, .. } = *kind;
        Some(std::mem::replace(kind, Kind { count, away, stopped, ..new }).folder)
    }
}

/// A worker that panics is the last: the others end what they are at.
struct Guard<'a, 'b>(&'a Shop<'b>);

impl Drop for Guard<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().over = true;
        }
    }
}
