//! Predicted bugs as evidence, for a campaign in which no run failed.
//!
//! What other orders of a passing run's events allow is predicted, and each prediction is forced on the
//! program. Such a run is evidence like any other one: it passed or failed by the same criteria, and its
//! patterns are those of its own trace, whether or not the program followed the schedule.

use std::sync::Arc;

use norn_frontend::{Interrupt, Plan};
use norn_replay::{Clip, SymbolizedTrace};

use crate::{
    Campaign, CampaignError, Localizer, Origin, RunOutcome, Variation, Vary,
    finished_run::FinishedRun,
};

/// Number of runs that are predicted from, one of each strategy.
const BASES: u64 = 3;

/// Predicts what a run allows: clips that would make it happen, the most likely ones first.
pub type Predict<'a> = &'a dyn Fn(Arc<SymbolizedTrace>) -> Vec<Clip>;

/// The runs that were forced.
#[derive(Clone, Debug, Default)]
pub struct PredictedRuns {
    /// Number of them.
    pub runs: u64,
    /// Those that failed: their names, and their clips.
    pub failed: Vec<(String, String)>,
}

impl Campaign<'_> {
    /// Forces predicted bugs, at most this many, and adds the runs to those of the campaign.
    pub fn force_predicted(
        &self,
        localizer: &mut Localizer,
        most: u64,
        predict: Predict<'_>,
    ) -> Result<PredictedRuns, CampaignError> {
        let mut made = PredictedRuns::default();
        for seed in 0..BASES {
            let base = Variation::new(Vary::Schedules, seed, self.settings.measured.events);
            for clip in self.predict_from(base, predict)? {
                let is_over = made.runs >= most || localizer.is_settled();
                if is_over || Interrupt::caught().is_some() {
                    return Ok(made);
                }
                let plan = Plan { max_steps: self.settings.max_steps, ..clip.plan() };
                let (run, _folder) = self.run_plan(base, Some(plan))?;
                made.runs += 1;
                add(localizer, &run, &mut made)?;
            }
        }
        Ok(made)
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

fn add(
    localizer: &mut Localizer,
    run: &FinishedRun,
    made: &mut PredictedRuns,
) -> Result<(), CampaignError> {
    let (Some(symbolized), Some(patterns)) = (run.completed.symbolized()?, &run.patterns) else {
        return Ok(());
    };
    let name = format!("prediction {}", made.runs);
    let origin = Origin { name: name.clone(), ..Origin::default() };
    patterns.add_to(localizer, symbolized, &run.outcome, origin);
    if run.outcome.failure().is_some() {
        made.failed.extend(run.clip()?.map(|it| (name, it)));
    }
    Ok(())
}
