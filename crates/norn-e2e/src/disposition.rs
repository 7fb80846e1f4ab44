//! The signals of commands that tests start. A test suite may run with signals ignored, as under
//! `nohup` or as a background job of a shell, and every process inherits that. What a command does with
//! a signal must not depend on how the tests were started.
#![expect(unsafe_code, reason = "signals are set by calls that Rust cannot check")]

use std::{mem::zeroed, os::unix::process::CommandExt as _, process::Command, ptr};

/// The signals that shells and `nohup` ignore, and those that tests send.
const SIGNALS: [i32; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// Lets a command start with the default disposition of every signal that tests send, and with none of
/// them blocked.
pub(crate) fn set_defaults(command: &mut Command) {
    // SAFETY: only makes system calls, which may be made after a fork.
    unsafe {
        command.pre_exec(|| {
            let mut none: libc::sigset_t = zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
            for signal in SIGNALS {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;
    use crate::process::run;

    #[test]
    fn a_command_does_not_inherit_ignored_signals() {
        // SAFETY: there is no handler; no other test sends this signal to this process.
        let before = unsafe { libc::signal(libc::SIGQUIT, libc::SIG_IGN) };
        let mut command = Command::new("sh");
        command.args(["-c", "kill -QUIT $$; echo survived"]);
        let ran = run(command);
        // SAFETY: puts back what was there.
        unsafe { libc::signal(libc::SIGQUIT, before) };
        assert_eq!(ran.status.signal(), Some(libc::SIGQUIT), "{ran:?}");
    }
}
