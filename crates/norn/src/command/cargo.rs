//! `norn cargo`, which `cargo norn` runs: builds programs of a Rust workspace and runs a command on them.

mod table;
mod test;

use std::{env, os::unix::process::CommandExt as _, process::Command};

use anyhow::Context as _;
use norn_cargo::{Build, Built, Program, Toolchain, environment_flags};
use norn_cc::{Language, compiler_link};

use super::cc::{cache, settings};
use crate::{
    cli::{Action, Cargo, Global},
    config,
    exit::Exit,
    terminal::{self, line},
};

pub(super) fn run(cargo: &Cargo, global: &Global) -> anyhow::Result<Exit> {
    let toolchain = toolchain()?;
    toolchain.check()?;
    match &cargo.action {
        Action::Build => list(&cargo.build.run(&toolchain)?),
        Action::Test { filters } => test::run(cargo, filters, &toolchain, global),
        Action::Forward("replay") => replay(cargo, &toolchain, global),
        Action::Forward(name) => {
            let built = cargo.build.run(&toolchain)?;
            forward(&mut norn_on(name, cargo, global, Some(Program::only(&built.programs)?))?)
        }
    }
}

/// The toolchain that the environment names.
fn toolchain() -> anyhow::Result<Toolchain> {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty());
    let text = |name: &str| env::var(name).ok();
    let (cache, settings) = (cache(), settings(None)?);
    Ok(Toolchain {
        cargo: set("CARGO").unwrap_or_else(|| "cargo".into()),
        rustc: set("RUSTC").unwrap_or_else(|| "rustc".into()),
        wrapper: set("RUSTC_WRAPPER"),
        cc: compiler_link(&cache, &settings, Language::C)?,
        cxx: compiler_link(&cache, &settings, Language::Cxx)?,
        rustflags: environment_flags(
            text("CARGO_ENCODED_RUSTFLAGS").as_deref(),
            text("RUSTFLAGS").as_deref(),
        ),
        library_path: set("LD_LIBRARY_PATH"),
    })
}

/// Prints the programs that were built.
fn list(built: &Built) -> anyhow::Result<Exit> {
    let mut out = terminal::stdout();
    for program in &built.programs {
        line(&mut out, format_args!("{}", program.path.display()))?;
    }
    Ok(Exit::Clean)
}

/// A clip names its program, which may be a test. Without a selection, all programs are built again.
fn replay(cargo: &Cargo, toolchain: &Toolchain, global: &Global) -> anyhow::Result<Exit> {
    if !cargo.build.options.is_empty() {
        let built = cargo.build.run(toolchain)?;
        let program = Program::only(&built.programs)?;
        return forward(&mut norn_on("replay", cargo, global, Some(program))?);
    }
    for tests in [true, false] {
        Build { tests, ..cargo.build.clone() }.run(toolchain)?;
    }
    forward(&mut norn_on("replay", cargo, global, None)?)
}

/// Becomes another command.
fn forward(command: &mut Command) -> anyhow::Result<Exit> {
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run `{}`", command.get_program().display()))
}

/// A command of norn on a program of the workspace, in the environment that cargo would give it.
fn norn_on(
    name: &str,
    cargo: &Cargo,
    global: &Global,
    program: Option<&Program>,
) -> anyhow::Result<Command> {
    let norn = env::current_exe().context("cannot find norn itself")?;
    let mut command = Command::new(norn);
    command.args(global.words()).arg(name).args(&cargo.options).envs(config::for_compilers());
    if let Some(program) = program {
        command.envs(program.environment.iter().map(|(name, value)| (name, value)));
        command.arg("--").arg(&program.path).args(&cargo.rest);
    }
    Ok(command)
}
