//! One controlled run.

use std::{cell::OnceCell, path::PathBuf, sync::Arc};

use norn_model::Consequence;
use norn_record::{Options, Recording};
use norn_resolve::Modules;
use norn_trace::Strategy;

use crate::{ReplayError, Scene, judge};

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// How it was, and how it ended.
    pub recording: Recording,
    /// What it led to.
    pub consequence: Consequence,
    folder: PathBuf,
    process: u32,
    /// The modules of an earlier run, which are shared if this one mapped the same files.
    known: Option<Arc<Modules>>,
    scene: OnceCell<Arc<Scene>>,
}

impl Ran {
    /// The process that is of interest.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// What it left, unless there was nothing to record. It is opened when somebody first looks,
    /// since that takes about as long as the run.
    pub fn scene(&self) -> Result<Option<&Scene>, ReplayError> {
        Ok(self.opened()?.map(|it| &**it))
    }

    /// The same, to be kept longer than this.
    pub fn shared_scene(&self) -> Result<Option<Arc<Scene>>, ReplayError> {
        Ok(self.opened()?.cloned())
    }

    fn opened(&self) -> Result<Option<&Arc<Scene>>, ReplayError> {
        if self.recording.recorded && self.scene.get().is_none() {
            let scene = Scene::open_with(&self.folder, self.process, self.known.as_ref())?;
            let _ = self.scene.set(Arc::new(scene));
        }
        Ok(self.scene.get())
    }
}

/// Runs a subject under control and says what came of it.
pub fn run(options: &Options) -> Result<Ran, ReplayError> {
    run_with(options, None)
}

/// Runs one of many runs of a program under control: the modules of another run are shared if this
/// one mapped the same files.
pub fn run_with(options: &Options, known: Option<&Arc<Modules>>) -> Result<Ran, ReplayError> {
    let recording = norn_record::record(options)?;
    let debugged = !options.debugger.is_empty();
    let process = if debugged { last_started(&recording) } else { process(&recording) };
    let mut ran = Ran {
        recording,
        consequence: Consequence::None,
        folder: options.output.clone(),
        process,
        known: known.cloned(),
        scene: OnceCell::new(),
    };
    ran.consequence = match () {
        () if !ran.recording.recorded => Consequence::None,
        () if debugged => {
            let scene = ran.scene()?;
            scene.map_or_else(Default::default, |it| judge::debugged(&ran.recording, it))
        }
        () => judge::consequence(&ran.recording, &|pc| ran.scene().ok()??.location(pc)),
    };
    Ok(ran)
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

/// The process of interest of a run in a debugger, which may have started the program several
/// times: then the last start counts.
fn last_started(recording: &Recording) -> u32 {
    let mut processes = recording.run.processes.iter().rev();
    let last = processes.find(|it| it.parent == it.number).map_or(0, |it| it.number);
    process(recording).max(last)
}
