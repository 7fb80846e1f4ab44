//! The loop: predict, try, and predict again from what took a new way.
//!
//! Attempts are made in waves: what a wave tries is decided before it begins, its runs go side by
//! side, and their results are taken in order. So the same program and options give the same
//! findings, however many run at once.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs, mem,
    path::Path,
    time::Duration,
};

use norn_model::{BugClass, Candidate, EventId};
use norn_predict::{Remark, predict};
use norn_record::Interrupt;
use norn_replay::{ReplayError, capture};
use norn_witness::{Grade, Witness, Witnesses};

use crate::{
    Base, Finding, Omissions, Options, Status, atomic_set,
    attempt::{Attempt, Run, Scratch, make},
    base,
    describe::describe,
    explore,
    finding::Confirmed,
    group::{Group, in_turn},
    interleaving::interleaving,
    novelty::{News, Seen},
    observe::{Observations, Observed},
    side::side_by_side,
    source::{Key, Pending, Source},
};

/// How long the recorded run may take, if nothing else is said.
pub(crate) const LONGEST_BASE: Duration = Duration::from_mins(2);
/// How long any other run may take at least.
pub(crate) const SHORTEST: Duration = Duration::from_secs(10);
/// Runs without a prediction, before what they did is looked at. How many go side by side must not
/// matter.
const BATCH: usize = 4;
/// Attempts, before it is looked what runs without a prediction do. A bug that needs many switches, or
/// work that the recorded run left to one thread, is rarely the first thing that is predicted.
const BETWEEN: usize = 8;
/// Schedules that change values and were not followed, one after another, before no more are tried.
const PATIENCE: usize = 8;
/// Executions for the candidates of one trace, before others have their turn.
const ROUND: usize = 24;
/// Traces that wait to be predicted from.
const MOST_WAITING: usize = 32;

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
    /// The search for a pattern or for deadlocks was given up before its end.
    pub incomplete: bool,
    /// What was not looked at.
    pub omitted: Omissions,
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
        seen: Seen::default(),
        waiting: VecDeque::new(),
        trace: 0,
        known: BTreeMap::new(),
        sure: BTreeSet::new(),
        failed: 0,
        doubted: Vec::new(),
        explored: 0,
        tried: 0,
        confirmed: 0,
        observations,
        hunt: Hunt {
            base,
            findings: Vec::new(),
            observed: Vec::new(),
            executions,
            sources: 0,
            incomplete: false,
            omitted: Omissions::default(),
        },
    };
    hunter.seen.learn(&source.scene.trace);
    let mut ways = VecDeque::from(hunter.from(&source)?);
    drop(source);
    while !hunter.is_over() {
        match ways.pop_front() {
            Some(pending) => ways.extend(hunter.go_on_from(&pending)?),
            None if hunter.explored < options.explore => ways.extend(hunter.explore()?),
            None => match hunter.waiting.pop_front() {
                Some(pending) => ways.push_back(pending),
                None if hunter.doubted.is_empty() => break,
                None => ways.extend(hunter.try_doubted()?),
            },
        }
    }
    hunter.hunt.observed = hunter.observations.0;
    Ok(Some(hunter.hunt))
}

struct Hunter<'a> {
    options: &'a Options,
    scratch: &'a Scratch,
    tell: &'a (dyn Fn(Stage) + Sync),
    /// What runs did so far.
    seen: Seen,
    /// Traces of runs that came nowhere new, but read something new. They have little to offer, so
    /// they are predicted from when nothing else is left.
    waiting: VecDeque<Pending>,
    /// Which trace is predicted from, from 0.
    trace: usize,
    /// The finding of each candidate so far.
    known: BTreeMap<Key, usize>,
    /// Findings that are decided: confirmed, or not, although a schedule kept all values.
    sure: BTreeSet<usize>,
    /// Schedules that change values and were not followed, since one was.
    failed: usize,
    /// Candidates of the recorded run that are tried when nothing else is left.
    doubted: Vec<Group>,
    /// Runs without a prediction so far.
    explored: usize,
    /// Attempts since the last of them.
    tried: usize,
    /// Confirmed findings so far.
    confirmed: usize,
    observations: Observations,
    hunt: Hunt,
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

    /// Predicts from the trace of an earlier run, which is not needed any longer then.
    fn go_on_from(&mut self, pending: &Pending) -> Result<Vec<Pending>, ReplayError> {
        let source = Source::open(&pending.folder, pending.process)?;
        discard(&pending.folder);
        self.from(&source)
    }

    /// Predicts from a trace and tries; returns runs that took new ways.
    fn from(&mut self, source: &Source) -> Result<Vec<Pending>, ReplayError> {
        (self.tell)(Stage::Predicting);
        let (sets, unknown) = atomic_set::find(source, &self.options.atomic_sets);
        let options = norn_predict::Options { sets, ..self.options.predict.clone() };
        let prediction = predict(&source.trace, &options);
        self.hunt.incomplete |= prediction.incomplete;
        let omitted = Omissions::new(source, &prediction, unknown);
        self.hunt.omitted.add(omitted, self.hunt.sources == 0);
        let known = prediction.candidates.into_iter().map(|it| (it, None));
        let violations = prediction.violations.into_iter().map(|(it, remark)| (it, Some(remark)));
        let mut groups = self.groups(source, known.chain(violations));
        self.trace = self.hunt.sources;
        self.hunt.sources += 1;
        let new = self.try_all(source, &mut groups, false)?;
        if self.trace == 0 {
            let findings = &self.hunt.findings;
            groups.retain(|it| it.has_any() && !findings[it.finding].is_harmful());
            self.doubted = groups;
        }
        Ok(new)
    }

    /// Tries what the recorded run allows only if the program goes on as if nothing had changed, and
    /// what had no turn because that was rarely so.
    fn try_doubted(&mut self) -> Result<Vec<Pending>, ReplayError> {
        self.trace = 0;
        let mut groups = mem::take(&mut self.doubted);
        groups.iter_mut().for_each(Group::dare);
        let source = Source::open(&self.options.output, self.hunt.base.process)?;
        self.try_all(&source, &mut groups, true)
    }

    /// Tries candidates of a trace; returns runs that took new ways. If schedules that change values
    /// fail again and again, no more of them are tried, unless it is to be `daring`; and after some
    /// time it is the turn of other traces.
    fn try_all(
        &mut self,
        source: &Source,
        groups: &mut [Group],
        daring: bool,
    ) -> Result<Vec<Pending>, ReplayError> {
        let witnesses = Witnesses::with(&source.trace, self.options.engines);
        let mut new = Vec::new();
        let mut open: Vec<usize> = (0..groups.len()).collect();
        let end = if daring { usize::MAX } else { self.hunt.executions + ROUND };
        let is_due = |it: &Self| it.left_to_try() > 0 && it.hunt.executions < end && !it.is_over();
        while !open.is_empty() && is_due(self) {
            if self.tried == BETWEEN {
                new.extend(self.explore()?);
            }
            let dares = daring || self.failed < PATIENCE;
            let wave = self.wave(groups, &mut open, &witnesses, dares);
            let attempts = self.attempt(source, &wave)?;
            for ((at, witness), attempt) in wave.into_iter().zip(attempts) {
                let finding = groups[at].finding;
                self.hunt.executions += 1;
                self.tried += 1;
                let confirmed = attempt.is_confirmed(source, &witness)?;
                if !confirmed {
                    let Attempt { run, trace, .. } = &attempt;
                    let executions = self.hunt.executions;
                    self.observations.add(self.options, run, trace, executions, Some(finding))?;
                }
                if witness.grade == Grade::Speculative {
                    self.failed = if confirmed { 0 } else { self.failed + 1 };
                }
                let sure = confirmed || witness.grade == Grade::Sound;
                self.sure.extend(sure.then_some(finding));
                let news = self.news(&attempt.run, &attempt.trace)?;
                let trace = attempt.trace.clone();
                if confirmed {
                    self.settle(source, finding, witness, attempt)?;
                } else if self.hunt.findings[finding].confirmed().is_none() {
                    self.hunt.findings[finding].status = Status::Unconfirmed(attempt.verdict);
                }
                match news {
                    Some((News::Place, process)) => new.push(Pending { folder: trace, process }),
                    Some((News::Value, process)) if self.waiting.len() < MOST_WAITING => {
                        self.waiting.push_back(Pending { folder: trace, process });
                    }
                    _ => discard(&trace),
                }
                // What does no harm here may do some elsewhere; that comes when all others have been.
                if !self.hunt.findings[finding].is_harmful() && groups[at].has_more() {
                    open.push(at);
                }
            }
        }
        Ok(new)
    }

    /// Candidates by what they are for a person, without those that are known. What was predicted
    /// before but never sure to be possible may be so in this trace.
    fn groups(
        &mut self,
        source: &Source,
        candidates: impl Iterator<Item = (Candidate, Option<Remark>)>,
    ) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut at: BTreeMap<Key, usize> = BTreeMap::new();
        let mut events: BTreeSet<(BugClass, Vec<EventId>)> = BTreeSet::new();
        for (candidate, remark) in candidates {
            // An atomic change reads and writes: whichever it is taken for, the run is the same. But
            // a wait whose time runs out has two ways with the same events.
            let steps = candidate.steps.iter().chain(&candidate.stuck).map(|it| it.event);
            let is_new = events.insert((candidate.class(), steps.collect()));
            if !is_new && candidate.class() != BugClass::Order {
                continue;
            }
            let key = source.key(&candidate);
            if let Some(&at) = at.get(&key) {
                let group = &mut groups[at];
                if !group.again {
                    self.hunt.findings[group.finding].also(&candidate, remark);
                }
                group.instances.push_back(candidate);
                continue;
            }
            let known = self.known.get(&key).copied();
            if known.is_some_and(|it| self.sure.contains(&it)) {
                continue;
            }
            let finding = known.unwrap_or(self.hunt.findings.len());
            if known.is_none() {
                self.hunt.findings.push(Finding {
                    description: describe(source, &candidate, false),
                    candidate: candidate.clone(),
                    remark,
                    source: self.hunt.sources,
                    status: Status::Untried,
                });
                self.known.insert(key.clone(), finding);
            }
            at.insert(key, groups.len());
            groups.push(Group::new(&source.trace, candidate, finding, known.is_some()));
        }
        for group in &mut groups {
            group.instances.truncate(self.options.instances);
        }
        in_turn(groups, &self.hunt.findings)
    }

    /// What is tried next: the first that have a schedule.
    fn wave(
        &mut self,
        groups: &mut [Group],
        open: &mut Vec<usize>,
        witnesses: &Witnesses<'_>,
        dares: bool,
    ) -> Vec<(usize, Witness)> {
        let most = self.options.jobs.get().min(self.left_to_try()).min(BETWEEN - self.tried);
        let mut wave = Vec::new();
        let mut looked = 0;
        while wave.len() < most && looked < open.len() {
            let at = open[looked];
            if let Some(witness) = groups[at].next(witnesses, dares) {
                wave.push((at, witness));
            } else if groups[at].has_more() {
                open.push(at);
            }
            looked += 1;
        }
        for &at in &open[..looked] {
            let finding = &mut self.hunt.findings[groups[at].finding];
            if let (Status::Untried, Some(why)) = (&finding.status, groups[at].refused.take()) {
                finding.status = Status::Infeasible(why);
            }
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
    fn explore(&mut self) -> Result<Vec<Pending>, ReplayError> {
        let left = self.options.budget - self.hunt.executions;
        let count = BATCH.min(left).min(self.options.explore - self.explored);
        let numbers: Vec<_> = (self.explored..self.explored + count).collect();
        self.explored += count;
        self.tried = 0;
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
            match self.new_way(&run, &trace)? {
                Some(process) => new.push(Pending { folder: trace, process }),
                None => discard(&trace),
            }
        }
        (self.tell)(Stage::Exploring { executions: self.hunt.executions });
        Ok(new)
    }

    /// The process of a run that did something where no other did, if it can be predicted from.
    fn new_way(&mut self, run: &Run, trace: &Path) -> Result<Option<u32>, ReplayError> {
        let Some(process) = passed(run) else { return Ok(None) };
        let opened = norn_trace::Trace::open(trace, process)?;
        Ok(self.seen.learn_places(&opened).then_some(process))
    }

    /// What a run did that no other did, and its process, if it can be predicted from.
    fn news(&mut self, run: &Run, trace: &Path) -> Result<Option<(News, u32)>, ReplayError> {
        let Some(process) = passed(run) else { return Ok(None) };
        let opened = norn_trace::Trace::open(trace, process)?;
        Ok(self.seen.learn(&opened).map(|it| (it, process)))
    }

    /// Notes that an attempt did what it was to do, unless one did before and this is no worse.
    fn settle(
        &mut self,
        source: &Source,
        finding: usize,
        witness: Witness,
        attempt: Attempt,
    ) -> Result<(), ReplayError> {
        let known = self.hunt.findings[finding].confirmed().map(|it| it.clip.clone());
        if known.is_some() && !attempt.run.consequence.is_failure() {
            return Ok(());
        }
        self.confirmed += usize::from(known.is_none());
        let number = self.confirmed;
        let clip = known.unwrap_or_else(|| self.options.clips().join(format!("{number}.json")));
        make(&self.options.clips())?;
        let followed = attempt.is_followed();
        let mut made = attempt.kept(source);
        let Attempt { run, trace, .. } = attempt;
        let forced = run.process().map(|it| Source::open(&trace, it)).transpose()?;
        if let Some(forced) = forced.as_ref().filter(|_| !followed) {
            // What was done on another way is shown by that way.
            made = capture(&forced.scene);
            made.expect = Some(run.consequence.clone());
        }
        made.write(&clip)?;
        let orders = interleaving(source, forced.as_ref(), &witness.candidate);
        let other_output = run.output != self.hunt.base.output;
        let executions = self.hunt.executions;
        let finding = &mut self.hunt.findings[finding];
        finding.candidate = witness.candidate.clone();
        finding.description = describe(source, &witness.candidate, true);
        finding.source = self.trace;
        finding.status = Status::Confirmed(Box::new(Confirmed {
            other_output,
            consequence: run.consequence,
            story: run.story,
            witness,
            interleaving: orders,
            clip,
            executions,
        }));
        Ok(())
    }
}

/// The process of a run that can be predicted from: one that passed.
fn passed(run: &Run) -> Option<u32> {
    run.process().filter(|_| !run.consequence.is_failure())
}

/// What is no longer needed; if it stays, it goes with the folder that it is in.
pub(crate) fn discard(trace: &Path) {
    let _ = fs::remove_dir_all(trace);
}
