//! One controlled run.

use std::{cell::OnceCell, path::Path};

use norn_model::Consequence;
use norn_record::{Options, Recording};
use norn_trace::Strategy;

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
    let process = if debugged { last_started(&recording) } else { process(&recording) };
    let scene = Scene::open(&options.output, process)?;
    let consequence = if debugged {
        judge::debugged(&recording, &scene)
    } else {
        judge::consequence(&recording, &|pc| scene.site(pc))
    };
    Ok(Ran { recording, scene: Some(scene), consequence })
}

/// What a run led to. What it left is only opened if a place in its code must be named.
pub fn consequence(recording: &Recording, folder: &Path) -> Consequence {
    let scene = OnceCell::new();
    judge::consequence(recording, &|pc| {
        let scene = scene.get_or_init(|| Scene::open(folder, process(recording)).ok());
        scene.as_ref()?.site(pc)
    })
}

/// The process that the outcome of a run is about: the one that failed, or followed the schedule,
/// or has the most threads.
pub fn process(recording: &Recording) -> u32 {
    let run = &recording.run;
    let told = run.controlled.as_ref().and_then(|it| {
        let failed = it.outcome.is_failure().then_some(it.outcome.process);
        failed.or_else(|| (it.strategy == Strategy::Follow).then_some(it.process))
    });
    let known = told.filter(|it| run.processes.iter().any(|one| one.number == *it));
    known.unwrap_or_else(|| run.busiest())
}

/// The same of a run in a debugger, which may have started the program several times: then the last
/// time counts.
fn last_started(recording: &Recording) -> u32 {
    let mut processes = recording.run.processes.iter().rev();
    let last = processes.find(|it| it.parent == it.number).map_or(0, |it| it.number);
    process(recording).max(last)
}
