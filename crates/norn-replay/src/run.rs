//! One controlled run.

use std::{cell::OnceCell, path::PathBuf, sync::Arc};

use norn_frontend::{FrontEnd, Launch, Recording};
use norn_model::Consequence;
use norn_trace::Strategy;

use crate::{ReplayError, SymbolizedTrace, judge};

/// A run that has ended.
#[derive(Debug)]
pub struct CompletedRun {
    /// The recording.
    pub recording: Recording,
    /// Its consequence.
    pub consequence: Consequence,
    folder: PathBuf,
    process: u32,
    front_end: Arc<dyn FrontEnd>,
    symbolized: OnceCell<Arc<SymbolizedTrace>>,
}

impl CompletedRun {
    /// The process that is analyzed.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// The trace, unless nothing was recorded. It is opened on first use, because that takes about as
    /// long as the run.
    pub fn symbolized(&self) -> Result<Option<&SymbolizedTrace>, ReplayError> {
        Ok(self.opened()?.map(|it| &**it))
    }

    /// The trace, to be kept longer than the run.
    pub fn shared_trace(&self) -> Result<Option<Arc<SymbolizedTrace>>, ReplayError> {
        Ok(self.opened()?.cloned())
    }

    fn opened(&self) -> Result<Option<&Arc<SymbolizedTrace>>, ReplayError> {
        if self.recording.recorded && self.symbolized.get().is_none() {
            let trace = SymbolizedTrace::open(&*self.front_end, &self.folder, self.process)?;
            let _ = self.symbolized.set(Arc::new(trace));
        }
        Ok(self.symbolized.get())
    }
}

/// Runs a subject under control and determines the consequence.
pub fn run(front_end: &Arc<dyn FrontEnd>, launch: &Launch) -> Result<CompletedRun, ReplayError> {
    let recording = front_end.run(launch)?;
    let debugged = !launch.debugger.is_empty();
    let process = if debugged { last_started(&recording) } else { process(&recording) };
    let mut ran = CompletedRun {
        recording,
        consequence: Consequence::None,
        folder: launch.output.clone(),
        process,
        front_end: Arc::clone(front_end),
        symbolized: OnceCell::new(),
    };
    ran.consequence = match () {
        () if !ran.recording.recorded => Consequence::None,
        () if debugged => {
            let symbolized = ran.symbolized()?;
            symbolized.map_or_else(Default::default, |it| judge::debugged(&ran.recording, it))
        }
        () => judge::consequence(&ran.recording, &|pc| ran.symbolized().ok()??.location(pc)),
    };
    Ok(ran)
}

/// The process that determines the consequence of a run: the one that failed, else the one that
/// followed the schedule, else the one with the most threads.
pub fn process(recording: &Recording) -> u32 {
    let run = &recording.run;
    let controlled = run.controlled.as_ref().and_then(|it| {
        let failed = it.outcome.is_failure().then_some(it.outcome.process);
        failed.or_else(|| (it.strategy == Strategy::Follow).then_some(it.process))
    });
    let known = controlled.filter(|it| run.processes.iter().any(|one| one.number == *it));
    known.unwrap_or_else(|| run.busiest())
}

/// The process that determines the consequence of a run in a debugger. The user may start the program
/// several times there; the last start counts.
fn last_started(recording: &Recording) -> u32 {
    let mut processes = recording.run.processes.iter().rev();
    let last = processes.find(|it| it.parent == it.number).map_or(0, |it| it.number);
    process(recording).max(last)
}
