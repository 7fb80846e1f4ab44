//! One controlled run, and the result of the user's check.

use std::{fs::File, io};

use norn_frontend::{Launch, Streams};
use norn_replay::{Check, CompletedRun};

use crate::{front_end::front_end, scratch::Scratch};

/// Runs a subject. Its output goes to files for the check, and is printed at its end.
pub(super) fn run(launch: &Launch, check: Option<&Check>) -> anyhow::Result<CompletedRun> {
    let Some(check) = check else { return Ok(norn_replay::run(front_end(), launch)?) };
    let scratch = Scratch::new()?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|it| scratch.path().join(it));
    let streams = Streams::Files { stdout: stdout.clone(), stderr: stderr.clone() };
    let mut run = norn_replay::run(front_end(), &Launch { streams, ..launch.clone() })?;
    io::copy(&mut File::open(&stderr)?, &mut io::stderr())?;
    io::copy(&mut File::open(&stdout)?, &mut io::stdout())?;
    if run.recording.recorded {
        run.consequence = check.apply(&run.recording, run.consequence, &stdout)?;
    }
    Ok(run)
}
