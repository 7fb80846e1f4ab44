//! `norn patterns`: prints the patterns that are searched, in the notation of pattern files.

use std::io::Write as _;

use crate::exit::Exit;

pub(super) fn run() -> anyhow::Result<Exit> {
    write!(anstream::stdout(), "{}", norn_predict::BUILT_IN)?;
    Ok(Exit::Clean)
}
