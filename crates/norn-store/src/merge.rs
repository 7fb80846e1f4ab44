//! Merges campaigns: the union of their runs.
//!
//! Failures and patterns have the same numbers in all stores, and a seed gives the same run in all
//! campaigns with the same settings. So a run that both have made counts once.

use std::collections::BTreeMap;

use crate::{RunResult, Store, StoreError, StoredRun};

/// Number of runs that are copied at a time.
const BATCH: u64 = 200;

impl Store {
    /// Adds the runs of another campaign. Whether their settings agree is for the caller to check.
    pub fn absorb(&mut self, other: &mut Store) -> Result<(), StoreError> {
        let failures: BTreeMap<_, _> =
            other.failures()?.into_iter().map(|it| (it.id, it)).collect();
        let mut from = 0;
        loop {
            let runs = other.runs(from, BATCH)?;
            let Some(last) = runs.last() else { return Ok(()) };
            from = last.seed + 1;
            self.plan(runs.iter().map(|it| it.seed))?;
            for run in runs {
                let Some(outcome) = run.outcome else { continue };
                let described = other.patterns(&run.patterns)?;
                let failure = run.failure.and_then(|it| failures.get(&it)).cloned();
                let StoredRun {
                    seed, strategy, expected, patterns, ordered, sampled, error, ..
                } = run;
                let result = RunResult {
                    outcome,
                    strategy,
                    expected,
                    failure,
                    patterns,
                    described,
                    ordered,
                    sampled,
                    error,
                };
                self.finish(seed, &result)?;
            }
        }
    }
}
