//! How much `norn` prints besides results and errors.

use std::{fmt, io, sync::OnceLock};

use crate::terminal;

/// Set once, before the command runs.
static CHOSEN: OnceLock<Verbosity> = OnceLock::new();

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Results and errors only.
    Quiet,
    /// Also progress, notes and hints.
    #[default]
    Normal,
    /// Also details.
    Verbose,
}

impl Verbosity {
    pub(crate) fn from_flags(quiet: bool, verbose: bool) -> Verbosity {
        match (quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }

    pub(crate) fn set(self) {
        // Only the first call counts, and there is only one.
        let _ = CHOSEN.set(self);
    }

    fn chosen() -> Verbosity {
        CHOSEN.get().copied().unwrap_or_default()
    }
}

/// Whether progress, notes and hints are suppressed.
pub(crate) fn is_quiet() -> bool {
    Verbosity::chosen() == Verbosity::Quiet
}

/// Whether details are printed.
pub(crate) fn is_verbose() -> bool {
    Verbosity::chosen() == Verbosity::Verbose
}

/// Prints a line to standard error that is neither a result nor an error.
pub(crate) fn note(line: impl fmt::Display) -> io::Result<()> {
    if is_quiet() { Ok(()) } else { terminal::line(&mut terminal::stderr(), line) }
}
