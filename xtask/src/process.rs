//! Starts, limits and measures processes.
//!
//! Each runs in a process group of its own, so that its time limit ends everything that it started,
//! and nothing else.
#![expect(unsafe_code, reason = "only wait4 tells what one child has used")]

use std::{
    fmt, fs, io,
    mem::MaybeUninit,
    os::unix::process::CommandExt as _,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open},
};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exited(i32),
    Signaled(i32),
    TimedOut(Duration),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(status) => write!(f, "status {status}"),
            End::Signaled(signal) => write!(f, "signal {signal}"),
            End::TimedOut(limit) => write!(f, "> {} s", limit.as_secs()),
        }
    }
}

/// The resource usage of a process and of the children it has waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) wall: Duration,
    /// User and kernel time.
    pub(crate) cpu: Duration,
    /// The peak memory of the largest of them, in bytes.
    pub(crate) peak: u64,
}

/// A process that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) end: End,
    pub(crate) usage: Usage,
}

/// A running process. It is killed when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    id: Pid,
    started: Instant,
    over: bool,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Result<Running> {
        let started = Instant::now();
        let child = command.process_group(0).spawn();
        let child = child.with_context(|| format!("cannot run {command:?}"))?;
        Ok(Running { id: Pid::from_child(&child), started, over: false })
    }

    /// Sends SIGTERM to the process.
    pub(crate) fn terminate(&self) -> Result<()> {
        Ok(kill_process(self.id, Signal::TERM)?)
    }

    /// Waits until it ends; kills it and its children after `limit`.
    pub(crate) fn wait(mut self, limit: Duration) -> Result<Measured> {
        let ended = self.ends_within(limit.saturating_sub(self.started.elapsed()))?;
        if !ended {
            kill_process_group(self.id, Signal::KILL)?;
        }
        let mut measured = self.reap()?;
        if !ended {
            measured.end = End::TimedOut(limit);
        }
        Ok(measured)
    }

    fn ends_within(&self, rest: Duration) -> Result<bool> {
        let handle = pidfd_open(self.id, PidfdFlags::empty())?;
        let deadline = Instant::now() + rest;
        loop {
            let rest = Timespec::try_from(deadline.saturating_duration_since(Instant::now()))?;
            match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&rest)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn reap(&mut self) -> Result<Measured> {
        let (status, used) = wait4(self.id)?;
        let wall = self.started.elapsed();
        self.over = true;
        let cpu = duration(used.ru_utime) + duration(used.ru_stime);
        let peak = u64::try_from(used.ru_maxrss)? * 1024;
        Ok(Measured { end: end(status), usage: Usage { wall, cpu, peak } })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            let _ = kill_process_group(self.id, Signal::KILL);
            let _ = wait4(self.id);
        }
    }
}

/// Runs a command to its end or to the limit.
pub(crate) fn measure(command: &mut Command, limit: Duration) -> Result<Measured> {
    Running::start(command)?.wait(limit)
}

/// The peak memory of this process.
pub(crate) fn own_peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}

fn wait4(id: Pid) -> io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers refer to memory of the right type.
        let done = unsafe { libc::wait4(id.as_raw_pid(), &raw mut status, 0, used.as_mut_ptr()) };
        if done > 0 {
            // SAFETY: all bytes were zero, which is a valid value, before the kernel wrote it.
            return Ok((status, unsafe { used.assume_init() }));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn end(status: i32) -> End {
    if libc::WIFSIGNALED(status) {
        End::Signaled(libc::WTERMSIG(status))
    } else {
        End::Exited(libc::WEXITSTATUS(status))
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Measured {
        measure(Command::new("sh").args(["-c", script]), limit).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let minute = Duration::from_mins(1);
        assert_eq!(shell("exit 3", minute).end, End::Exited(3));
        assert_eq!(shell("kill -9 $$", minute).end, End::Signaled(9));
    }

    #[test]
    fn memory_is_known() {
        assert!(own_peak() > 1 << 20);
        assert!(shell("true", Duration::from_mins(1)).usage.peak > 100_000);
    }

    #[test]
    fn the_limit_ends_children_too() {
        let limit = Duration::from_millis(100);
        let measured = shell("sleep 100 & sleep 100", limit);
        assert_eq!(measured.end, End::TimedOut(limit));
        assert!(measured.usage.wall < Duration::from_secs(20));
    }
}
