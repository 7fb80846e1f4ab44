//! Reads the runs of a store, in the order of their seeds, and ranks their patterns.

use std::collections::{BTreeMap, VecDeque};

use norn_localize::{Formula, Pattern};
use norn_store::{CampaignRow, Outcome, PREDICTED, Store, StoredRun};

use crate::{
    CampaignError, CodeSite, Failure, Localizer, Origin, RunEvidence, RunOutcome, Settings,
    Variation, Vary, stored,
};

/// Number of runs that are read at a time.
const BATCH: u64 = 100;

/// The command line that repeats a run.
pub type Reproduce<'a> = &'a (dyn Fn(Variation) -> Vec<String> + Sync);

/// The name of a run in reports: its seed, or its number among the predicted runs.
pub fn run_name(seed: u64) -> String {
    match seed.checked_sub(PREDICTED) {
        None => seed.to_string(),
        Some(number) => format!("prediction {number}"),
    }
}

/// The runs of a store.
#[derive(Debug)]
pub struct StoredEvidence {
    /// The runs that have been read.
    pub localizer: Localizer,
    /// Number of planned runs that have been read.
    pub runs: u64,
    /// Number of predicted runs among them, and of those that failed.
    pub predicted: (u64, u64),
    /// Why the first of the lost runs was lost.
    pub error: Option<String>,
    /// The seed from which runs are read next.
    next: u64,
    waiting: VecDeque<StoredRun>,
    vary: Vary,
    patterns: BTreeMap<i64, Pattern<CodeSite>>,
    failures: BTreeMap<i64, Failure>,
}

impl StoredEvidence {
    /// Nothing has been read.
    pub fn new(settings: &Settings, formula: Formula) -> StoredEvidence {
        StoredEvidence {
            localizer: Localizer::new(settings.window, formula),
            runs: 0,
            predicted: (0, 0),
            error: None,
            next: 0,
            waiting: VecDeque::new(),
            vary: settings.vary,
            patterns: BTreeMap::new(),
            failures: BTreeMap::new(),
        }
    }

    /// All runs that have been made; if the ranking has settled, only those that count.
    pub fn load(
        store: &mut Store,
        formula: Formula,
        reproduce: Reproduce<'_>,
    ) -> Result<StoredEvidence, CampaignError> {
        let CampaignRow { settings, settled, .. } = store.campaign()?;
        let mut evidence = StoredEvidence::new(&Settings::parse(&settings)?, formula);
        while let Some(run) = evidence.read(store)? {
            if settled.is_some_and(|it| run.seed > it) {
                break;
            }
            evidence.add(store, &run, reproduce)?;
        }
        Ok(evidence)
    }

    /// Adds the next run, unless it has not been made yet. Returns its seed.
    pub fn advance(
        &mut self,
        store: &mut Store,
        reproduce: Reproduce<'_>,
    ) -> Result<Option<u64>, CampaignError> {
        let Some(run) = self.read(store)? else { return Ok(None) };
        if run.outcome.is_none() {
            // It is read again next time, with those after it.
            self.next = run.seed;
            self.waiting.clear();
            return Ok(None);
        }
        self.add(store, &run, reproduce)?;
        Ok(Some(run.seed))
    }

    /// Adds a predicted run that was just put into the store.
    pub(crate) fn add_latest(&mut self, store: &mut Store, seed: u64) -> Result<(), CampaignError> {
        for run in store.runs(seed, 1)? {
            self.add(store, &run, &|_| Vec::new())?;
        }
        Ok(())
    }

    fn read(&mut self, store: &mut Store) -> Result<Option<StoredRun>, CampaignError> {
        if self.waiting.is_empty() {
            self.waiting.extend(store.runs(self.next, BATCH)?);
        }
        let run = self.waiting.pop_front();
        self.next = run.as_ref().map_or(self.next, |it| it.seed + 1);
        Ok(run)
    }

    fn add(
        &mut self,
        store: &mut Store,
        run: &StoredRun,
        reproduce: Reproduce<'_>,
    ) -> Result<(), CampaignError> {
        let outcome = match run.outcome {
            None => return Ok(()),
            Some(Outcome::Lost) => {
                self.runs += 1;
                self.localizer.add_lost();
                self.error = self.error.take().or_else(|| run.error.clone());
                return Ok(());
            }
            Some(Outcome::Unfinished) => RunOutcome::Unfinished,
            Some(Outcome::Passed) => RunOutcome::Passed,
            Some(Outcome::Failed) => RunOutcome::Failed(self.failure(store, run)?),
        };
        self.runs += 1;
        self.load_patterns(store, &run.patterns)?;
        let known = run.patterns.iter().filter_map(|it| self.patterns.get(it));
        let name = run_name(run.seed);
        let reproduce = if run.seed < PREDICTED {
            reproduce(Variation::new(self.vary, run.seed, run.expected))
        } else {
            self.predicted.0 += 1;
            self.predicted.1 += u64::from(outcome.failure().is_some());
            // Only its clip does.
            Vec::new()
        };
        self.localizer.add(&RunEvidence {
            origin: Origin { name, reproduce, clip: None },
            outcome,
            patterns: known.cloned().collect(),
            is_ordered: run.ordered,
            is_sampled: run.sampled,
        });
        Ok(())
    }

    fn failure(&mut self, store: &mut Store, run: &StoredRun) -> Result<Failure, CampaignError> {
        let id = run.failure.unwrap_or_default();
        if !self.failures.contains_key(&id) {
            for row in store.failures()? {
                self.failures.insert(row.id, stored::failure(&row)?);
            }
        }
        let unknown = || Failure::of_criterion("unknown failure");
        Ok(self.failures.get(&id).cloned().unwrap_or_else(unknown))
    }

    fn load_patterns(&mut self, store: &mut Store, ids: &[i64]) -> Result<(), CampaignError> {
        let new = ids.iter().copied().filter(|it| !self.patterns.contains_key(it));
        let new: Vec<_> = new.collect();
        for row in store.patterns(&new)? {
            let (pattern, accesses) = stored::pattern(&row)?;
            self.localizer.describe(&pattern, row.failing, accesses);
            self.patterns.insert(row.id, pattern);
        }
        Ok(())
    }
}
