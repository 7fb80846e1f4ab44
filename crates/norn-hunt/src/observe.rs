//! Failures that were seen without having been predicted. Each is kept once, with a clip that shows
//! it again.

use std::path::PathBuf;

use norn_model::Consequence;
use norn_replay::{ReplayError, capture};
use norn_report::Story;

use crate::{campaign::ClipStore, executor::Run};

/// A failure that was seen.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What it was.
    pub consequence: Consequence,
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
        if self.0.iter().any(|it| it.consequence == *consequence) {
            return Ok(());
        }
        let mut clip = capture(scene);
        clip.expect = Some(consequence.clone());
        self.0.push(Observed {
            consequence: consequence.clone(),
            story: run.story.clone(),
            clip: clips.save_observed(&clip)?,
            executions,
            finding,
        });
        Ok(())
    }
}
