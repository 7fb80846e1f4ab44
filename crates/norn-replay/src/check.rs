//! A person's own judgement of what a run has printed: a command of the shell.

use std::{
    io,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use norn_frontend::{Interrupt, Recording};
use norn_model::Consequence;
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open},
    time::Timespec,
};

use crate::ReplayError;

/// A command that says by its status whether all is well.
#[derive(Clone, Debug)]
pub struct Check {
    /// For the shell.
    pub command: String,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// The status of a command that did not end in time: what `timeout` says.
const LATE: i32 = 124;

impl Check {
    /// Asks about a run that has ended by itself, of which nothing worse is known than its status.
    pub fn ask(
        &self,
        recording: &Recording,
        consequence: Consequence,
        stdout: &Path,
    ) -> Result<Consequence, ReplayError> {
        let status = match consequence {
            Consequence::None if recording.cut.is_none() => 0,
            Consequence::Exit(status) => status,
            _ => return Ok(consequence),
        };
        let failed = |source| ReplayError::Check { command: self.command.clone(), source };
        match self.status(status, stdout).map_err(failed)? {
            0 => Ok(consequence),
            status => Ok(Consequence::Check(status)),
        }
    }

    fn status(&self, status: i32, stdout: &Path) -> io::Result<i32> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command).stdin(Stdio::null()).process_group(0);
        // What it prints is for people; our own output may be for programs.
        command.stdout(io::stderr());
        command.env("NORN_STDOUT", stdout).env("NORN_STATUS", status.to_string());
        let mut child = command.spawn()?;
        let ended = self.ends_in_time(&child)?;
        // Nobody of its group outlives it.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let status = child.wait()?;
        Ok(if ended { number(status) } else { LATE })
    }

    /// Whether it has ended, and not its time or the person's patience.
    fn ends_in_time(&self, child: &Child) -> io::Result<bool> {
        let handle = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        let began = Instant::now();
        let moment = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        while Interrupt::caught().is_none() && self.timeout.is_none_or(|it| began.elapsed() < it) {
            if poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&moment)) == Ok(1) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A status as shells give it.
fn number(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|it| 128 + it)).unwrap_or(LATE)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn status(command: &str, timeout: Option<Duration>) -> i32 {
        let folder = tempfile::tempdir().unwrap();
        let stdout = folder.path().join("stdout");
        fs::write(&stdout, "42\n").unwrap();
        Check { command: command.to_owned(), timeout }.status(3, &stdout).unwrap()
    }

    #[test]
    fn what_was_printed_can_be_asked_about() {
        assert_eq!(status("grep -q 42 \"$NORN_STDOUT\"", None), 0);
        assert_eq!(status("grep -q 43 \"$NORN_STDOUT\"", None), 1);
        assert_eq!(status("exit $NORN_STATUS", None), 3);
        assert_eq!(status("kill -9 $$", None), 137);
    }

    #[test]
    fn a_check_that_does_not_end_has_failed() {
        assert_eq!(status("sleep 100 & sleep 100", Some(Duration::from_millis(100))), LATE);
    }
}
