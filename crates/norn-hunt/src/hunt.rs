//! The loop: predict, try, and predict again from what took a new way.
//!
//! Attempts are made in waves: what a wave tries is decided before it begins, its runs go side by
//! side, and their results are taken in order. So the same program and options give the same
//! findings, however many run at once.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use norn_model::{Anomaly, Candidate};
use norn_predict::predict;
use norn_record::Interrupt;
use norn_replay::ReplayError;
use norn_witness::{Failure, Witness, Witnesses};

use crate::{
    Base, Finding, Status,
    attempt::{Attempt, Run, Scratch, make},
    base,
    describe::describe,
    explore,
    finding::Confirmed,
    observe::{Observations, Observed},
    source::{Key, Place, Source, places},
};

/// How long the recorded run may take, if nothing else is said.
pub(crate) const LONGEST_BASE: Duration = Duration::from_mins(2);
/// How long any other run may take at least.
pub(crate) const SHORTEST: Duration = Duration::from_secs(10);
/// Runs without a prediction, before what they did is looked at. How many go side by side must not
/// matter.
const BATCH: usize = 8;

/// What to hunt in and how. Without a limit of time for each run, the recorded one may take two
/// minutes, and the others twenty times as long as that one took, or ten seconds if that is longer.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the program is run.
    pub run: norn_record::Options,
    /// Where the recorded run goes, with the clips of what was found.
    pub output: PathBuf,
    /// What is looked for.
    pub predict: norn_predict::Options,
    /// Executions at most, the recorded run included.
    pub budget: usize,
    /// How many go side by side.
    pub jobs: NonZeroUsize,
    /// Runs without a prediction, at most.
    pub explore: usize,
    /// Instances of a candidate that are tried before it is given up.
    pub instances: usize,
    /// Events after which a run counts as hanging.
    pub max_steps: u64,
}

impl Options {
    /// The same with another limit of time for each run.
    pub(crate) fn limited(&self, timeout: Duration) -> Options {
        let run = norn_record::Options { timeout: Some(timeout), ..self.run.clone() };
        Options { run, ..self.clone() }
    }

    /// The folder for clips.
    pub(crate) fn clips(&self) -> PathBuf {
        self.output.join("clips")
    }
}

/// What came of a hunt.
#[derive(Debug)]
pub struct Hunt {
    /// The recorded run.
    pub base: Base,
    /// What was found, in the order in which it was predicted.
    pub findings: Vec<Finding>,
    /// Failures that were seen without having been predicted.
    pub observed: Vec<Observed>,
    /// Executions, the recorded run included.
    pub executions: usize,
    /// Traces that were predicted from.
    pub sources: usize,
    /// The search for a pattern was given up before its end.
    pub incomplete: bool,
}

/// Where a hunt is.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// It runs the program for the first time.
    Recording,
    /// It looks for candidates.
    Predicting,
    /// It runs the program without a prediction.
    Exploring {
        /// Executions so far.
        executions: usize,
    },
    /// It tries: executions so far, and findings that are confirmed.
    Trying {
        /// Executions so far.
        executions: usize,
        /// Candidates that are still to be tried in this round.
        left: usize,
        /// Confirmed findings.
        confirmed: usize,
    },
}

/// Hunts. Nothing if nothing can be recorded.
pub fn hunt(
    options: &Options,
    scratch: &Path,
    tell: &(dyn Fn(Stage) + Sync),
) -> Result<Option<Hunt>, ReplayError> {
    let _watch = Interrupt::watch();
    let scratch = Scratch::new(scratch);
    tell(Stage::Recording);
    let mut observations = Observations::default();
    let given = options.run.timeout;
    let options = &options.limited(given.unwrap_or(LONGEST_BASE));
    let Some((base, source)) = base::base(options, &scratch, &mut observations)? else {
        return Ok(None);
    };
    let options = &options.limited(given.unwrap_or_else(|| (base.time * 20).max(SHORTEST)));
    let executions = base.executions;
    let mut hunter = Hunter {
        options,
        scratch: &scratch,
        tell,
        places: places(&source.scene.trace).collect(),
        known: BTreeSet::new(),
        explored: 0,
        confirmed: 0,
        observations,
        hunt: Hunt {
            base,
            findings: Vec::new(),
            observed: Vec::new(),
            executions,
            sources: 0,
            incomplete: false,
        },
    };
    let mut sources = VecDeque::from([source]);
    while !hunter.is_over() {
        match sources.pop_front() {
            Some(source) => sources.extend(hunter.from(&source)?),
            None if hunter.explored < options.explore => sources.extend(hunter.explore()?),
            None => break,
        }
    }
    hunter.hunt.observed = hunter.observations.0;
    Ok(Some(hunter.hunt))
}

struct Hunter<'a> {
    options: &'a Options,
    scratch: &'a Scratch,
    tell: &'a (dyn Fn(Stage) + Sync),
    /// Where any trace had events so far.
    places: BTreeSet<Place>,
    /// What was tried so far.
    known: BTreeSet<Key>,
    /// Runs without a prediction so far.
    explored: usize,
    /// Confirmed findings so far.
    confirmed: usize,
    observations: Observations,
    hunt: Hunt,
}

/// Candidates with the same places, and what is next for them.
struct Group {
    instances: VecDeque<Candidate>,
    finding: Finding,
}

impl Group {
    /// The next instance that has a schedule.
    fn next(&mut self, witnesses: &Witnesses<'_>) -> Option<Witness> {
        while let Some(candidate) = self.instances.pop_front() {
            match witnesses.witness(&candidate) {
                Ok(witness) => return Some(witness),
                Err(why) => self.note(why),
            }
        }
        None
    }

    fn note(&mut self, why: Failure) {
        if matches!(self.finding.status, Status::Untried) {
            self.finding.status = Status::Infeasible(why);
        }
    }
}

impl Hunter<'_> {
    fn is_over(&self) -> bool {
        self.hunt.executions >= self.options.budget || Interrupt::caught().is_some()
    }

    /// Executions that are left for candidates: some are kept for runs without a prediction.
    fn left_to_try(&self) -> usize {
        let kept = self.options.explore.min(self.options.budget / 2).saturating_sub(self.explored);
        self.options.budget.saturating_sub(self.hunt.executions + kept)
    }

    /// Predicts from a trace and tries; returns runs that took new ways.
    fn from(&mut self, source: &Source) -> Result<Vec<Source>, ReplayError> {
        (self.tell)(Stage::Predicting);
        let prediction = predict(&source.trace, &self.options.predict);
        self.hunt.incomplete |= prediction.incomplete;
        let mut groups = self.groups(source, prediction.candidates);
        self.hunt.sources += 1;
        let witnesses = Witnesses::new(&source.trace);
        let mut new = Vec::new();
        let mut open: Vec<usize> = (0..groups.len()).collect();
        while !open.is_empty() && self.left_to_try() > 0 && !self.is_over() {
            let wave = self.wave(&mut groups, &mut open, &witnesses);
            let attempts = self.attempt(source, &wave)?;
            for ((at, witness), attempt) in wave.into_iter().zip(attempts) {
                self.hunt.executions += 1;
                let confirmed = attempt.is_confirmed(source, &witness)?;
                if !confirmed {
                    let Attempt { run, trace, .. } = &attempt;
                    let (executions, finding) =
                        (self.hunt.executions, self.hunt.findings.len() + at);
                    self.observations.add(self.options, run, trace, executions, Some(finding))?;
                }
                new.extend(self.new_way(&attempt.run, &attempt.trace)?);
                discard(&attempt.trace);
                if confirmed {
                    self.settle(source, &mut groups[at], witness, attempt)?;
                } else {
                    groups[at].finding.status = Status::Unconfirmed(attempt.verdict);
                }
                if !confirmed && !groups[at].instances.is_empty() {
                    open.push(at);
                }
            }
        }
        self.hunt.findings.extend(groups.into_iter().map(|it| it.finding));
        Ok(new)
    }

    /// Candidates by what they are for a person, without those that are known.
    fn groups(&mut self, source: &Source, candidates: Vec<Candidate>) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut at: BTreeMap<Key, usize> = BTreeMap::new();
        for candidate in candidates {
            let key = source.key(&candidate);
            if let Some(&at) = at.get(&key) {
                groups[at].instances.push_back(candidate);
            } else if self.known.insert(key.clone()) {
                at.insert(key, groups.len());
                let finding = Finding {
                    description: describe(source, &candidate, false),
                    candidate: candidate.clone(),
                    source: self.hunt.sources,
                    status: Status::Untried,
                };
                groups.push(Group { instances: [candidate].into(), finding });
            }
        }
        for group in &mut groups {
            group.instances.truncate(self.options.instances);
        }
        in_turn(groups)
    }

    /// What is tried next: the first that have a schedule.
    fn wave(
        &self,
        groups: &mut [Group],
        open: &mut Vec<usize>,
        witnesses: &Witnesses<'_>,
    ) -> Vec<(usize, Witness)> {
        let most = self.options.jobs.get().min(self.left_to_try());
        let mut wave = Vec::new();
        let mut looked = 0;
        while wave.len() < most && looked < open.len() {
            let at = open[looked];
            if let Some(witness) = groups[at].next(witnesses) {
                wave.push((at, witness));
            }
            looked += 1;
        }
        open.drain(..looked);
        let (executions, confirmed) = (self.hunt.executions, self.confirmed);
        (self.tell)(Stage::Trying { executions, left: open.len() + wave.len(), confirmed });
        wave
    }

    /// Runs the wave, side by side.
    fn attempt(
        &self,
        source: &Source,
        wave: &[(usize, Witness)],
    ) -> Result<Vec<Attempt>, ReplayError> {
        side_by_side(self.options.jobs, wave, |(_, witness)| {
            self.scratch.attempt(self.options, source, witness)
        })
    }

    /// Runs some times without a prediction; returns runs that took new ways.
    fn explore(&mut self) -> Result<Vec<Source>, ReplayError> {
        let left = self.options.budget - self.hunt.executions;
        let count = BATCH.min(left).min(self.options.explore - self.explored);
        let numbers: Vec<_> = (self.explored..self.explored + count).collect();
        self.explored += count;
        let events = self.hunt.base.events;
        let runs = side_by_side(self.options.jobs, &numbers, |&number| {
            let trace = self.scratch.next();
            let control = explore::control(self.options, number, events);
            let run = self.scratch.run(self.options, control, &trace)?;
            Ok((run, trace))
        })?;
        let mut new = Vec::new();
        for (run, trace) in runs {
            self.hunt.executions += 1;
            self.observations.add(self.options, &run, &trace, self.hunt.executions, None)?;
            new.extend(self.new_way(&run, &trace)?);
            discard(&trace);
        }
        (self.tell)(Stage::Exploring { executions: self.hunt.executions });
        Ok(new)
    }

    /// A run that did something where no other did, as something to predict from.
    fn new_way(&mut self, run: &Run, trace: &Path) -> Result<Option<Source>, ReplayError> {
        let (Some(process), false) = (run.process(), run.consequence.is_failure()) else {
            return Ok(None);
        };
        let opened = norn_trace::Trace::open(trace, process)?;
        let new: Vec<_> = places(&opened).filter(|it| !self.places.contains(it)).collect();
        let is_new = !new.is_empty();
        self.places.extend(new);
        is_new.then(|| Source::open(trace, process)).transpose()
    }

    /// Notes that an attempt did what it was to do.
    fn settle(
        &mut self,
        source: &Source,
        group: &mut Group,
        witness: Witness,
        attempt: Attempt,
    ) -> Result<(), ReplayError> {
        self.confirmed += 1;
        let number = self.confirmed;
        let clip = self.options.clips().join(format!("{number}.json"));
        make(&self.options.clips())?;
        let Attempt { clip: mut made, run, .. } = attempt;
        made.expect = Some(run.consequence.clone());
        made.write(&clip)?;
        group.instances.clear();
        group.finding.candidate = witness.candidate.clone();
        group.finding.description = describe(source, &witness.candidate, true);
        group.finding.status = Status::Confirmed(Box::new(Confirmed {
            other_output: run.output != self.hunt.base.output,
            consequence: run.consequence,
            story: run.story,
            witness,
            clip,
            executions: self.hunt.executions,
        }));
        Ok(())
    }
}

/// The classes take turns, so that many candidates of one do not keep the others waiting.
fn in_turn(groups: Vec<Group>) -> Vec<Group> {
    let mut counts: BTreeMap<Anomaly, usize> = BTreeMap::new();
    let mut ranked: Vec<_> = groups
        .into_iter()
        .map(|group| {
            let class = group.finding.candidate.class;
            let rank = counts.entry(class).or_default();
            *rank += 1;
            ((*rank, class), group)
        })
        .collect();
    ranked.sort_by_key(|(key, _)| *key);
    ranked.into_iter().map(|(_, group)| group).collect()
}

/// Does something with each item, so many at the same time; the results are in their order.
pub(crate) fn side_by_side<T: Sync, R: Send>(
    jobs: NonZeroUsize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, ReplayError> + Sync,
) -> Result<Vec<R>, ReplayError> {
    let mut results = Vec::new();
    for some in items.chunks(jobs.get()) {
        let some: Result<Vec<R>, _> = thread::scope(|scope| {
            let threads: Vec<_> = some.iter().map(|it| scope.spawn(|| work(it))).collect();
            let end = |it: thread::ScopedJoinHandle<'_, _>| {
                it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(end).collect()
        });
        results.extend(some?);
    }
    Ok(results)
}

/// What is no longer needed; if it stays, it goes with the folder that it is in.
pub(crate) fn discard(trace: &Path) {
    let _ = fs::remove_dir_all(trace);
}
