//! Failures that were seen without having been predicted. Each kind is kept once, with a clip that
//! shows it again.

use std::path::{Path, PathBuf};

use norn_model::Consequence;
use norn_replay::{ReplayError, Scene, capture};
use norn_report::Story;

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
    /// Executions of the hunt up to this one.
    pub executions: usize,
    /// Which finding was to be confirmed by this run, if any. The program went another way.
    pub finding: Option<usize>,
}

/// All kinds that were seen.
#[derive(Debug, Default)]
pub(crate) struct Observations(pub(crate) Vec<Observed>);

impl Observations {
    /// Keeps a run if it failed, unless there was one like it.
    pub(crate) fn add(
        &mut self,
        options: &Options,
        run: &Run,
        trace: &Path,
        executions: usize,
        finding: Option<usize>,
    ) -> Result<(), ReplayError> {
        let consequence = &run.consequence;
        let Some(process) = run.process().filter(|_| consequence.is_failure()) else {
            return Ok(());
        };
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
            finding,
        });
        Ok(())
    }
}
