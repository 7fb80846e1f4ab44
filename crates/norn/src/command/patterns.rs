//! `norn patterns`: what is looked for, as it can be written.

use std::io::Write as _;

use crate::exit::Exit;

pub(super) fn run() -> anyhow::Result<Exit> {
    write!(anstream::stdout(), "{}", norn_predict::BUILT_IN)?;
    Ok(Exit::Clean)
}
