//! Properties of the user: a run is recorded with what they speak of, orders that break them are
//! predicted and forced on the program, and what it then did is held against the properties again.
//!
//! All properties share the recording, the order of its events and the engine for schedules. A violation
//! is confirmed if the forced run's own trace breaks the property, as the monitor says, which knows
//! nothing of the prediction. So is what a run breaks that was only explored.

mod queue;

use std::{collections::BTreeSet, path::Path, sync::Arc};

use norn_predict::HappensBefore;
use norn_property::{Bounds, Limits, Outlook, Property, Watch};
use norn_record::Interrupt;
use norn_replay::{ReplayError, capture};
use norn_witness::Witness;

pub(crate) use self::queue::turns;
use self::queue::{Aim, Attempt, Group, Queue};
use crate::{
    Base, Confirmed, Harm, Observed, Options, Stage, State, Unseen, Violation,
    attempt::Forced,
    base::{Recorded, record},
    campaign::{self, Evidence, Hypotheses, Lead, Pending, Trial, drive},
    engine::CachedWitnesses,
    executor::{Plan, Run},
    interleaving::interleaving,
    source::{Key, Source},
    unseen::unseen,
    violation::{Named, candidate, happened, predicted},
    whole::whole_calls,
};

/// What came of checking properties.
#[derive(Debug)]
pub struct Check {
    /// The recorded run.
    pub base: Base,
    /// The properties, in their order.
    pub rules: Vec<Checked>,
    /// What breaks them, or might: what the program has done first.
    pub violations: Vec<Violation>,
    /// Failures that were seen and break no property.
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

/// What was seen of a property in the recorded run.
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
    /// Events that never occurred in the recorded run and without which it cannot be violated.
    pub missing: Vec<String>,
    /// Ways to break it that were not tried, since others at the same places had been in vain.
    pub untried: usize,
}

/// Checks properties. Nothing if nothing can be recorded.
pub fn check(
    options: &Options,
    properties: &[Property],
    scratch: &Path,
    tell: &dyn Fn(Stage),
) -> Result<Option<Check>, ReplayError> {
    let _watch = Interrupt::watch();
    tell(Stage::Recording);
    let Some(recorded) = record(options, scratch)? else { return Ok(None) };
    let Recorded { base, source, executor, options, observations, clips } = recorded;
    let executions = base.executions;
    let mut checking = Checking {
        evidence: Evidence::new(&options, base, &source, observations, clips),
        properties,
        known: BTreeSet::new(),
        observed: BTreeSet::new(),
        seen: Vec::new(),
        violations: Vec::new(),
        sources: 0,
    };
    let left_out = source.left_out;
    let refused = source.scene.trace.run().refused_functions;
    let limits = campaign::Limits::from(&options);
    let source = Arc::new(source);
    let executions = drive(&mut checking, source, executions, limits, (&executor, tell))?;
    let Checking { evidence, seen, mut violations, sources, .. } = checking;
    violations.sort_by_key(|it| !it.is_real());
    Ok(Some(Check {
        base: evidence.base,
        rules: seen,
        violations,
        observed: evidence.observations.0,
        executions,
        sources,
        left_out,
        refused,
    }))
}

/// A check that is going on.
struct Checking<'a> {
    evidence: Evidence<'a>,
    properties: &'a [Property],
    /// What was tried or seen so far.
    known: BTreeSet<Key>,
    /// What runs break that were not forced to.
    observed: BTreeSet<Key>,
    /// What was seen of the properties.
    seen: Vec<Checked>,
    violations: Vec<Violation>,
    sources: usize,
}

/// What decides about the properties in one trace.
pub(crate) struct Tools<'t> {
    watches: Vec<Watch<'t>>,
    witnesses: CachedWitnesses<'t>,
}

impl Hypotheses for Checking<'_> {
    type Plan = Plan;
    type Run = Run;
    type Source = Arc<Source>;
    type Pending = Pending;
    type Tools<'t>
        = Tools<'t>
    where
        Self: 't;
    type Queue = Queue;
    type Attempt = Attempt;

    fn tools<'t>(&self, source: &'t Arc<Source>) -> Tools<'t>
    where
        Self: 't,
    {
        let witnesses = CachedWitnesses::new(&source.trace, self.evidence.options.engines);
        Tools { watches: watches(self.properties, source), witnesses }
    }

    fn predict(&mut self, source: &Arc<Source>, tools: &Tools<'_>) -> Result<Queue, ReplayError> {
        self.observe(source, &tools.watches)?;
        let groups = self.groups(source, &tools.watches);
        self.sources += 1;
        Ok(Queue::new(groups))
    }

    fn left(&self, queue: &Queue) -> usize {
        queue.left()
    }

    fn next(&self, queue: &mut Queue, tools: &Tools<'_>) -> Option<Attempt> {
        queue.next(&tools.watches, &tools.witnesses)
    }

    fn assume_unconfirmed(&self, queue: &mut Queue, attempt: &Attempt) {
        queue.try_again(attempt);
    }

    fn plan(&self, source: &Arc<Source>, attempt: &Attempt) -> Plan {
        Plan::Follow(Arc::clone(source), Arc::new(attempt.witness.clone()))
    }

    fn exploration(&self, number: usize) -> Plan {
        self.evidence.exploration(number)
    }

    fn judge(
        &mut self,
        queue: &mut Queue,
        trial: Trial<'_, '_, Self>,
    ) -> Result<Option<Lead<Pending>>, ReplayError> {
        let Trial { source, tools, attempt, run, executions } = trial;
        if attempt.aim == Aim::Consequence {
            self.note_consequence(queue.group(&attempt), &run)?;
            return Ok(None);
        }
        let group = queue.group(&attempt);
        if self.confirm(source, group, &attempt.witness, &run, executions)? {
            let longer = whole_calls(&source.trace, &attempt.witness.candidate)
                .filter(|_| !run.consequence().is_failure());
            if let Some(witness) = longer.and_then(|it| tools.witnesses.witness(&it).ok()) {
                queue.follow_up(&attempt, witness);
            }
            return Ok(None);
        }
        if let Some(Forced { verdict, .. }) = &run.forced {
            group.violation.state = State::Unconfirmed(verdict.clone());
        }
        queue.try_again(&attempt);
        self.evidence.observe(&run, executions, None)?;
        self.evidence.learn_places(run)
    }

    fn explored(
        &mut self,
        run: Run,
        executions: usize,
    ) -> Result<Option<Lead<Pending>>, ReplayError> {
        if let Some(source) = run.source()? {
            self.observe(source, &watches(self.properties, source))?;
        }
        self.evidence.observe(&run, executions, None)?;
        self.evidence.learn_places(run)
    }

    fn finish(&mut self, queue: Queue) -> Option<Queue> {
        for group in queue.into_groups() {
            if group.tries == 0 && !group.violation.is_real() {
                self.seen[group.property].untried += group.prospects.len();
            }
            self.violations.push(group.violation);
        }
        None
    }

    fn open(&mut self, pending: Pending) -> Result<Arc<Source>, ReplayError> {
        self.evidence.open(pending)
    }

    fn reopen(&mut self) -> Result<Arc<Source>, ReplayError> {
        self.evidence.reopen()
    }

    fn confirmed(&self) -> usize {
        self.evidence.clips.confirmed()
    }
}

/// The properties, ready to be held against a trace.
fn watches<'t>(properties: &'t [Property], source: &Source) -> Vec<Watch<'t>> {
    let names = Named(&source.scene.modules);
    properties.iter().map(|it| Watch::new(it, &source.trace, &names)).collect()
}

impl Checking<'_> {
    /// What a trace itself breaks.
    fn observe(&mut self, source: &Source, watches: &[Watch<'_>]) -> Result<(), ReplayError> {
        for watch in watches {
            for seen in watch.observed() {
                let key = source.key(&candidate(watch.property(), &seen.breach.steps));
                if self.observed.insert(key.clone()) && self.known.insert(key) {
                    let clip = self.evidence.clips.save(&capture(&source.scene))?;
                    let mut violation = happened(source, watch.property(), &seen);
                    violation.state = State::Observed(clip);
                    self.violations.push(violation);
                }
            }
        }
        Ok(())
    }

    /// Prospects by what they are for a person, without those that are known.
    fn groups(&mut self, source: &Source, watches: &[Watch<'_>]) -> Vec<Group> {
        let order = HappensBefore::new(&source.trace);
        let mut groups: Vec<Group> = Vec::new();
        for (property, watch) in watches.iter().enumerate() {
            let outlook = watch.outlook(&order, Limits::default());
            if self.sources == 0 {
                self.seen.push(checked(source, watch.property(), &outlook));
            } else {
                self.seen[property].bounds.add(outlook.bounds);
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
                    property,
                    violation: predicted(source, watch.property(), &prospect),
                    tries: if known { 0 } else { self.evidence.options.instances },
                    prospects: [prospect].into(),
                });
            }
        }
        groups.retain(|it| it.tries > 0);
        groups
    }

    /// Notes that a run breaks the property of a group, if it does; returns whether it does.
    fn confirm(
        &mut self,
        source: &Source,
        group: &mut Group,
        witness: &Witness,
        run: &Run,
        executions: usize,
    ) -> Result<bool, ReplayError> {
        let Some(seen) = run.source()? else { return Ok(false) };
        let property = &self.properties[group.property];
        let watch = Watch::new(property, &seen.trace, &Named(&seen.scene.modules));
        // What a run does by itself, too, is not what was to be confirmed.
        let is_new = |it: &norn_property::Observed| {
            !self.observed.contains(&seen.key(&candidate(property, &it.breach.steps)))
        };
        let Some(breach) = watch.observed().into_iter().find(is_new) else { return Ok(false) };
        let followed = run.forced.as_ref().filter(|it| it.is_followed());
        let mut clip = followed.map_or_else(|| capture(&seen.scene), |it| it.kept(source, run));
        clip.expect = Some(run.consequence().clone());
        group.violation = happened(seen, property, &breach);
        group.violation.state = State::Confirmed(Box::new(Confirmed {
            other_output: run.output != self.evidence.base.output,
            consequence: run.consequence().clone(),
            failure: run.failure.clone(),
            story: run.story.clone(),
            witness: witness.clone(),
            interleaving: interleaving(source, Some(seen), &witness.candidate),
            clip: self.evidence.clips.save(&clip)?,
            executions,
        }));
        Ok(true)
    }

    /// Notes what a confirmed violation leads to: in this run each function that it is about ran to
    /// its end before the next event.
    fn note_consequence(&mut self, group: &mut Group, run: &Run) -> Result<(), ReplayError> {
        let consequence = run.consequence();
        let Some(scene) = run.failed_scene()? else { return Ok(()) };
        let mut clip = capture(scene);
        clip.expect = Some(consequence.clone());
        let clip = self.evidence.clips.save(&clip)?;
        let (consequence, story) = (consequence.clone(), run.story.clone());
        group.violation.harm = Some(Harm { consequence, story, clip });
        Ok(())
    }
}

/// What was seen of a property.
pub(crate) fn checked(source: &Source, property: &Property, outlook: &Outlook) -> Checked {
    let events = property.definition.events.iter().map(|it| it.name.text.clone());
    let firsts = outlook.prospects.iter().filter(|it| it.candidate.instance == 0);
    Checked {
        name: property.name().to_owned(),
        instances: outlook.instances,
        events: events.zip(outlook.counts.iter().copied()).collect(),
        candidates: firsts.count(),
        bounds: outlook.bounds,
        unseen: unseen(source, property, &outlook.counts),
        missing: missing(property, &outlook.counts),
        untried: 0,
    }
}

/// The events that never occurred, if each way to violate the property needs one of them.
fn missing(property: &Property, counts: &[u64]) -> Vec<String> {
    let is_missing = |event: usize| counts.get(event) == Some(&0);
    let mut patterns = property.linear_patterns.iter();
    if !patterns.all(|pattern| pattern.items.iter().any(|it| is_missing(it.event))) {
        return Vec::new();
    }
    let events = property.definition.events.iter().enumerate();
    events.filter(|it| is_missing(it.0)).map(|it| it.1.name.text.clone()).collect()
}
