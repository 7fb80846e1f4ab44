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
    let debugged = !options.debugger.is_empty();
    let scene = Scene::open(&options.output, process(&recording, debugged))?;
    let consequence = judge::consequence(&recording, &scene, debugged);
    Ok(Ran { recording, scene: Some(scene), consequence })
}

/// The process that the run is about: the one in which something was found, or the first. A
/// debugger may have started the program several times; then the last time counts.
fn process(recording: &Recording, debugged: bool) -> u32 {
    let outcome = recording.run.controlled.as_ref().map(|it| &it.outcome);
    let found = outcome.map_or(0, |it| it.process);
    let processes = &recording.run.processes;
    let mut started = processes.iter().rev().filter(|it| it.parent == it.number);
    let last = started.next().filter(|_| debugged).map_or(0, |it| it.number);
    if processes.iter().any(|it| it.number == found) { found.max(last) } else { last }
}
