//! `norn header`: the header for builds that do not go through `norn cc`.

use std::io::{self, Write as _};

use crate::exit::Exit;

pub(super) fn run() -> anyhow::Result<Exit> {
    io::stdout().lock().write_all(norn_cc::HEADER.as_bytes())?;
    Ok(Exit::Clean)
}
