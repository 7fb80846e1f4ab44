//! One controlled run.

use norn_model::Consequence;
use norn_record::{Options, Recording};

use crate::{ReplayError, Scene, judge};

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// How it was, and how it ended.
    pub recording: Recording,
    /// What it left, unless there was nothing to record.
    pub scene: Option<Scene>,
    /// What it led to.
    pub consequence: Consequence,
}

/// Runs a subject under control and says what came of it.
pub fn run(options: &Options) -> Result<Ran, ReplayError> {
    let recording = norn_record::record(options)?;
    if !recording.recorded {
        return Ok(Ran { recording, scene: None, consequence: Consequence::None });
    }
    let process = recording.run.controlled.as_ref().map_or(0, |it| it.outcome.process);
    let known = recording.run.processes.iter().any(|it| it.number == process);
    let scene = Scene::open(&options.output, if known { process } else { 0 })?;
    let consequence = judge::consequence(&recording, &scene, !options.debugger.is_empty());
    Ok(Ran { recording, scene: Some(scene), consequence })
}
