//! Tells a cause from a coincidence: does the failure follow the pattern if that is forced, and does it
//! stay away if the pattern is prevented?
//!
//! Forced runs begin as passing runs without the pattern, prevented ones as failing runs with it. A run
//! counts only if its own trace shows that the pattern happened, or did not happen.
//!
//! A program that fails seldom has few failing runs. Passing runs take the place of those that are missing: the
//! pattern is forced in them before it is prevented.
//!
//! Runs with random delays cannot be repeated. Controlled runs take their place, and where such a run
//! does not have the pattern that is to be prevented, the pattern is forced first.

use norn_frontend::{Interrupt, Plan};
use norn_localize::{Interval, Pattern};
use norn_replay::{Clip, ReplayError, RunFolder};
use norn_report::CauseExperiment;
use norn_store::{PREDICTED, Store};

use crate::{
    Campaign, CampaignError, CodeSite, Failure, RunOutcome, Variation, Vary,
    finished_run::FinishedRun, intervene, stored,
};

/// Number of runs with the pattern forced, and of runs with it prevented.
const RUNS: u64 = 10;
/// Number of runs from which these are made, at most: it may be impossible for some of them.
const BASES: usize = 20;

/// Number of runs that count, and of those among them that failed.
#[derive(Clone, Debug, Default)]
struct Tally {
    runs: u64,
    failed: u64,
    /// The clip of the first one that failed.
    clip: Option<String>,
}

/// The result of an experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What it says about the pattern.
    pub report: CauseExperiment,
    /// A clip of a run that failed with the pattern forced, if there was one.
    pub clip: Option<String>,
}

/// Which of both an intervention does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Intervention {
    Force,
    Prevent,
}

impl Campaign<'_> {
    /// Makes runs of a failure with one of its patterns forced and prevented.
    pub fn experiment(
        &self,
        store: &mut Store,
        failure: &Failure,
        pattern: &Pattern<CodeSite>,
    ) -> Result<Experiment, CampaignError> {
        let (passing, failing) = match self.settings.vary {
            Vary::Schedules => match bases(store, failure, pattern)? {
                // Only predicted runs failed. The pattern is forced before it is prevented.
                (_, failing) if failing.is_empty() => {
                    (self.controlled_runs(), self.controlled_runs())
                }
                (passing, mut failing) => {
                    failing.extend(&passing);
                    (passing, failing)
                }
            },
            Vary::Delays => (self.controlled_runs(), self.controlled_runs()),
        };
        let forced = self.intervene(Intervention::Force, &passing, failure, pattern)?;
        let prevented = self.intervene(Intervention::Prevent, &failing, failure, pattern)?;
        let report = CauseExperiment {
            forced: forced.runs,
            forced_failed: forced.failed,
            prevented: prevented.runs,
            prevented_failed: prevented.failed,
            confirmed: is_confirmed(&forced, &prevented),
        };
        Ok(Experiment { report, clip: forced.clip })
    }

    /// Whether a run has a failure. The calls that led to the failure of a run that was not controlled are
    /// not known, so that its places differ.
    fn is_same(&self, found: &Failure, failure: &Failure) -> bool {
        match self.settings.vary {
            Vary::Schedules => found == failure,
            Vary::Delays => found.is_like(failure),
        }
    }

    /// Controlled runs of the program of a campaign whose own runs cannot be repeated.
    fn controlled_runs(&self) -> Vec<Variation> {
        let events = self.settings.measured.events;
        (0..BASES as u64).map(|it| Variation::new(Vary::Schedules, it, events)).collect()
    }

    fn intervene(
        &self,
        intervention: Intervention,
        bases: &[Variation],
        failure: &Failure,
        pattern: &Pattern<CodeSite>,
    ) -> Result<Tally, CampaignError> {
        let mut tally = Tally::default();
        for base in bases {
            if tally.runs == RUNS || Interrupt::caught().is_some() {
                break;
            }
            if let Some((run, _folder)) = self.one(intervention, *base, pattern)? {
                let failed = run.outcome.failure().is_some_and(|it| self.is_same(it, failure));
                tally.runs += 1;
                tally.failed += u64::from(failed);
                if failed && tally.clip.is_none() {
                    tally.clip = run.clip()?;
                }
            }
        }
        Ok(tally)
    }

    /// A run like another one, but with or without the pattern; none if there is no such run.
    fn one(
        &self,
        intervention: Intervention,
        base: Variation,
        pattern: &Pattern<CodeSite>,
    ) -> Result<Option<(FinishedRun, RunFolder)>, CampaignError> {
        let mut run = self.run(base)?;
        let is_missing = !run.0.patterns.as_ref().is_some_and(|it| it.has(pattern));
        if intervention == Intervention::Prevent && is_missing {
            match self.changed(Intervention::Force, base, run, pattern)? {
                Some(forced) => run = forced,
                None => return Ok(None),
            }
        }
        self.changed(intervention, base, run, pattern)
    }

    /// A run like this one, but with or without the pattern.
    fn changed(
        &self,
        intervention: Intervention,
        base: Variation,
        before: (FinishedRun, RunFolder),
        pattern: &Pattern<CodeSite>,
    ) -> Result<Option<(FinishedRun, RunFolder)>, CampaignError> {
        let clips = propose(intervention, &before.0, pattern)?;
        drop(before);
        for clip in clips {
            let plan = Plan { max_steps: self.settings.max_steps, ..clip.plan() };
            let (run, folder) = self.run_plan(base, Some(plan))?;
            let wanted = intervention == Intervention::Force;
            let finished = run.outcome != RunOutcome::Unfinished;
            if finished && run.patterns.as_ref().is_some_and(|it| it.has(pattern) == wanted) {
                return Ok(Some((run, folder)));
            }
        }
        Ok(None)
    }
}

fn propose(
    intervention: Intervention,
    run: &FinishedRun,
    pattern: &Pattern<CodeSite>,
) -> Result<Vec<Clip>, ReplayError> {
    let (Some(symbolized), Some(patterns)) = (run.completed.symbolized()?, &run.patterns) else {
        return Ok(Vec::new());
    };
    let occurrence = patterns.patterns.iter().find(|it| it.0 == *pattern);
    Ok(match (intervention, occurrence) {
        (Intervention::Force, None) => intervene::forcing(symbolized, pattern),
        (Intervention::Prevent, Some((_, it))) => intervene::preventing(symbolized, it),
        // The run was another one than before.
        _ => Vec::new(),
    })
}

/// Passing runs without a pattern, and failing runs with it.
fn bases(
    store: &mut Store,
    failure: &Failure,
    pattern: &Pattern<CodeSite>,
) -> Result<(Vec<Variation>, Vec<Variation>), CampaignError> {
    let failure = stored::failure_row(failure, 0, None)?.id;
    let pattern = stored::PatternKey::new(pattern)?.id;
    let (mut passing, mut failing) = (Vec::new(), Vec::new());
    let mut from = 0;
    while passing.len().min(failing.len()) < BASES {
        let runs = store.runs(from, 100)?;
        let Some(last) = runs.last() else { break };
        from = last.seed + 1;
        // The seed of a predicted run does not repeat it.
        for run in runs.into_iter().filter(|it| it.seed < PREDICTED) {
            let has = run.patterns.contains(&pattern);
            let base = Variation::new(Vary::Schedules, run.seed, run.expected);
            match run.outcome {
                Some(norn_store::Outcome::Passed) if !has => passing.push(base),
                Some(norn_store::Outcome::Failed) if has && run.failure == Some(failure) => {
                    failing.push(base);
                }
                _ => {}
            }
        }
    }
    passing.truncate(BASES);
    failing.truncate(BASES);
    Ok((passing, failing))
}

/// Whether the failure follows the pattern: the 95 % intervals of the two shares of failing runs do not
/// overlap.
fn is_confirmed(forced: &Tally, prevented: &Tally) -> bool {
    let share = |it: &Tally| Interval::of_share(it.failed, it.runs);
    share(forced).low > share(prevented).high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_confirmed_only_if_failing_follows_it() {
        let confirmed = |forced: (u64, u64), prevented: (u64, u64)| {
            let tally = |(failed, runs)| Tally { runs, failed, clip: None };
            is_confirmed(&tally(forced), &tally(prevented))
        };
        assert!(confirmed((10, 10), (0, 10)));
        assert!(confirmed((9, 10), (1, 10)));
        assert!(confirmed((5, 5), (0, 5)));
        // It fails without the pattern as well.
        assert!(!confirmed((10, 10), (10, 10)));
        assert!(!confirmed((0, 10), (0, 10)));
        assert!(!confirmed((0, 10), (10, 10)));
        // Too few runs.
        assert!(!confirmed((3, 3), (0, 3)));
        assert!(!confirmed((10, 10), (0, 0)));
    }
}
