//! One controlled run, and the result of the user's check.

use std::{fs::File, io};

use norn_record::{Options, Streams};
use norn_replay::{Check, Ran};

use crate::scratch::Scratch;

/// Runs a subject. What it prints is kept for the check, and passed on at its end.
pub(super) fn run(options: &Options, check: Option<&Check>) -> anyhow::Result<Ran> {
    let Some(check) = check else { return Ok(norn_replay::run(options)?) };
    let scratch = Scratch::new()?;
    let [stdout, stderr] = ["stdout", "stderr"].map(|it| scratch.path().join(it));
    let streams = Streams::Files { stdout: stdout.clone(), stderr: stderr.clone() };
    let mut ran = norn_replay::run(&Options { streams, ..options.clone() })?;
    io::copy(&mut File::open(&stderr)?, &mut io::stderr())?;
    io::copy(&mut File::open(&stdout)?, &mut io::stdout())?;
    if ran.recording.recorded {
        ran.consequence = check.ask(&ran.recording, ran.consequence, &stdout)?;
    }
    Ok(ran)
}
