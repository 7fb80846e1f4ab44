//! Rules of the user: a run is recorded with what they speak of, orders that break them are
//! predicted and forced on the program, and what it then did is held against the rules again.
//!
//! All rules share the recording, the order of its events and the engine for schedules. A violation
//! is confirmed if the forced run's own trace breaks the rule, as the monitor says, which knows
//! nothing of the prediction.

use std::{
    collections::{BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use norn_model::ThreadId;
use norn_predict::HappensBefore;
use norn_property::{Bounds, Limits, Outlook, Property, Prospect, Watch};
use norn_record::Interrupt;
use norn_replay::{Clip, ReplayError, Scene, capture};
use norn_witness::{Witness, Witnesses};

use crate::{
    Base, Confirmed, Harm, Observed, Options, Stage, State, Unseen, Violation,
    attempt::{Attempt, Run, Scratch, make},
    base,
    hunt::{LONGEST_BASE, SHORTEST, discard},
    interleaving::interleaving,
    observe::Observations,
    side::side_by_side,
    source::{Key, Pending, Place, Source, places},
    unseen::unseen,
    violation::{Named, candidate, happened, predicted},
    whole::whole_calls,
};

/// What came of checking rules.
#[derive(Debug)]
pub struct Check {
    /// The recorded run.
    pub base: Base,
    /// The rules, in their order.
    pub rules: Vec<Checked>,
    /// What breaks them, or might: what the program has done first.
    pub violations: Vec<Violation>,
    /// Failures that were seen and break no rule.
    pub observed: Vec<Observed>,
    /// Executions, the recorded run included.
    pub executions: usize,
    /// Traces that were predicted from.
    pub sources: usize,
    /// Events of the recorded run that are too many to be looked at.
    pub left_out: u64,
    /// Places of named functions that could not be changed so that calls are seen.
    pub refused: u64,
}

/// What was seen of a rule in the recorded run.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its instances.
    pub instances: usize,
    /// Its events, and how often each happened.
    pub events: Vec<(String, u64)>,
    /// Orders that would break it, before anybody asked whether they can be.
    pub candidates: usize,
    /// What the search left out, in all traces.
    pub bounds: Bounds,
    /// What it names and the program does not show, or not always.
    pub unseen: Vec<Unseen>,
    /// Ways to break it that were not tried, since others at the same places had been in vain.
    pub untried: usize,
}

/// Checks rules. Nothing if nothing can be recorded.
pub fn check(
    options: &Options,
    rules: &[Property],
    scratch: &Path,
    tell: &(dyn Fn(Stage) + Sync),
) -> Result<Option<Check>, ReplayError> {
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
    let mut checker = Checker {
        options,
        rules,
        scratch: &scratch,
        tell,
        places: places(&source.scene.trace).collect(),
        known: BTreeSet::new(),
        observed: BTreeSet::new(),
        real: 0,
        observations,
        check: Check {
            base,
            rules: Vec::new(),
            violations: Vec::new(),
            observed: Vec::new(),
            executions,
            sources: 0,
            left_out: source.left_out,
            refused: source.scene.trace.run().refused_functions,
        },
    };
    let mut waiting = VecDeque::from(checker.from(&source)?);
    drop(source);
    while let Some(pending) = waiting.pop_front()
        && !checker.is_over()
    {
        waiting.extend(checker.go_on_from(&pending)?);
    }
    checker.check.violations.sort_by_key(|it| !it.is_real());
    checker.check.observed = checker.observations.0;
    Ok(Some(checker.check))
}

struct Checker<'a> {
    options: &'a Options,
    rules: &'a [Property],
    scratch: &'a Scratch,
    tell: &'a (dyn Fn(Stage) + Sync),
    /// Where any trace had events so far.
    places: BTreeSet<Place>,
    /// What was tried or seen so far.
    known: BTreeSet<Key>,
    /// What recorded runs break.
    observed: BTreeSet<Key>,
    /// Violations that the program has done.
    real: usize,
    observations: Observations,
    check: Check,
}

/// Prospects with the same places, and what is next for them.
struct Group {
    rule: usize,
    prospects: VecDeque<Prospect>,
    /// How often the program may still be run for it.
    tries: usize,
    violation: Violation,
}

impl Group {
    /// The next prospect that has a schedule in which it breaks the rule.
    fn next(&mut self, watch: &Watch<'_>, witnesses: &Witnesses<'_>) -> Option<Witness> {
        while self.tries > 0 {
            let prospect = self.prospects.pop_front()?;
            match witnesses.witness_apart(&prospect.candidate, &watch.aparts(&prospect)) {
                Ok(witness) if watch.is_broken(&prospect, turns(&witness)) => {
                    self.tries -= 1;
                    return Some(witness);
                }
                Ok(_) => self.note(State::Spoiled),
                Err(why) => self.note(State::Infeasible(why)),
            }
        }
        None
    }

    fn note(&mut self, state: State) {
        if matches!(self.violation.state, State::Untried) {
            self.violation.state = state;
        }
    }
}

impl Checker<'_> {
    fn is_over(&self) -> bool {
        self.check.executions >= self.options.budget || Interrupt::caught().is_some()
    }

    /// Predicts from the trace of an earlier run, which is not needed any longer then. Traces wait
    /// on disk: only one is in memory, and those of the wave that is being tried.
    fn go_on_from(&mut self, pending: &Pending) -> Result<Vec<Pending>, ReplayError> {
        let source = Source::open(&pending.folder, pending.process)?;
        discard(&pending.folder);
        self.from(&source)
    }

    /// Predicts from a trace and tries; returns runs that took new ways.
    fn from(&mut self, source: &Source) -> Result<Vec<Pending>, ReplayError> {
        (self.tell)(Stage::Predicting);
        let names = Named(&source.scene.modules);
        let watches: Vec<_> =
            self.rules.iter().map(|it| Watch::new(it, &source.trace, &names)).collect();
        self.observe(source, &watches)?;
        let mut groups = self.groups(source, &watches);
        self.check.sources += 1;
        let witnesses = Witnesses::new(&source.trace);
        let mut new = Vec::new();
        let mut open: VecDeque<usize> = (0..groups.len()).collect();
        while !open.is_empty() && !self.is_over() {
            let wave = self.wave(&mut groups, &mut open, &watches, &witnesses);
            let attempts = side_by_side(self.options.jobs, &wave, |(_, witness)| {
                self.scratch.attempt(self.options, source, witness)
            })?;
            for ((at, witness), attempt) in wave.into_iter().zip(attempts) {
                self.check.executions += 1;
                new.extend(self.settle(source, &mut groups[at], witness, attempt)?);
                self.push(source, &mut groups[at], &witnesses)?;
                if !groups[at].violation.is_real() {
                    open.push_back(at);
                }
            }
        }
        for group in &groups {
            if group.tries == 0 && !group.violation.is_real() {
                self.check.rules[group.rule].untried += group.prospects.len();
            }
        }
        self.check.violations.extend(groups.into_iter().map(|it| it.violation));
        Ok(new)
    }

    /// What the trace itself breaks.
    fn observe(&mut self, source: &Source, watches: &[Watch<'_>]) -> Result<(), ReplayError> {
        for watch in watches {
            for seen in watch.observed() {
                let key = source.key(&candidate(watch.property(), &seen.breach.steps));
                if self.observed.insert(key.clone()) && self.known.insert(key) {
                    let clip = self.save(&capture(&source.scene))?;
                    let mut violation = happened(source, watch.property(), &seen);
                    violation.state = State::Observed(clip);
                    self.check.violations.push(violation);
                }
            }
        }
        Ok(())
    }

    /// Prospects by what they are for a person, without those that are known.
    fn groups(&mut self, source: &Source, watches: &[Watch<'_>]) -> Vec<Group> {
        let order = HappensBefore::new(&source.trace);
        let mut groups: Vec<Group> = Vec::new();
        for (rule, watch) in watches.iter().enumerate() {
            let outlook = watch.outlook(&order, Limits::default());
            if self.check.sources == 0 {
                self.check.rules.push(checked(source, watch.property(), &outlook));
            } else {
                self.check.rules[rule].bounds.add(outlook.bounds);
            }
            let mut last = None;
            for prospect in outlook.prospects {
                if last.replace(prospect.group) == Some(prospect.group) {
                    if let Some(group) = groups.last_mut() {
                        group.prospects.push_back(prospect);
                    }
                    continue;
                }
                let known = !self.known.insert(source.key(&prospect.candidate));
                groups.push(Group {
                    rule,
                    violation: predicted(source, watch.property(), &prospect),
                    tries: if known { 0 } else { self.options.instances },
                    prospects: [prospect].into(),
                });
            }
        }
        groups.retain(|it| it.tries > 0);
        in_turn(groups)
    }

    /// What is tried next: the first that have a schedule.
    fn wave(
        &self,
        groups: &mut [Group],
        open: &mut VecDeque<usize>,
        watches: &[Watch<'_>],
        witnesses: &Witnesses<'_>,
    ) -> Vec<(usize, Witness)> {
        let left = self.options.budget.saturating_sub(self.check.executions);
        let most = self.options.jobs.get().min(left);
        let mut wave = Vec::new();
        while wave.len() < most
            && let Some(at) = open.pop_front()
        {
            let group = &mut groups[at];
            let witness = group.next(&watches[group.rule], witnesses);
            wave.extend(witness.map(|it| (at, it)));
        }
        let (executions, confirmed) = (self.check.executions, self.real);
        (self.tell)(Stage::Trying { executions, left: open.len() + wave.len(), confirmed });
        wave
    }

    /// Notes what came of an attempt; returns the run if it took a new way.
    fn settle(
        &mut self,
        source: &Source,
        group: &mut Group,
        witness: Witness,
        attempt: Attempt,
    ) -> Result<Option<Pending>, ReplayError> {
        let run = &attempt.run;
        let Some(process) = run.process() else { return Ok(None) };
        let seen = Source::open(&attempt.trace, process)?;
        let rule = &self.rules[group.rule];
        let watch = Watch::new(rule, &seen.trace, &Named(&seen.scene.modules));
        // What the recorded run does, too, is not what was to be confirmed.
        let is_new = |it: &norn_property::Observed| {
            !self.observed.contains(&seen.key(&candidate(rule, &it.breach.steps)))
        };
        let Some(breach) = watch.observed().into_iter().find(is_new) else {
            group.violation.state = State::Unconfirmed(attempt.verdict.clone());
            let executions = self.check.executions;
            self.observations.add(self.options, run, &attempt.trace, executions, None)?;
            if self.is_new(&seen) && !run.consequence.is_failure() {
                return Ok(Some(Pending { folder: attempt.trace, process }));
            }
            discard(&attempt.trace);
            return Ok(None);
        };
        let followed = attempt.is_followed();
        let mut clip = if followed { attempt.kept(source) } else { capture(&seen.scene) };
        clip.expect = Some(attempt.run.consequence.clone());
        let clip = self.save(&clip)?;
        discard(&attempt.trace);
        let run = attempt.run;
        let orders = interleaving(source, Some(&seen), &witness.candidate);
        group.violation = happened(&seen, rule, &breach);
        group.violation.state = State::Confirmed(Box::new(Confirmed {
            other_output: run.output != self.check.base.output,
            consequence: run.consequence,
            story: run.story,
            witness,
            interleaving: orders,
            clip,
            executions: self.check.executions,
        }));
        Ok(None)
    }

    /// What a confirmed violation leads to, if it did not fail: once more, and each function that
    /// it is about runs to its end before the next event.
    fn push(
        &mut self,
        source: &Source,
        group: &mut Group,
        witnesses: &Witnesses<'_>,
    ) -> Result<(), ReplayError> {
        let Some(how) = group.violation.confirmed() else { return Ok(()) };
        let harmless = !how.consequence.is_failure();
        let longer = whole_calls(&source.trace, &how.witness.candidate).filter(|_| harmless);
        let witness = longer.and_then(|it| witnesses.witness(&it).ok());
        let Some(witness) = witness.filter(|_| !self.is_over()) else { return Ok(()) };
        let attempt = self.scratch.attempt(self.options, source, &witness)?;
        self.check.executions += 1;
        if let (Some(process), true) = (attempt.run.process(), attempt.run.consequence.is_failure())
        {
            let mut clip = capture(&Scene::open(&attempt.trace, process)?);
            clip.expect = Some(attempt.run.consequence.clone());
            let clip = self.save(&clip)?;
            let Run { consequence, story, .. } = attempt.run;
            group.violation.harm = Some(Harm { consequence, story, clip });
        }
        discard(&attempt.trace);
        Ok(())
    }

    /// Whether a run did something where no other did.
    fn is_new(&mut self, source: &Source) -> bool {
        let before = self.places.len();
        self.places.extend(places(&source.scene.trace));
        self.places.len() > before
    }

    /// Keeps a clip of something that the program did.
    fn save(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.real += 1;
        make(&self.options.clips())?;
        let path = self.options.clips().join(format!("{}.json", self.real));
        clip.write(&path)?;
        Ok(path)
    }
}

/// The schedule of a witness: threads, each until before one of its events.
pub(crate) fn turns(witness: &Witness) -> impl Iterator<Item = (ThreadId, u64)> {
    witness.turns.iter().map(|it| (it.thread, it.until))
}

/// What was seen of a rule.
pub(crate) fn checked(source: &Source, rule: &Property, outlook: &Outlook) -> Checked {
    let events = rule.definition.events.iter().map(|it| it.name.text.clone());
    let firsts = outlook.prospects.iter().filter(|it| it.candidate.instance == 0);
    Checked {
        name: rule.name().to_owned(),
        instances: outlook.instances,
        events: events.zip(outlook.counts.iter().copied()).collect(),
        candidates: firsts.count(),
        bounds: outlook.bounds,
        unseen: unseen(source, rule, &outlook.counts),
        untried: 0,
    }
}

/// The rules take turns, so that many candidates of one do not keep the others waiting.
fn in_turn(groups: Vec<Group>) -> Vec<Group> {
    let mut ranked: Vec<(usize, Group)> = Vec::new();
    for group in groups {
        let rank = ranked.iter().filter(|it| it.1.rule == group.rule).count();
        ranked.push((rank, group));
    }
    ranked.sort_by_key(|(rank, group)| (*rank, group.rule));
    ranked.into_iter().map(|(_, group)| group).collect()
}
