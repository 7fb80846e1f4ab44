//! One test for each program in `subjects/` that has a fixed twin: the bug must be found, and the twin
//! must be clean. Every test has the options that a user gets by default.
//!
//! The tests are named after the programs, so that one of them can be run alone: `cargo test -p norn
//! --test subjects deadlock/bank`. `cargo xtask scoreboard` reports more about the hunted programs.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod check;
mod hunt;
mod report;

use std::{
    path::Path,
    process::{Command, ExitCode},
};

use libtest_mimic::Arguments;
use norn_e2e::process;

fn main() -> ExitCode {
    let trials = hunt::trials().chain(check::trials()).chain(report::trials()).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A command line of norn.
fn norn(arguments: &[&str]) -> Command {
    let binary = Path::new(env!("CARGO_BIN_EXE_norn"));
    process::norn(binary, Path::new(env!("CARGO_TARGET_TMPDIR")), arguments)
}
