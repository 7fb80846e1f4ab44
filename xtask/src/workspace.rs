//! Where things are, and running cargo there.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

/// The root of the source tree.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Where cargo puts what it builds, and chores what they need for a while.
pub(crate) fn target() -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target"));
    root().join(chosen)
}

/// A `cargo` command in the root of the source tree.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a step to its end; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// What a command prints; anything but success is an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}\n{errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes one of the documents that chores generate, without the folders of this machine.
pub(crate) fn write_document(name: &str, text: &str) -> Result<()> {
    let path = root().join("docs").join(name);
    let text = text.replace(&*target().to_string_lossy(), "target");
    let text = text.replace(&format!("{}/", root().display()), "");
    std::fs::create_dir_all(root().join("docs"))?;
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote docs/{name}");
    Ok(())
}
