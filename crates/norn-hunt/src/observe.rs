//! Failures that were seen without having been predicted. Failures at the same places are one, and
//! are kept once, with a clip that shows them again.

use std::path::PathBuf;

use norn_model::{Consequence, FailureSite};
use norn_replay::{ReplayError, capture};
use norn_report::Story;

use crate::{campaign::ClipStore, executor::Run};

/// A failure that was seen.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What it was.
    pub consequence: Consequence,
    /// Where it was.
    pub failure: Option<FailureSite>,
    /// How it came to that.
    pub story: Option<Story>,
    /// What shows it again.
    pub clip: PathBuf,
    /// Executions of the campaign up to this one.
    pub executions: usize,
    /// Which finding was to be confirmed by this run, if any. The program went another way.
    pub finding: Option<usize>,
}

/// All failures that were seen.
#[derive(Debug, Default)]
pub(crate) struct Observations(pub(crate) Vec<Observed>);

impl Observations {
    /// Keeps a run if it failed, unless there was one like it.
    pub(crate) fn add(
        &mut self,
        clips: &mut ClipStore,
        run: &Run,
        executions: usize,
        finding: Option<usize>,
    ) -> Result<(), ReplayError> {
        let consequence = run.consequence();
        let Some(scene) = run.failed_scene()? else { return Ok(()) };
        if self.0.iter().any(|it| it.failure == run.failure) {
            return Ok(());
        }
        let mut clip = capture(scene);
        clip.expect = Some(consequence.clone());
        self.0.push(Observed {
            consequence: consequence.clone(),
            failure: run.failure.clone(),
            story: run.story.clone(),
            clip: clips.save_observed(&clip)?,
            executions,
            finding,
        });
        Ok(())
    }
}
