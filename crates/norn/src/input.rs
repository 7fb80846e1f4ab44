//! Reads standard input, so that it can be fed to several runs.

use std::io::{self, IsTerminal as _, Read as _};

use anyhow::{Context as _, ensure};

/// Maximum size of standard input in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// All of standard input; none if it is a terminal, from which the program reads itself.
pub(crate) fn stdin() -> anyhow::Result<Option<Vec<u8>>> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    stdin.take(MAX_SIZE + 1).read_to_end(&mut bytes).context("cannot read standard input")?;
    ensure!(bytes.len() as u64 <= MAX_SIZE, "standard input has more than {MAX_SIZE} bytes");
    Ok(Some(bytes))
}
