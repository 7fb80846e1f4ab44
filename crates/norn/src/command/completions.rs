//! `norn completions`: prints a completion script.

use std::io::{self, Write as _};

use clap_complete::Shell;

use crate::{cli, exit::Exit};

pub(super) fn run(shell: Shell) -> anyhow::Result<Exit> {
    // clap_complete panics when it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::command(), "norn", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Exit::Clean)
}
