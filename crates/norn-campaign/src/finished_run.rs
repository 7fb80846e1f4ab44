//! From a run that has ended to its result in the store.

use std::{collections::BTreeMap, sync::Mutex};

use norn_replay::{CompletedRun, SymbolizedTrace};
use norn_store::{FailureRow, Outcome, PatternRow, RunResult};

use crate::{
    CampaignError, Failure, RunOutcome, RunPatterns, Variation, example,
    mutex::lock,
    stored::{PatternKey, failure_row},
};

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    pub(crate) variation: Variation,
    pub(crate) outcome: RunOutcome,
    /// Its patterns, unless the program was not built with norn.
    pub(crate) patterns: Option<RunPatterns>,
    pub(crate) completed: CompletedRun,
}

/// What this process has put into the store, so that it need not describe everything again.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// By pattern: the run that is its example, and whether it failed.
    patterns: BTreeMap<i64, (bool, u64)>,
    /// By failure: the first run with it.
    failures: BTreeMap<i64, u64>,
}

impl Known {
    /// Whether a run would be a better example of a pattern: the first failing run is best, then the
    /// first run.
    fn is_better(&self, pattern: i64, failing: bool, seed: u64) -> bool {
        self.patterns.get(&pattern).is_none_or(|it| (failing, it.1) > (it.0, seed))
    }

    /// Whether a run is the first one with a failure.
    fn is_first(&self, failure: i64, seed: u64) -> bool {
        self.failures.get(&failure).is_none_or(|it| seed < *it)
    }

    /// Notes what is in the store now.
    pub(crate) fn note(&mut self, result: &RunResult) {
        for row in &result.described {
            if self.is_better(row.id, row.failing, row.seed) {
                self.patterns.insert(row.id, (row.failing, row.seed));
            }
        }
        if let Some(row) = &result.failure
            && self.is_first(row.id, row.seed)
        {
            self.failures.insert(row.id, row.seed);
        }
    }
}

impl FinishedRun {
    /// What the run contributes; none if it left no events.
    pub(crate) fn result(&self, known: &Mutex<Known>) -> Result<Option<RunResult>, CampaignError> {
        let (Some(symbolized), Some(found)) = (self.completed.symbolized()?, &self.patterns) else {
            return Ok(None);
        };
        let mut patterns = Vec::new();
        for (pattern, _) in &found.patterns {
            patterns.push(PatternKey::new(pattern)?.id);
        }
        let failure = self.outcome.failure().map(|it| self.failure(it, symbolized, known));
        Ok(Some(RunResult {
            outcome: match &self.outcome {
                RunOutcome::Passed => Outcome::Passed,
                RunOutcome::Failed(_) => Outcome::Failed,
                RunOutcome::Unfinished => Outcome::Unfinished,
            },
            strategy: self.variation.name(),
            expected: self.variation.expected,
            failure: failure.transpose()?,
            described: self.describe(symbolized, found, known)?,
            patterns,
            ordered: found.is_ordered,
            sampled: found.is_sampled,
            error: None,
        }))
    }

    /// A clip of the run, if it left events.
    pub(crate) fn clip(&self) -> Result<Option<String>, CampaignError> {
        let Some(symbolized) = self.completed.symbolized()? else { return Ok(None) };
        let mut clip = norn_replay::capture(symbolized);
        clip.expect = Some(self.completed.consequence.clone());
        Ok(Some(clip.text()?))
    }

    /// The row of the failure, with a clip of this run if it is the first one with it.
    fn failure(
        &self,
        failure: &Failure,
        symbolized: &SymbolizedTrace,
        known: &Mutex<Known>,
    ) -> Result<FailureRow, CampaignError> {
        let seed = self.variation.seed;
        let mut row = failure_row(failure, seed, None)?;
        // Only a controlled run can be repeated exactly.
        if symbolized.trace.run().controlled.is_some() && lock(known).is_first(row.id, seed) {
            row.clip = self.clip()?;
        }
        Ok(row)
    }

    /// Describes the patterns of which this run is the best example so far.
    fn describe(
        &self,
        symbolized: &SymbolizedTrace,
        found: &RunPatterns,
        known: &Mutex<Known>,
    ) -> Result<Vec<PatternRow>, CampaignError> {
        let failing = self.outcome.failure().is_some();
        let seed = self.variation.seed;
        let mut new = Vec::new();
        for (pattern, occurrence) in &found.patterns {
            let key = PatternKey::new(pattern)?;
            if lock(known).is_better(key.id, failing, seed) {
                new.push((key, pattern, occurrence));
            }
        }
        let occurrences: Vec<_> = new.iter().map(|it| (it.1, it.2)).collect();
        let described = example::describe(symbolized, &occurrences);
        let rows = new.into_iter().zip(described);
        rows.map(|((key, pattern, _), it)| key.row(pattern, &it, (seed, failing))).collect()
    }
}
