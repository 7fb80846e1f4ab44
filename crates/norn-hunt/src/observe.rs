//! Failures that were observed without having been predicted. Failures at the same places are one,
//! and are kept once, with a clip that reproduces them.

use std::path::PathBuf;

use norn_model::{Consequence, FailureSite};
use norn_replay::{ReplayError, capture};
use norn_report::Story;

use crate::{campaign::ClipStore, executor::Run};

/// An observed failure.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its kind.
    pub consequence: Consequence,
    /// Its place.
    pub failure: Option<FailureSite>,
    /// Its explanation.
    pub story: Option<Story>,
    /// The clip that reproduces it.
    pub clip: PathBuf,
    /// Number of executions of the campaign up to and including this one.
    pub executions: usize,
    /// How many of its atomic loads returned an older store than the newest one.
    pub older_loads: u64,
    /// The finding that this run was meant to confirm, if any; the program failed in another way.
    pub finding: Option<usize>,
}

/// All observed failures.
#[derive(Debug, Default)]
pub(crate) struct Observations(pub(crate) Vec<Observed>);

impl Observations {
    /// Records the failure of a run, unless the same failure is known.
    pub(crate) fn add(
        &mut self,
        clips: &mut ClipStore,
        run: &Run,
        executions: usize,
        finding: Option<usize>,
    ) -> Result<(), ReplayError> {
        let consequence = run.consequence();
        let Some(symbolized) = run.failed_trace()? else { return Ok(()) };
        if self.0.iter().any(|it| it.failure == run.failure) {
            return Ok(());
        }
        let mut clip = capture(symbolized);
        clip.expect = Some(consequence.clone());
        self.0.push(Observed {
            consequence: consequence.clone(),
            failure: run.failure.clone(),
            story: run.story.clone(),
            clip: clips.save_observed(&clip)?,
            executions,
            older_loads: run.older_loads(),
            finding,
        });
        Ok(())
    }
}
