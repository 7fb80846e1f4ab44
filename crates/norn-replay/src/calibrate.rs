//! Measures the number of events of a program, for strategies that must know it in advance.

use std::{fs, path::Path};

use norn_frontend::{FrontEnd, Launch, Recording, Streams};
use norn_trace::{Lifetime, Strategy};

use crate::ReplayError;

/// The result of a calibrating run.
#[derive(Debug)]
pub struct Calibration {
    /// The recording. The runtime has counted all events.
    pub recording: Recording,
    /// The standard output.
    pub stdout: Vec<u8>,
}

impl Calibration {
    /// The number of events of the program.
    pub fn steps(&self) -> u64 {
        self.recording.run.controlled.as_ref().map_or(0, |it| it.outcome.steps)
    }
}

/// Runs a subject once, its threads in turn, to count its events. Removes the files of the run. The
/// runtime counts all events, so that only the first chunk of each thread is recorded.
pub fn calibrate(
    front_end: &dyn FrontEnd,
    launch: &Launch,
    scratch: &Path,
) -> Result<Calibration, ReplayError> {
    let folder = scratch.join("calibration");
    let failed = |source| ReplayError::Scratch { path: folder.clone(), source };
    fs::create_dir(&folder).map_err(failed)?;
    let mut launch = Launch {
        output: folder.join("trace"),
        lifetime: Lifetime::Temporary,
        streams: Streams::Files { stdout: folder.join("stdout"), stderr: folder.join("stderr") },
        values: false,
        max_size: 0,
        apart: true,
        ..launch.clone()
    };
    if let Some(plan) = &mut launch.plan {
        plan.strategy = Strategy::RoundRobin;
    }
    let recording = front_end.run(&launch)?;
    let stdout = fs::read(folder.join("stdout")).map_err(failed)?;
    fs::remove_dir_all(&folder).map_err(failed)?;
    Ok(Calibration { recording, stdout })
}
