//! `norn replay --gdb`.

use std::{
    ffi::{OsStr, OsString},
    io::Write as _,
    path::Path,
};

use anyhow::Context as _;
use norn_replay::CompletedRun;
use norn_trace::End;
use tempfile::NamedTempFile;

/// Commands of gdb to go from switch to switch.
const COMMANDS: &str = include_str!("gdb.py");

/// A file with the commands that gdb has in a replay. It is needed as long as gdb runs.
pub(super) fn commands() -> anyhow::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("norn-").suffix(".py").tempfile()?;
    file.write_all(COMMANDS.as_bytes())?;
    file.flush()?;
    Ok(file)
}

/// gdb with settings that make it start the program as norn does: without a shell, and without
/// environment variables that only gdb sets; and with the commands of a file.
pub(super) fn words(commands: &Path, arguments: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let gdb = norn_native::find_program(OsStr::new("gdb"), None).ok();
    let gdb = gdb.context("cannot find gdb\nhint: install gdb, or replay without --gdb")?;
    let settings = [
        "set startup-with-shell off",
        "set disable-randomization on",
        "unset environment LINES",
        "unset environment COLUMNS",
    ];
    let mut words = vec![gdb.into(), "-q".into()];
    words.extend(settings.into_iter().flat_map(|it| ["-iex".into(), it.into()]));
    words.extend(["-x".into(), commands.into()]);
    words.extend(arguments.iter().cloned());
    words.push("--args".into());
    Ok(words)
}

/// Whether gdb ended the program early, so that its outcome is unknown.
pub(super) fn cut_short(run: &CompletedRun) -> bool {
    let process = run.recording.run.processes.iter().find(|it| it.number == run.process());
    let killed = process.is_some_and(|it| it.end == End::Unknown);
    killed && run.recording.cut.is_none() && !run.consequence.is_failure()
}
