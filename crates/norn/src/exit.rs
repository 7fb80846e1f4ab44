//! Exit codes. Scripts depend on them: never change the meaning of one.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, nothing harmful found.
    Clean,
    /// Something harmful happened.
    Harmful,
    /// Wrong usage, or the tool failed; also clap's code.
    Error,
    /// The job could not be done: nothing in the program that could be recorded.
    Impossible,
    /// The subject's own status.
    Subject(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Harmful => 1,
            Exit::Error => 2,
            Exit::Impossible => 3,
            Exit::Subject(status) => status,
        })
    }
}
