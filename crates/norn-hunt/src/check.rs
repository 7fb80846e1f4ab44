//! Checks user-defined properties: records a run with the events that the properties mention,
//! predicts orders that violate them, forces these orders on the program, and evaluates the
//! properties on the resulting runs.
//!
//! All properties share the recording, the order of its events and the schedule engine. A violation
//! is confirmed if the monitor finds it in the trace of the forced run; the monitor does not know
//! the prediction. A violation that an explored run exhibits counts as well.

mod queue;
mod verdict;

use std::{collections::BTreeSet, ops::ControlFlow, path::Path, sync::Arc};

use norn_frontend::Interrupt;
use norn_predict::HappensBefore;
use norn_property::{Property, PropertyAnalysis, PropertyPrediction, SearchLimits, Truncation};
use norn_replay::ReplayError;
use norn_report::Ended;

pub(crate) use self::queue::turns;
use self::queue::{Aim, Attempt, Group, Queue, in_turn};
use crate::{
    Base, Listener, News, Observed, Options, Stage, State, Unseen, Violation,
    attempt::Forced,
    base::{Recorded, record},
    campaign::{self, Driven, Evidence, Hypotheses, Lead, Next, Pending, Trial, drive},
    continuation::Continuation,
    engine::CachedWitnesses,
    executor::{Plan, Run},
    source::{Key, Source},
    unseen::unseen,
    violation::{Named, predicted},
    whole::whole_calls,
};

/// The result of checking properties.
#[derive(Debug)]
pub struct Check {
    /// The recorded run.
    pub base: Arc<Base>,
    /// The properties, in their order.
    pub properties: Vec<Checked>,
    /// Violations and candidates for them, in the order in which they were observed or predicted.
    pub violations: Vec<Arc<Violation>>,
    /// Observed failures that violate no property.
    pub observed: Vec<Observed>,
    /// Number of executions, the recorded run included, without replays.
    pub executions: usize,
    /// Number of replays of clips.
    pub replays: usize,
    /// The budget of executions.
    pub budget: usize,
    /// Why the check ended.
    pub ended: Ended,
    /// Number of traces that were analysed.
    pub sources: usize,
    /// Number of events of the recorded run that exceed the limit and were not analysed.
    pub left_out: u64,
    /// Number of places in named functions that could not be patched to record calls.
    pub refused: u64,
}

/// The results for one property in the recorded run.
#[derive(Clone, Debug)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Number of its instances.
    pub instances: usize,
    /// Its events, and how often each occurred.
    pub events: Vec<(String, u64)>,
    /// Number of orders that would violate it, before their feasibility is checked.
    pub candidates: usize,
    /// What the search left out, over all traces.
    pub bounds: Truncation,
    /// What it names and the program does not record, or not always.
    pub unseen: Vec<Unseen>,
    /// Events that never occurred in the recorded run and without which it cannot be violated.
    pub missing: Vec<String>,
    /// Number of candidates that were not tried because others at the same places had failed.
    pub untried: usize,
}

/// Checks properties. Returns `None` if the program records no events.
pub fn check(
    options: &Options,
    properties: &[Property],
    scratch: &Path,
    listener: Listener<'_, Check>,
) -> Result<Option<Check>, ReplayError> {
    let _watch = Interrupt::watch();
    let _ = listener(News::Stage(Stage::recording()));
    let Some(recorded) = record(options, scratch)? else { return Ok(None) };
    let Recorded { base, source, executor, options, observations, clips } = recorded;
    let executions = base.executions;
    let mut checking = Checking {
        evidence: Evidence::new((&options, &executor), base, &source, observations, clips),
        properties,
        known: BTreeSet::new(),
        observed: BTreeSet::new(),
        seen: Vec::new(),
        violations: Vec::new(),
        sources: 0,
        left_out: source.left_out,
        refused: source.symbolized.trace.run().refused_functions,
        listener,
    };
    let limits = campaign::Limits::from(&options);
    let source = Arc::new(source);
    let Driven { executions, ended } = drive(&mut checking, source, executions, limits, &executor)?;
    Ok(Some(Check { ended, ..checking.known(executions) }))
}

/// A check in progress.
struct Checking<'a> {
    evidence: Evidence<'a>,
    properties: &'a [Property],
    /// Violations that were tried or observed so far.
    known: BTreeSet<Key>,
    /// Violations that occurred in runs that were not forced to violate the property.
    observed: BTreeSet<Key>,
    /// The results for the properties.
    seen: Vec<Checked>,
    violations: Vec<Arc<Violation>>,
    sources: usize,
    /// Number of events of the recorded run that were not analysed.
    left_out: u64,
    /// Number of places in named functions that could not be patched.
    refused: u64,
    listener: Listener<'a, Check>,
}

/// The tools that decide about the properties in one trace.
pub(crate) struct Tools<'t> {
    watches: Vec<PropertyAnalysis<'t>>,
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
        let witnesses = CachedWitnesses::new(&source.trace, self.evidence.options.witnesses());
        Tools { watches: watches(self.properties, source), witnesses }
    }

    fn predict(&mut self, source: &Arc<Source>, tools: &Tools<'_>) -> Result<Queue, ReplayError> {
        self.observe(source, &tools.watches)?;
        let groups = self.groups(source, &tools.watches);
        let prospects = groups.iter().map(|it| it.prospects.iter().map(|it| &it.candidate));
        tools.witnesses.expect(prospects, self.sources);
        self.sources += 1;
        Ok(Queue::new(groups))
    }

    fn left(&self, queue: &Queue) -> usize {
        queue.left()
    }

    fn next(&self, queue: &mut Queue, tools: &Tools<'_>) -> Next<Attempt> {
        queue.next(&tools.watches, &tools.witnesses).into()
    }

    fn assume_unconfirmed(&self, queue: &mut Queue, attempt: &Attempt) {
        queue.try_again(attempt);
    }

    fn plan(&self, source: &Arc<Source>, attempt: &Attempt) -> Plan {
        let witness = Arc::new(attempt.witness.clone());
        Plan::Follow(Arc::clone(source), witness, Continuation::default())
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
        self.note_refused(queue);
        let group = queue.group(&attempt);
        let violation = group.violation;
        if attempt.aim == Aim::Consequence {
            self.note_consequence(violation, &run)?;
            return Ok(None);
        }
        if self.confirm(source, group, &attempt.witness, &run, executions)? {
            if !self.violations[violation].is_real() {
                queue.try_again(&attempt);
                return Ok(None);
            }
            let longer = whole_calls(&source.trace, &attempt.witness.candidate)
                .filter(|_| !run.consequence().is_failure());
            if let Some(witness) = longer.and_then(|it| tools.witnesses.witness(&it).ok()) {
                queue.follow_up(&attempt, witness);
            }
            return Ok(None);
        }
        if let Some(Forced { verdict, .. }) = &run.forced {
            self.violation(violation).state = State::Unconfirmed(verdict.clone());
        }
        queue.try_again(&attempt);
        self.evidence.observe(&run, executions, None)?;
        self.evidence.learn_explored(run)
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
        self.evidence.learn_explored(run)
    }

    fn finish(&mut self, mut queue: Queue) -> Option<Queue> {
        self.note_refused(&mut queue);
        for group in queue.into_groups() {
            if group.tries == 0 && !self.violations[group.violation].is_real() {
                self.seen[group.property].untried += group.prospects.len();
            }
        }
        None
    }

    fn open(&mut self, pending: &mut Pending) -> Result<Arc<Source>, ReplayError> {
        self.evidence.open(pending)
    }

    fn reopen(&mut self) -> Result<Arc<Source>, ReplayError> {
        self.evidence.reopen()
    }

    fn confirmed(&self) -> usize {
        self.evidence.clips.confirmed()
    }

    fn tell(&self, stage: Stage) -> ControlFlow<()> {
        (self.listener)(News::Stage(stage))
    }

    fn publish(&self, executions: usize) -> ControlFlow<()> {
        (self.listener)(News::Known(Box::new(self.known(executions))))
    }
}

/// The properties, prepared for one trace.
fn watches<'t>(properties: &'t [Property], source: &Source) -> Vec<PropertyAnalysis<'t>> {
    let names = Named(&*source.symbolized.symbols);
    properties.iter().map(|it| PropertyAnalysis::new(it, &source.trace, &names)).collect()
}

impl Checking<'_> {
    /// What is known after some executions. Violations are shared, not copied.
    fn known(&self, executions: usize) -> Check {
        let (base, observed, replays) = self.evidence.results();
        Check {
            base,
            properties: self.seen.clone(),
            violations: self.violations.clone(),
            observed,
            executions,
            replays,
            budget: self.evidence.options.budget,
            ended: Ended::Complete,
            sources: self.sources,
            left_out: self.left_out,
            refused: self.refused,
        }
    }

    /// A violation, to be changed. What was published keeps its own copy.
    fn violation(&mut self, at: usize) -> &mut Violation {
        Arc::make_mut(&mut self.violations[at])
    }

    /// Records which prospects have no schedule.
    fn note_refused(&mut self, queue: &mut Queue) {
        // An engine that is cut short decides nothing.
        if self.evidence.options.cancel.is_cancelled() {
            queue.refused.clear();
        }
        for (violation, state) in queue.refused.drain(..) {
            if matches!(self.violations[violation].state, State::Untried) {
                self.violation(violation).state = state;
            }
        }
    }

    /// Groups prospects that look the same to a reader, without the known ones.
    fn groups(&mut self, source: &Source, watches: &[PropertyAnalysis<'_>]) -> Vec<Group> {
        let order = HappensBefore::new(&source.trace);
        let mut groups: Vec<(Group, Violation)> = Vec::new();
        for (property, watch) in watches.iter().enumerate() {
            let outlook = watch.predict(&order, SearchLimits::default());
            if self.sources == 0 {
                self.seen.push(checked(source, watch.property(), &outlook));
            } else {
                self.seen[property].bounds.add(outlook.truncation);
            }
            let mut last = None;
            for prospect in outlook.predicted {
                if last.replace(prospect.group) == Some(prospect.group) {
                    if let Some((group, _)) = groups.last_mut() {
                        group.prospects.push_back(prospect);
                    }
                    continue;
                }
                let known = !self.known.insert(source.key(&prospect.candidate));
                let violation = predicted(source, watch.property(), &prospect);
                let group = Group {
                    property,
                    violation: 0,
                    tries: if known { 0 } else { self.evidence.options.instances },
                    prospects: [prospect].into(),
                };
                groups.push((group, violation));
            }
        }
        groups.retain(|it| it.0.tries > 0);
        let number = |(group, violation): (Group, Violation)| {
            self.violations.push(Arc::new(violation));
            Group { violation: self.violations.len() - 1, ..group }
        };
        in_turn(groups).into_iter().map(number).collect()
    }
}

/// The results for one property in one trace.
pub(crate) fn checked(
    source: &Source,
    property: &Property,
    outlook: &PropertyPrediction,
) -> Checked {
    let events = property.definition.events.iter().map(|it| it.name.text.clone());
    let firsts = outlook.predicted.iter().filter(|it| it.candidate.instance == 0);
    Checked {
        name: property.name().to_owned(),
        instances: outlook.instances,
        events: events.zip(outlook.counts.iter().copied()).collect(),
        candidates: firsts.count(),
        bounds: outlook.truncation,
        unseen: unseen(source, property, &outlook.counts),
        missing: missing(property, &outlook.counts),
        untried: 0,
    }
}

/// The events that never occurred, if every violation of the property needs one of them.
fn missing(property: &Property, counts: &[u64]) -> Vec<String> {
    let is_missing = |event: usize| counts.get(event) == Some(&0);
    let mut patterns = property.linear_patterns.iter();
    if !patterns.all(|pattern| pattern.items.iter().any(|it| is_missing(it.event))) {
        return Vec::new();
    }
    let events = property.definition.events.iter().enumerate();
    events.filter(|it| is_missing(it.0)).map(|it| it.1.name.text.clone()).collect()
}
