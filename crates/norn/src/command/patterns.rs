//! `norn patterns`: prints the patterns that are searched, in the notation of pattern files.

use std::io::Write as _;

use crate::{exit::Exit, terminal};

pub(super) fn run() -> anyhow::Result<Exit> {
    write!(terminal::stdout(), "{}", norn_predict::BUILT_IN)?;
    Ok(Exit::Clean)
}
