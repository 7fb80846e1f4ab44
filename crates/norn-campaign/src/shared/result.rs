//! The form of a finished execution in a store: how it ended, its trace, and its output.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::Path,
    process::ExitStatus,
    time::Duration,
};

use norn_frontend::{Cut, FailureMessage, Launch, Recording, Streams};
use norn_store::{Execution, ExecutionFile, StoreError};
use norn_trace::{INPUTS, Run, Writer, file};
use serde::{Deserialize, Serialize};

use crate::CampaignError;

/// Maximum number of bytes of all files of an execution in a store.
const MOST_BYTES: u64 = 1 << 30;

/// How an execution ended.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredRecording {
    run: Run,
    status: i32,
    duration: Duration,
    recorded: bool,
    stranger: bool,
    unmapped: bool,
    cut: Option<Cut>,
    message: Option<FailureMessage>,
}

/// The form of an execution in a store. None if it is not what its plan leads to, because something ended
/// or disturbed it, or if it is too large.
pub(super) fn pack(
    launch: &Launch,
    recording: &Recording,
) -> Result<Option<Execution>, CampaignError> {
    let is_ended = matches!(recording.cut, Some(Cut::Interrupt(_) | Cut::Cancelled));
    if is_ended || recording.refused.is_some() {
        return Ok(None);
    }
    let Some(files) = files(launch, recording).map_err(CampaignError::Files)? else {
        return Ok(None);
    };
    let stored = StoredRecording {
        run: recording.run.clone(),
        status: recording.status.into_raw(),
        duration: recording.duration,
        recorded: recording.recorded,
        stranger: recording.stranger,
        unmapped: recording.unmapped,
        cut: recording.cut,
        message: recording.message.clone(),
    };
    Ok(Some(Execution { result: serde_json::to_string(&stored)?, files }))
}

fn files(launch: &Launch, recording: &Recording) -> io::Result<Option<Vec<ExecutionFile>>> {
    let mut paths = Vec::new();
    if let Streams::Files { stdout, stderr } = &launch.streams {
        paths
            .extend([("stdout".to_owned(), stdout.clone()), ("stderr".to_owned(), stderr.clone())]);
    }
    if recording.recorded {
        for entry in fs::read_dir(&launch.output)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_of_trace(&name) {
                paths.push((name, entry.path()));
            }
        }
    }
    let mut left = MOST_BYTES;
    let mut files = Vec::new();
    for (name, path) in paths {
        let size = fs::metadata(&path)?.len();
        if size > left {
            return Ok(None);
        }
        left -= size;
        files.push(ExecutionFile { name, bytes: file::read_regular(&path, size)? });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Some(files))
}

/// Puts the files of an execution where a launch wants them, as if it had been made here.
pub(super) fn unpack(launch: &Launch, execution: &Execution) -> Result<Recording, CampaignError> {
    let stored: StoredRecording = serde_json::from_str(&execution.result)?;
    write_files(launch, &stored, &execution.files)?;
    Ok(Recording {
        run: stored.run,
        status: ExitStatus::from_raw(stored.status),
        duration: stored.duration,
        recorded: stored.recorded,
        stranger: stored.stranger,
        unmapped: stored.unmapped,
        refused: None,
        cut: stored.cut,
        message: stored.message,
    })
}

fn write_files(
    launch: &Launch,
    stored: &StoredRecording,
    files: &[ExecutionFile],
) -> Result<(), CampaignError> {
    let mut writer =
        Writer::create(&launch.output, launch.lifetime).map_err(CampaignError::Files)?;
    if stored.recorded {
        writer.begin(&stored.run).map_err(CampaignError::Files)?;
    }
    for ExecutionFile { name, bytes } in files {
        let path = match (&launch.streams, name.as_str()) {
            (Streams::Files { stdout, .. }, "stdout") => stdout.clone(),
            (Streams::Files { stderr, .. }, "stderr") => stderr.clone(),
            (_, "stdout" | "stderr") => continue,
            // Whoever can write to the store must not choose the path.
            (_, name) if is_of_trace(name) && stored.recorded => launch.output.join(name),
            _ => return Err(StoreError::Content("an execution has an unknown file").into()),
        };
        write(&path, bytes).map_err(CampaignError::Files)?;
    }
    writer.finish(&stored.run).map_err(CampaignError::Files)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    file::create(path)?.write_all(bytes)
}

/// Whether a trace has a file of this name besides its description, which is part of the result.
fn is_of_trace(name: &str) -> bool {
    let number = name.strip_suffix(".chunks").unwrap_or_default();
    let is_chunks = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    is_chunks || name == INPUTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_traces_are_written() {
        assert!(is_of_trace("0.chunks"));
        assert!(is_of_trace("12.chunks"));
        assert!(is_of_trace("inputs.json"));
        for other in
            ["run.json", ".chunks", "../0.chunks", "a/0.chunks", "report.json", "-1.chunks"]
        {
            assert!(!is_of_trace(other), "{other}");
        }
    }
}
