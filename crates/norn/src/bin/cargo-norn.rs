//! `cargo norn …`: cargo runs the program `cargo-norn`, which becomes `norn cargo …`.
//!
//! It is a program of its own and not a second copy of `norn`, because cargo can install two programs but no
//! link to one, and a copy would double the time of the build and the size of the installation.
#![allow(clippy::print_stderr, reason = "a program has to say what is wrong")]

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitCode},
};

fn main() -> ExitCode {
    let mut words: Vec<OsString> = env::args_os().skip(1).collect();
    // cargo passes the name of the subcommand as the first word.
    if words.first().is_some_and(|it| it == "norn") {
        words.remove(0);
    }
    let norn = beside().unwrap_or_else(|| "norn".into());
    let error = Command::new(&norn).arg("cargo").args(words).exec();
    eprintln!("cargo-norn: cannot run `{}`: {error}", norn.display());
    eprintln!("hint: `cargo install` puts `norn` and `cargo-norn` into one folder");
    ExitCode::from(2)
}

/// The `norn` that was installed together with this program.
fn beside() -> Option<PathBuf> {
    let norn = env::current_exe().ok()?.with_file_name("norn");
    norn.is_file().then_some(norn)
}
