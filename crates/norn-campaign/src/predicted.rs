//! Predicted bugs as evidence, for a campaign in which no run failed.
//!
//! What other orders of a passing run's events allow is predicted, and each prediction is forced on the
//! program. Such a run is evidence like any other one: it passed or failed by the same criteria, and its
//! patterns are those of its own trace, whether or not the program followed the schedule.

use std::sync::{Arc, Mutex};

use norn_frontend::{Interrupt, Plan};
use norn_replay::{Clip, SymbolizedTrace};
use norn_store::{PREDICTED, Store};
use norn_trace::Strategy;

use crate::{Campaign, CampaignError, RunOutcome, StoredEvidence, Variation, Vary, mutex::lock};

/// Number of runs that are predicted from, one of each strategy.
const BASES: u64 = 3;

/// Predicts what a run allows: clips that would make it happen, the most likely ones first.
pub type Predict<'a> = &'a dyn Fn(Arc<SymbolizedTrace>) -> Vec<Clip>;

impl Campaign<'_> {
    /// Forces predicted bugs, at most this many, and adds the runs to those of the campaign. Those that are
    /// in the store, and thus in the evidence, are not forced again.
    pub fn force_predicted(
        &self,
        store: &mut Store,
        evidence: &mut StoredEvidence,
        most: u64,
        predict: Predict<'_>,
    ) -> Result<(), CampaignError> {
        let (there, known) = (evidence.predicted.0, Mutex::default());
        let mut number = 0;
        for seed in 0..BASES {
            let base = Variation::new(Vary::Schedules, seed, self.settings.measured.events);
            for clip in self.predict_from(base, predict)? {
                let is_over = number >= most || evidence.localizer.is_settled();
                if is_over || Interrupt::caught().is_some() {
                    return Ok(());
                }
                number += 1;
                if number <= there {
                    continue;
                }
                let plan = Plan { max_steps: self.settings.max_steps, ..clip.plan() };
                let seed = PREDICTED + number;
                let forced = Variation { strategy: Strategy::Follow, seed, ..base };
                let (run, _folder) = self.run_plan(forced, Some(plan))?;
                if let Some(result) = run.result(&known)? {
                    store.add_run(seed, &result)?;
                    lock(&known).note(&result);
                    evidence.add_latest(store, seed)?;
                }
            }
        }
        Ok(())
    }

    /// The clips that a run predicts, if it passes.
    fn predict_from(
        &self,
        base: Variation,
        predict: Predict<'_>,
    ) -> Result<Vec<Clip>, CampaignError> {
        let (run, _folder) = self.run(base)?;
        let trace = run.completed.shared_trace()?.filter(|_| run.outcome == RunOutcome::Passed);
        Ok(trace.map_or_else(Vec::new, predict))
    }
}
