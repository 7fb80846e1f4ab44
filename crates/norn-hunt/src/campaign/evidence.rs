//! What every run contributes, whatever its purpose: its new coverage and its failures.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use norn_model::{SiteId, ThreadName};
use norn_replay::{Clip, ReplayError, RunFolder};
use norn_report::NotReproduced;

use super::{
    ClipStore, Lead,
    coverage::{Coverage, NewCoverage},
};
use crate::{
    Base, Confirmed, Options,
    executor::{LocalExecutor, Plan, Run},
    guide::Guide,
    observe::{Observations, Observed},
    reproduce::{Replay, replay},
    source::Source,
};

/// Traces with at most this many events stay in memory while they wait to be analysed.
const KEPT_EVENTS: usize = 1 << 16;

/// Everything that is known so far.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) options: &'a Options,
    executor: &'a LocalExecutor,
    pub(crate) base: Arc<Base>,
    coverage: Coverage,
    /// The runs that are mutated.
    guide: Guide,
    pub(crate) observations: Observations,
    pub(crate) clips: ClipStore,
    /// Number of replays of the clips of findings.
    replays: usize,
}

/// A run that waits to be analysed.
#[derive(Debug)]
pub(crate) struct Pending {
    folder: Option<RunFolder>,
    process: u32,
    /// Its loaded trace, if that is small.
    source: Option<Source>,
    promise: Promise,
}

/// What of a trace is tried soon.
#[derive(Clone, Debug, Default)]
pub(crate) struct Promise {
    /// The sites of the code that it was the first to execute.
    pub(crate) new_code: BTreeSet<SiteId>,
    /// The finding that another path led to.
    pub(crate) finding: Option<usize>,
}

impl Promise {
    pub(crate) fn is_empty(&self) -> bool {
        self.new_code.is_empty() && self.finding.is_none()
    }
}

impl<'a> Evidence<'a> {
    /// Begins with the recorded run and the failures that were observed before it.
    pub(crate) fn new(
        (options, executor): (&'a Options, &'a LocalExecutor),
        base: Base,
        recorded: &Source,
        observations: Observations,
        clips: ClipStore,
    ) -> Evidence<'a> {
        let mut coverage = Coverage::default();
        coverage.learn(&recorded.symbolized.trace);
        let base = Arc::new(base);
        let guide = Guide::default();
        Evidence { options, executor, base, coverage, guide, observations, clips, replays: 0 }
    }

    /// Lets exploration begin with mutations of the recorded run.
    pub(crate) fn guide(&mut self, recorded: &Arc<Source>) {
        self.guide.learn(recorded);
        self.guide.add(recorded, &BTreeMap::new(), 0, &BTreeSet::new());
    }

    /// Number of explored runs that continue from what runs have just reached for the first time.
    pub(crate) fn urgent(&self) -> usize {
        self.guide.urgent()
    }

    /// Lets exploration continue from the run of an attempt, if it shows a new reads-from pair. Returns the
    /// sites of the code that it was the first to execute.
    pub(crate) fn guide_attempt(
        &mut self,
        run: &Run,
        prefix: &BTreeMap<ThreadName, u64>,
    ) -> Result<BTreeSet<SiteId>, ReplayError> {
        let passed = run.passed_trace()?.filter(Guide::may_mutate);
        let Some(symbolized) = passed else { return Ok(BTreeSet::new()) };
        let source = Arc::new(Source::new(symbolized, self.options.loading()));
        let learnt = self.guide.learn(&source);
        if learnt.is_new() {
            self.guide.add(&source, prefix, 1, &learnt.sites);
        }
        Ok(learnt.code)
    }

    /// Replays the clip of a harmful finding. The driver waits for the result, which depends on
    /// nothing but the clip: so it does not matter how many other runs are made meanwhile. `None` if
    /// the user interrupted it.
    pub(crate) fn replay(&mut self, clip: &Clip) -> Result<Option<Replay>, ReplayError> {
        let replay = replay(self.executor, clip)?;
        self.replays += usize::from(replay.is_some());
        Ok(replay)
    }

    /// Records the failure of a finding that did not happen again when its clip was replayed.
    pub(crate) fn note_not_reproduced(
        &mut self,
        confirmed: &Confirmed,
        clip: PathBuf,
        instead: NotReproduced,
    ) {
        if !confirmed.consequence.is_failure() {
            return;
        }
        let observed = Observed {
            consequence: confirmed.consequence.clone(),
            failure: confirmed.failure.clone(),
            story: confirmed.story.clone(),
            printed: confirmed.printed.clone(),
            cause: None,
            clip,
            executions: confirmed.executions,
            finding: None,
            not_reproduced: Some(instead),
            older_loads: 0,
        };
        self.observations.add_not_reproduced(observed);
    }

    /// The recorded run, the observed failures, and the number of replays.
    pub(crate) fn results(&self) -> (Arc<Base>, Vec<Observed>, usize) {
        let (observed, replays) = self.observations.verified();
        (Arc::clone(&self.base), observed, self.replays + replays)
    }

    /// Records the failure of a run, unless it is known. The run may have been an attempt for a
    /// finding.
    pub(crate) fn observe(
        &mut self,
        run: &Run,
        executions: usize,
        finding: Option<usize>,
    ) -> Result<(), ReplayError> {
        self.observations.add(&mut self.clips, run, executions, finding)?;
        self.observations.verify(self.executor)
    }

    /// Adds the coverage of a run. Returns the run if it covers something new.
    pub(crate) fn learn(
        &mut self,
        run: Run,
        promise: Promise,
    ) -> Result<Option<Lead<Pending>>, ReplayError> {
        let Some(symbolized) = run.passed_trace()? else { return Ok(None) };
        let coverage = self.coverage.learn(&symbolized.trace);
        Ok(coverage.map(|it| lead(it, run, promise)))
    }

    /// Adds what an explored run has shown. Returns the run if it reached a new place.
    pub(crate) fn learn_explored(
        &mut self,
        run: Run,
    ) -> Result<Option<Lead<Pending>>, ReplayError> {
        self.guide.finish(run.mutation.as_ref());
        let Some(symbolized) = run.passed_trace()? else { return Ok(None) };
        if let Some(mutation) = &run.mutation {
            let coverage = self.coverage.learn(&symbolized.trace);
            let source = Arc::new(Source::new(symbolized, self.options.loading()));
            let learnt = self.guide.learn(&source);
            let is_new = learnt.is_new() || coverage.is_some();
            if is_new {
                let depth = mutation.depth() + 1;
                self.guide.add(&source, &mutation.prefix(), depth, &learnt.sites);
            }
            let coverage = coverage.or_else(|| is_new.then_some(NewCoverage::Value));
            let promise = Promise { new_code: learnt.code, finding: None };
            return Ok(coverage.map(|it| lead(it, run, promise)));
        }
        let is_new = self.coverage.learn_places(&symbolized.trace);
        Ok(is_new.then(|| lead(NewCoverage::Place, run, Promise::default())))
    }

    /// Opens a waiting trace, unless it is still in memory. It can be opened again.
    pub(crate) fn open(&self, pending: &mut Pending) -> Result<Arc<Source>, ReplayError> {
        let Pending { folder, process, source, promise } = pending;
        let (front_end, loading) = (&*self.options.front_end, self.options.loading());
        let mut source = match (source.take(), &folder) {
            (Some(source), _) => source,
            (None, Some(folder)) => Source::open(front_end, &folder.trace(), *process, loading)?,
            (None, None) => Source::open(front_end, &self.options.output, *process, loading)?,
        };
        source.promise.clone_from(promise);
        Ok(Arc::new(source))
    }

    /// Opens the recorded run again.
    pub(crate) fn reopen(&self) -> Result<Arc<Source>, ReplayError> {
        let Options { front_end, output, .. } = self.options;
        Ok(Arc::new(Source::open(&**front_end, output, self.base.process, self.options.loading())?))
    }

    /// The plan of an explored run. If the recorded run ended while threads were running, the first
    /// one lets them continue.
    pub(crate) fn exploration(&self, number: usize) -> Plan {
        match &self.base.finish {
            Some(clip) if number == 0 => Plan::Finish(Arc::clone(clip)),
            _ => match self.guide.mutation(number) {
                Some(mutation) => Plan::Mutate(mutation.clone()),
                None => Plan::Explore(number, self.base.events),
            },
        }
    }
}

/// What is to be done with a run that covers something new.
fn lead(coverage: NewCoverage, run: Run, promise: Promise) -> Lead<Pending> {
    let is_promising = match coverage {
        NewCoverage::Place => !promise.is_empty(),
        NewCoverage::Value => promise.finding.is_some(),
    };
    let pending = Pending::new(run, promise);
    match coverage {
        _ if is_promising => Lead::Promising(pending),
        NewCoverage::Place => Lead::Place(pending),
        NewCoverage::Value => Lead::Value(pending),
    }
}

impl Pending {
    fn new(run: Run, promise: Promise) -> Pending {
        let process = run.process().unwrap_or_default();
        // If it cannot be loaded now, it is opened again when it is analysed.
        if run.is_short(KEPT_EVENTS as u64) {
            let _ = run.source();
        }
        let (folder, source) = run.into_trace();
        let source = source.filter(|it| it.trace.len() <= KEPT_EVENTS);
        Pending { folder, process, source, promise }
    }
}
