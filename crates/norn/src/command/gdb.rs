//! `norn replay --gdb`.

use std::ffi::{OsStr, OsString};

use anyhow::Context as _;
use norn_replay::CompletedRun;
use norn_trace::End;

/// gdb with settings that make it start the program as norn does: without a shell, and without
/// environment variables that only gdb sets.
pub(super) fn words(arguments: &[OsString]) -> anyhow::Result<Vec<OsString>> {
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
