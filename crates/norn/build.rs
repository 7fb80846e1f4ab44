//! Finds the commit that is built, for `norn --version`.
//!
//! A source package has no repository, or lies in somebody else's: the commit is unknown then, and
//! that is not an error.

use std::{
    path::Path,
    process::{Command, Stdio},
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit();
    println!("cargo::rustc-env=BUILD_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

fn commit() -> Option<String> {
    // Fails where this file is not part of the repository around it.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // Both change when another commit is checked out or made; only one may exist.
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// What git prints. Build scripts run in the folder of their package.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
