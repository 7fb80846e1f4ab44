//! `norn rustc`: becomes the compiler of Rust, with more arguments.

use std::{env, ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use anyhow::Context as _;
use norn_cargo::{BOOTSTRAP, hook_flags};
use norn_cc::{Language, compiler_link};

use super::cc::{cache, settings};
use crate::{config, exit::Exit};

/// The environment variables that name the compiler, as in cargo.
const VARIABLES: [&str; 2] = ["NORN_RUSTC", "RUSTC"];

/// Norn's options come first, so that the user's win where they contradict.
pub(crate) fn run(arguments: &[OsString]) -> anyhow::Result<Exit> {
    let set = |name: &&str| env::var_os(name).filter(|it| !it.is_empty());
    let rustc = VARIABLES.iter().find_map(set).unwrap_or_else(|| "rustc".into());
    let linker = compiler_link(&cache(), &settings(None)?, Language::C)?;
    let mut command = Command::new(&rustc);
    command.args(hook_flags(&linker)).args(arguments);
    let error = command.env(BOOTSTRAP.0, BOOTSTRAP.1).envs(config::for_compilers()).exec();
    Err(error).with_context(|| format!("cannot run `{}`", rustc.display()))
}
