//! Standard input, kept so that it can be fed back.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::{Context as _, ensure};

/// More of standard input than this is not kept.
const MOST: u64 = 64 << 20;

/// All of standard input, so that a program can be given it again and again. None if that is a
/// terminal: then the program reads it itself.
pub(crate) fn stdin() -> anyhow::Result<Option<Vec<u8>>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stdin.take(MOST + 1).read_to_end(&mut bytes).context("cannot read standard input")?;
    ensure!(bytes.len() as u64 <= MOST, "standard input has more than {MOST} bytes to keep");
    Ok(Some(bytes))
}
