//! A recorded program behaves as an unrecorded one. That its output and its end are the same is
//! checked in every test; the programs here observe more of their environment.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::kit::{record, run, subject, untested};

#[test]
fn a_program_may_close_all_descriptors() {
    assert_eq!(record("close_fds.c").written("step"), [1, 2, 3]);
}

#[test]
fn descriptors_and_limits_are_unchanged() {
    record("list_fds.c");
}

#[test]
fn signal_dispositions_are_unchanged() {
    record("signal_state.c");
}

#[test]
fn the_environment_is_unchanged() {
    let subject = subject("environment.c").arguments(&["one", "two words", ""]).not_compared();
    let recorded = subject.record();
    let native = subject.run_native();
    let lines = |text: &str| -> Vec<String> {
        let same = |it: &&str| {
            !it.starts_with("NORN_") && !it.starts_with("LC_ALL=") && !it.starts_with("NO_COLOR=")
        };
        text.lines().filter(same).map(str::to_owned).collect()
    };
    let (mut ours, mut theirs) = (lines(&recorded.ran.stdout), lines(&native.stdout));
    // The folder is the last line, and differs.
    assert_eq!(ours.pop(), Some(recorded.folder.path().display().to_string()));
    theirs.pop();
    assert_eq!(ours, theirs);
    let added: Vec<&str> =
        recorded.ran.stdout.lines().filter(|it| it.starts_with("NORN_")).collect();
    let added: Vec<&str> = added.into_iter().filter(|it| !it.starts_with("NORN_CACHE=")).collect();
    assert_eq!(added.len(), 1, "{added:?}");
    assert!(added[0].starts_with("NORN_ARENA="));
}

#[test]
fn a_program_may_drop_its_privileges() {
    let root = fs::metadata("/proc/self").map(|it| std::os::unix::fs::MetadataExt::uid(&it));
    if root.ok() != Some(0) {
        return untested("chroot and setuid: not root");
    }
    let subject = subject("confine.c").arguments(&["."]);
    let native = subject.run_native();
    if native.status.code() != Some(0) {
        return untested("chroot and setuid: not allowed here");
    }
    assert_eq!(subject.record().written("step"), [1, 2, 3]);
}

/// A recorder and its subject with nothing on their standard streams.
#[test]
fn closed_standard_streams_stay_closed() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subject("widths.c");
    let recorder = subject.recorder(&subject.build(), folder.path());
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"])
        .arg(recorder.get_program())
        .args(recorder.get_args());
    let ran = run(shell);
    let code = ran.status.code();
    let mut native = std::process::Command::new("sh");
    native.args(["-c", "exec \"$@\" <&- >&- 2>&-", "sh"]).arg(subject.build());
    assert_eq!(code, run(native).status.code());
    assert!(folder.path().join("trace/run.json").is_file());
}

/// The permissions of traces follow the user's umask.
#[test]
fn the_trace_obeys_the_umask() {
    let recorded = record("widths.c");
    let mode = fs::metadata(recorded.trace().join("0.chunks")).unwrap().permissions().mode();
    assert_eq!(mode & 0o400, 0o400);
}
