//! Failures that were seen without having been predicted. Each kind is kept once, with a clip that
//! shows it again.

use std::path::{Path, PathBuf};

use norn_model::Consequence;
use norn_replay::{ReplayError, Scene, capture, story::Story};

use crate::{
    Options,
    attempt::{Run, make},
};

/// A failure that was seen.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What it was.
    pub consequence: Consequence,
    /// How it came to that.
    pub story: Option<Story>,
    /// What shows it again.
    pub clip: PathBuf,
    /// Executions of the hunt before it.
    pub executions: usize,
}

/// All kinds that were seen.
#[derive(Debug, Default)]
pub(crate) struct Observations(pub(crate) Vec<Observed>);

impl Observations {
    /// Keeps a run that failed, unless there was one like it.
    pub(crate) fn add(
        &mut self,
        options: &Options,
        run: &Run,
        (trace, process): (&Path, u32),
        executions: usize,
    ) -> Result<(), ReplayError> {
        let consequence = &run.consequence;
        if self.0.iter().any(|it| it.consequence == *consequence) {
            return Ok(());
        }
        let mut clip = capture(&Scene::open(trace, process)?);
        clip.expect = Some(consequence.clone());
        let path = options.clips().join(format!("observed-{}.json", self.0.len() + 1));
        make(&options.clips())?;
        clip.write(&path)?;
        self.0.push(Observed {
            consequence: consequence.clone(),
            story: run.story.clone(),
            clip: path,
            executions,
        });
        Ok(())
    }
}
