//! The user's check of a run's output: a shell command.

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

/// A command whose exit status says whether a run is correct.
#[derive(Clone, Debug)]
pub struct Check {
    /// The shell command.
    pub command: String,
    /// Its time limit.
    pub timeout: Option<Duration>,
}

/// The exit status of a command that exceeded its time limit, as of `timeout(1)`.
const LATE: i32 = 124;

impl Check {
    /// Checks a run that ended by itself and for which nothing worse than its exit status is known.
    pub fn apply(
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
        // The check prints for people; standard output is for Norn's report, which a program may read.
        command.stdout(io::stderr());
        command.env("NORN_STDOUT", stdout).env("NORN_STATUS", status.to_string());
        let mut child = command.spawn()?;
        let ended = self.ends_in_time(&child)?;
        // No process of its group outlives it.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let status = child.wait()?;
        Ok(if ended { number(status) } else { LATE })
    }

    /// Whether the command ended before its time limit and before an interrupt.
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

/// The exit status as a shell computes it.
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
    fn a_check_sees_the_output_and_the_status() {
        assert_eq!(status("grep -q 42 \"$NORN_STDOUT\"", None), 0);
        assert_eq!(status("grep -q 43 \"$NORN_STDOUT\"", None), 1);
        assert_eq!(status("exit $NORN_STATUS", None), 3);
        assert_eq!(status("kill -9 $$", None), 137);
    }

    #[test]
    fn a_check_that_exceeds_its_time_limit_fails() {
        assert_eq!(status("sleep 100 & sleep 100", Some(Duration::from_millis(100))), LATE);
    }
}
