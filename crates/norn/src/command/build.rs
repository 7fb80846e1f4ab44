//! `norn build`: becomes a build that finds Norn under the names of its compilers.

use std::{env, ffi::OsString, iter, os::unix::process::CommandExt as _, process::Command};

use anyhow::Context as _;
use norn_cc::disguise;

use super::cc::{cache, settings};
use crate::{config, exit::Exit};

pub(crate) fn run(command: &[OsString]) -> anyhow::Result<Exit> {
    let settings = settings(None)?;
    let folder = disguise(&cache(), &settings)?;
    let path = env::join_paths(iter::once(folder.clone()).chain(env::split_paths(&settings.path)))
        .with_context(|| format!("`{}` cannot be put on the PATH", folder.display()))?;
    let (program, arguments) = command.split_first().context("no build command given")?;
    let error = Command::new(program)
        .args(arguments)
        .env("PATH", path)
        .envs(config::for_compilers())
        .exec();
    Err(error).with_context(|| format!("cannot run `{}`", program.display()))
}
