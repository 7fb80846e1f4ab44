//! A run that was recorded earlier, as evidence.

use std::path::{Path, PathBuf};

use norn_frontend::FrontEnd;
use norn_model::Consequence;
use norn_replay::{ReplayError, SymbolizedTrace};
use norn_trace::{End, Found, Run};

use crate::{Failure, Localizer, Origin, RunOutcome, RunPatterns};

/// A run that was recorded earlier.
#[derive(Debug)]
pub struct RecordedRun {
    /// The folder of its trace.
    pub folder: PathBuf,
    /// How it ended, as far as the trace says.
    pub outcome: RunOutcome,
    /// Its patterns.
    pub patterns: RunPatterns,
    /// Its trace.
    pub symbolized: SymbolizedTrace,
}

impl RecordedRun {
    /// Reads a trace: the process that failed, or else the one with the most threads.
    pub fn open(
        front_end: &dyn FrontEnd,
        folder: &Path,
        window: usize,
    ) -> Result<RecordedRun, ReplayError> {
        let run = Run::open(folder)?;
        let outcome = run.controlled.as_ref().map(|it| &it.outcome);
        let failed = outcome.filter(|it| it.is_failure()).map(|it| it.process);
        let collected = run.collected.as_ref().map(|it| it.process);
        let process = failed.or(collected).unwrap_or_else(|| run.busiest());
        let symbolized = SymbolizedTrace::open(front_end, folder, process)?;
        let patterns = RunPatterns::of(&symbolized, window);
        let outcome = judge(&run, process);
        Ok(RecordedRun { folder: folder.to_owned(), outcome, patterns, symbolized })
    }

    /// Adds the run to others.
    pub fn add_to(&self, localizer: &mut Localizer, origin: Origin) {
        self.patterns.add_to(localizer, &self.symbolized, &self.outcome, origin);
    }

    /// Whether the user means this run by a name: its path, the last component of it, or that without
    /// its extension.
    pub fn is_called(&self, name: &str) -> bool {
        let path = &self.folder;
        let is = |it: Option<&std::ffi::OsStr>| it.is_some_and(|it| it == name);
        path == Path::new(name) || is(path.file_name()) || is(path.file_stem())
    }
}

/// Whether a run passed: what the runtime found, the signal or the exit status of the process.
fn judge(run: &Run, process: u32) -> RunOutcome {
    let found = run.controlled.as_ref().map_or(Found::None, |it| it.outcome.found);
    let failed = |it: Consequence| RunOutcome::Failed(Failure::new(&it, None));
    match found {
        Found::None | Found::Stopped => {}
        Found::Steps => return RunOutcome::Unfinished,
        Found::Deadlock => return failed(Consequence::Deadlock),
        Found::Livelock => return failed(Consequence::Livelock),
        other => return RunOutcome::Failed(Failure::of_criterion(name(other))),
    }
    let end = run.processes.iter().find(|it| it.number == process).map(|it| it.end);
    let text = run.controlled.as_ref().and_then(|it| it.outcome.text.clone());
    match (end, text) {
        (_, Some(text)) => failed(Consequence::Assertion(text)),
        (Some(End::Signaled(signal)), None) => failed(Consequence::Signal { signal, at: None }),
        (Some(End::Exited(status)), None) if status != 0 => failed(Consequence::Exit(status)),
        _ => RunOutcome::Passed,
    }
}

/// The name of a failure that the runtime found, as in `run.json`.
fn name(found: Found) -> String {
    let name = serde_json::to_value(found).ok();
    name.as_ref().and_then(|it| it.as_str()).unwrap_or("failure").replace('-', " ")
}
