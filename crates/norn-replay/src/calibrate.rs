//! How many events a program has, for strategies that must know before they begin.

use std::{fs, path::Path};

use norn_abi::control::strategy;
use norn_record::{Options, Recording, Streams};

use crate::ReplayError;

/// Runs a subject once, its threads in turn, to count its events. Nothing of the run stays.
pub fn calibrate(options: &Options, scratch: &Path) -> Result<Recording, ReplayError> {
    let folder = scratch.join("calibration");
    let failed = |source| ReplayError::Scratch { path: folder.clone(), source };
    fs::create_dir(&folder).map_err(failed)?;
    let mut options = Options {
        output: folder.join("trace"),
        streams: Streams::Files { stdout: folder.join("stdout"), stderr: folder.join("stderr") },
        apart: true,
        ..options.clone()
    };
    if let Some(control) = &mut options.control {
        control.plan.strategy = strategy::ROUND_ROBIN;
    }
    let recording = norn_record::record(&options)?;
    fs::remove_dir_all(&folder).map_err(failed)?;
    Ok(recording)
}
