//! `norn man`: writes manual pages.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use anyhow::Context as _;
use clap_mangen::{Man, generate_to};

use crate::{cli, exit::Exit, verbosity::note};

pub(super) fn run(folder: Option<&Path>) -> anyhow::Result<Exit> {
    let command = cli::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        return Ok(Exit::Clean);
    };
    let write = || {
        fs::create_dir_all(folder)?;
        generate_to(command, folder)
    };
    write().with_context(|| format!("cannot write manual pages to `{}`", folder.display()))?;
    note(format_args!("norn: wrote manual pages to `{}`", folder.display()))?;
    Ok(Exit::Clean)
}
