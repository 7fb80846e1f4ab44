//! `norn exit-codes`: explains the exit statuses.

use std::io::{self, Write as _};

use crate::{cli::EXIT_CODES, exit::Exit};

pub(super) fn run() -> anyhow::Result<Exit> {
    writeln!(io::stdout().lock(), "{EXIT_CODES}")?;
    Ok(Exit::Clean)
}
