//! Exit statuses. Scripts depend on them: never change the meaning of one. `norn help exit-codes`
//! explains them to users.

use std::process::ExitCode;

use norn_report::{ExitMeaning, ExitStatus};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, nothing harmful found.
    Clean,
    /// Something harmful happened.
    Harmful,
    /// Usage error, or the tool failed; also clap's status.
    Error,
    /// The user interrupted the command before anything harmful was found.
    Interrupted,
    /// The job could not be done: the program left no events, or a schedule could not be followed.
    Impossible,
    /// The subject's own status.
    Subject(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(ExitStatus::from(exit).code)
    }
}

impl From<Exit> for ExitStatus {
    fn from(exit: Exit) -> Self {
        let (code, meaning) = match exit {
            Exit::Clean => (0, ExitMeaning::Clean),
            Exit::Harmful => (1, ExitMeaning::Harmful),
            Exit::Error => (2, ExitMeaning::Error),
            Exit::Interrupted => (2, ExitMeaning::Interrupted),
            Exit::Impossible => (3, ExitMeaning::Impossible),
            Exit::Subject(status) => (status, ExitMeaning::Program),
        };
        ExitStatus { code, meaning }
    }
}
