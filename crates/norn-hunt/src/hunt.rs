//! The hunt for anomalies: candidates that patterns allow in a trace, and the behaviour of the
//! program when it is forced to perform them.

mod certain;
mod credit;
mod examined;
mod follow_up;
mod grouping;
mod queue;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    path::Path,
    sync::Arc,
};

use norn_frontend::Interrupt;
use norn_model::BugClass;
use norn_replay::{ReplayError, capture};
use norn_report::Ended;
use norn_witness::Grade;

use self::queue::{Attempt, Experience, Queue};
use crate::{
    Base, Finding, Listener, News, Omissions, Options, Stage, Status, atomic_set,
    attempt::is_confirmed,
    base::{Recorded, record},
    campaign::{
        ClipStore, Driven, Evidence, Hypotheses, Lead, Limits, Next, Pending, Promise, Trial,
        Urgency, drive,
    },
    claim::claim,
    danger::{Dangers, Failures},
    describe::describe,
    diagnose::behind_order,
    engine::CachedWitnesses,
    executor::{Plan, Run},
    finding::Confirmed,
    fix::FixSearch,
    foreign, handover,
    library_sync::predict_program,
    observe::Observed,
    reproduce::Reproduction,
    source::Source,
    source_key::SourceKey,
    unrecorded_sync,
};

/// The result of a hunt.
#[derive(Debug)]
pub struct Hunt {
    /// The recorded run.
    pub base: Arc<Base>,
    /// The findings, in the order in which they were predicted.
    pub findings: Vec<Arc<Finding>>,
    /// Failures that were observed without having been predicted.
    pub observed: Vec<Observed>,
    /// Number of executions, the recorded run included, without replays.
    pub executions: usize,
    /// Number of replays of clips.
    pub replays: usize,
    /// The budget of executions.
    pub budget: usize,
    /// Why the hunt ended.
    pub ended: Ended,
    /// Number of traces that were analysed.
    pub sources: usize,
    /// Whether the search for a pattern or for deadlocks reached its limit before its end.
    pub incomplete: bool,
    /// What was not analysed.
    pub omitted: Omissions,
}

/// Hunts. Returns `None` if the program records no events.
pub fn hunt(
    options: &Options,
    scratch: &Path,
    listener: Listener<'_, Hunt>,
) -> Result<Option<Hunt>, ReplayError> {
    let _watch = Interrupt::watch();
    let _ = listener(News::Stage(Stage::recording()));
    let Some(recorded) = record(options, scratch)? else { return Ok(None) };
    let Recorded { base, source, executor, options, observations, clips } = recorded;
    let executions = base.executions;
    let source = Arc::new(source);
    let mut hunting = Hunting {
        evidence: Evidence::new((&options, &executor), base, &source, observations, clips),
        known: BTreeMap::new(),
        decided: BTreeSet::new(),
        elsewhere: BTreeSet::new(),
        experience: Experience::default(),
        fixes: FixSearch::default(),
        findings: Vec::new(),
        sources: 0,
        incomplete: false,
        omitted: Omissions::default(),
        listener,
    };
    hunting.evidence.guide(&source);
    let limits = Limits::from(&options);
    let Driven { executions, ended } = drive(&mut hunting, source, executions, limits, &executor)?;
    Ok(Some(Hunt { ended, ..hunting.known(executions) }))
}

/// A hunt in progress.
struct Hunting<'a> {
    evidence: Evidence<'a>,
    /// The finding of each candidate so far.
    known: BTreeMap<SourceKey, usize>,
    /// Decided findings: confirmed, or unconfirmed although a schedule preserved all values.
    decided: BTreeSet<usize>,
    /// Findings that were searched in the trace of an attempt that did the same to other memory.
    elsewhere: BTreeSet<usize>,
    /// What attempts have shown so far about which candidates are worth trying.
    experience: Experience,
    fixes: FixSearch,
    findings: Vec<Arc<Finding>>,
    sources: usize,
    incomplete: bool,
    omitted: Omissions,
    listener: Listener<'a, Hunt>,
}

impl Hypotheses for Hunting<'_> {
    type Plan = Plan;
    type Run = Run;
    type Source = Arc<Source>;
    type Pending = Pending;
    type Tools<'t>
        = CachedWitnesses<'t>
    where
        Self: 't;
    type Queue = Queue;
    type Attempt = Attempt;

    fn tools<'t>(&self, source: &'t Arc<Source>) -> CachedWitnesses<'t>
    where
        Self: 't,
    {
        CachedWitnesses::new(&source.trace, self.evidence.options.witnesses())
    }

    fn predict(
        &mut self,
        source: &Arc<Source>,
        witnesses: &CachedWitnesses<'_>,
    ) -> Result<Queue, ReplayError> {
        let (sets, unknown) = atomic_set::find(source, &self.evidence.options.atomic_sets);
        let failures = Failures::new(source, self.evidence.options);
        let critical_reads = failures.critical_reads(source, self.evidence.options.distance);
        let options = &self.evidence.options.predict;
        let options = norn_predict::Options { sets, critical_reads, ..options.clone() };
        let mut prediction = predict_program(source, &options);
        foreign::leave_out(source, &mut prediction);
        let dangers = Dangers::new(&failures, std::mem::take(&mut prediction.dangers));
        self.incomplete |= prediction.incomplete;
        let omitted = Omissions::new(source, &prediction, unknown);
        self.omitted.add(omitted, self.sources == 0);
        let candidates = prediction.candidates.into_iter().map(|it| (it, None));
        let violations = prediction.violations.into_iter().map(|(it, remark)| (it, Some(remark)));
        let groups = self.groups((source, &dangers), candidates.chain(violations));
        witnesses.expect(groups.iter().map(|it| &it.instances), self.sources);
        let groups = examined::in_turn(groups, &self.findings, witnesses);
        let groups = certain::first(groups, witnesses);
        let trace = self.sources;
        self.sources += 1;
        Ok(Queue::new(groups, self.experience.clone(), trace))
    }

    fn left(&self, queue: &Queue) -> usize {
        queue.left()
    }

    fn next(&self, queue: &mut Queue, witnesses: &CachedWitnesses<'_>) -> Next<Attempt> {
        queue.next(witnesses)
    }

    fn urgency(&self, queue: &Queue) -> Urgency {
        queue.urgency()
    }

    fn is_ahead(&self, attempt: &Attempt) -> bool {
        attempt.is_ahead
    }

    fn is_promising(&self, queue: &Queue) -> bool {
        queue.is_promising()
    }

    fn urgent(&self) -> usize {
        self.evidence.urgent()
    }

    fn assume_unconfirmed(&self, queue: &mut Queue, attempt: &Attempt) {
        queue.settle(attempt, false, false);
    }

    fn plan(&self, source: &Arc<Source>, attempt: &Attempt) -> Plan {
        if let Some(it) = &attempt.perturbation {
            return Plan::Perturb(Arc::clone(source), Arc::clone(it));
        }
        let witness = Arc::new(attempt.witness.clone());
        Plan::Follow(Arc::clone(source), witness, attempt.continuation)
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
        let Attempt { finding, witness, .. } = &attempt;
        let finding = *finding;
        let performed = is_confirmed(source, witness, &run)?;
        let trace = queue.trace;
        let confirmed = performed && self.confirm((source, trace), &attempt, &run, executions)?;
        if !performed {
            self.evidence.observe(&run, executions, Some(finding))?;
            let status = &self.findings[finding].status;
            let known = matches!(status, Status::Confirmed(_) | Status::NotReproducible(..))
                || attempt.perturbation.is_some();
            if let Some(thread) = run.forced.as_ref().and_then(|it| it.departed(source)) {
                queue.note_departure(&attempt, thread);
            }
            if !run.consequence().is_failure() {
                queue.perturb(tools, &attempt);
            }
            if let (false, Some(forced)) = (known, &run.forced) {
                let verdict = forced.verdict.clone();
                let sync = unrecorded_sync::explain(source, &witness.candidate, &run)?;
                let finding = self.finding(finding);
                finding.status = Status::Unconfirmed(verdict);
                finding.unrecorded_sync = sync;
            }
        }
        if confirmed || witness.grade == Grade::Sound {
            self.decided.insert(finding);
        }
        queue.settle(&attempt, confirmed, self.findings[finding].is_harmful());
        if confirmed && !self.findings[finding].is_harmful() {
            queue.follow_up(tools, &attempt);
        }
        if confirmed {
            self.credit(queue, source, &attempt, &run)?;
        }
        let mut promise = Promise::default();
        if let Some(forced) = &run.forced {
            let prefix = forced.prefix(source);
            promise.new_code = self.evidence.guide_attempt(&run, &prefix)?;
            // The program did the same to other memory. Its own trace says which.
            let is_other = !performed && forced.is_followed() && queue.is_dangerous(&attempt);
            promise.finding = is_other.then_some(finding).filter(|it| self.elsewhere.insert(*it));
        }
        self.evidence.learn(run, promise)
    }

    fn explored(
        &mut self,
        run: Run,
        executions: usize,
    ) -> Result<Option<Lead<Pending>>, ReplayError> {
        self.evidence.observe(&run, executions, None)?;
        self.evidence.learn_explored(run)
    }

    fn finish(&mut self, mut queue: Queue) -> Option<Queue> {
        self.note_refused(&mut queue);
        self.experience = queue.experience.clone();
        let deferred = queue.deferred(|finding| self.findings[finding].is_harmful());
        Some(deferred).filter(|it| it.left() > 0)
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

impl Hunting<'_> {
    /// What is known after some executions. Findings are shared, not copied.
    fn known(&self, executions: usize) -> Hunt {
        let (base, observed, replays) = self.evidence.results();
        Hunt {
            base,
            findings: self.findings.clone(),
            observed,
            executions,
            replays,
            budget: self.evidence.options.budget,
            ended: Ended::Complete,
            sources: self.sources,
            incomplete: self.incomplete,
            omitted: self.omitted.clone(),
        }
    }

    /// A finding, to be changed. What was published keeps its own copy.
    fn finding(&mut self, at: usize) -> &mut Finding {
        Arc::make_mut(&mut self.findings[at])
    }

    /// Records which candidates have no schedule.
    fn note_refused(&mut self, queue: &mut Queue) {
        // An engine that is cut short decides nothing.
        if self.evidence.options.cancel.is_cancelled() {
            queue.refused.clear();
        }
        for (finding, why) in queue.refused.drain(..) {
            if matches!(self.findings[finding].status, Status::Untried) {
                self.finding(finding).status = Status::Infeasible(why);
            }
        }
    }

    /// Records that the program performed a candidate, unless it did so before and this run is no
    /// worse. Returns whether that is confirmed: if it is harmful, a replay must show it again.
    fn confirm(
        &mut self,
        (source, trace): (&Source, usize),
        attempt: &Attempt,
        run: &Run,
        executions: usize,
    ) -> Result<bool, ReplayError> {
        let Attempt { finding, witness, perturbation, .. } = attempt;
        let finding = *finding;
        let known = self.findings[finding].confirmed().map(|it| it.clip.clone());
        // A race is harmful before a run fails by it.
        let executions = self.findings[finding].harmful_since().unwrap_or(executions);
        if known.is_some() && !run.consequence().is_failure() {
            return Ok(true);
        }
        let forced = run.source()?;
        let followed = run.forced.as_ref().filter(|it| forced.is_none() || it.is_followed());
        let mut made = match (followed, forced) {
            (Some(it), _) => it.kept(source, run),
            // A run that left its schedule is reproduced by its own schedule, not by the planned
            // one.
            (None, Some(forced)) => capture(&forced.symbolized),
            (None, None) => return Ok(false),
        };
        made.expect = Some(run.consequence().clone());
        let description = describe(source, &witness.candidate, true);
        made.set_claim(claim(source, forced, &witness.candidate, &description));
        let mut confirmed = Confirmed {
            unordered: handover::unordered(source, &witness.candidate),
            perturbed: perturbation.is_some(),
            ..Confirmed::new((run, &self.evidence.base), (source, forced), witness, executions)
        };
        let instead = match self.evidence.reproduce(&mut confirmed, &mut made)? {
            Reproduction::Same => None,
            Reproduction::Different(instead) => Some(instead),
            Reproduction::Interrupted => return Ok(false),
        };
        let is_confirmed = instead.is_none();
        // What an earlier run has shown stays confirmed.
        if known.is_some() && (!is_confirmed || !confirmed.consequence.is_failure()) {
            return Ok(true);
        }
        let clips = &mut self.evidence.clips;
        confirmed.clip = match known {
            Some(path) => ClipStore::replace(&made, &path).map(|()| path)?,
            None if is_confirmed => clips.save(&made)?,
            None => clips.save_not_reproduced(&made)?,
        };
        let unrecorded_sync = unrecorded_sync::between(source, &witness.candidate, run)?;
        let is_race = witness.candidate.class() == BugClass::Race;
        let harmful = is_race && unrecorded_sync.is_none();
        if is_confirmed && (harmful || confirmed.consequence.is_failure()) {
            confirmed.fix = self.fixes.suggest(source, &witness.candidate);
            confirmed.cause = behind_order((source, &witness.candidate), run)?;
        }
        let confirmed = Box::new(confirmed);
        let finding = self.finding(finding);
        finding.candidate = witness.candidate.clone();
        finding.description = description;
        finding.source = trace;
        finding.unrecorded_sync = unrecorded_sync;
        let status = match instead {
            None => Status::Confirmed(confirmed),
            Some(instead) => Status::NotReproducible(confirmed, instead),
        };
        let before = std::mem::replace(&mut finding.status, status);
        // A failure that happened once stays in the report.
        if let Status::NotReproducible(how, instead) = before {
            self.evidence.note_not_reproduced(&how, how.clip.clone(), *instead);
        }
        Ok(is_confirmed)
    }
}

impl From<&Options> for Limits {
    fn from(options: &Options) -> Limits {
        Limits { budget: options.budget, explore: options.explore, jobs: options.jobs.get() }
    }
}
