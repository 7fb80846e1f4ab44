//! Runs cargo on the runtime.

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

use crate::variable;

/// The two ways in which the runtime intercepts a program's calls to libc.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flavour {
    /// By defining the same names.
    Dynamic,
    /// By the linker's `--wrap`.
    Static,
}

/// Prefixes of environment variables that cargo sets for build scripts or users set for *their*
/// build. None of them may affect the runtime: flags for a sanitizer, a coverage tool or the host
/// processor would end up in every instrumented program.
const NOT_FOR_US: [&str; 4] = ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS"];

/// Exceptions from [`NOT_FOR_US`]: cargo's home directory and its job server.
const FOR_US: [&str; 2] = ["CARGO_HOME", "CARGO_MAKEFLAGS"];

impl Flavour {
    /// The name of its files, without an extension.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Static => "static",
        }
    }

    /// Builds the runtime in `directory` and returns the path of its library.
    pub(crate) fn build(self, package: &Path, directory: &Path) -> Result<PathBuf, Box<dyn Error>> {
        let target = variable("TARGET")?;
        let mut cargo = Command::new(variable("CARGO")?);
        for (name, _) in env::vars_os() {
            if is_foreign(&name.to_string_lossy()) {
                cargo.env_remove(name);
            }
        }
        cargo.current_dir(package).args(["--config", &same_everywhere(package)?]);
        cargo.args(["build", "--release", "--offline", "--target", &target, "--target-dir"]);
        cargo.arg(directory).args(self.features());
        if !cargo.status()?.success() {
            return Err(format!("the {} runtime does not build: {cargo:?}", self.name()).into());
        }
        Ok(directory.join(target).join("release/libnorn_rt.a"))
    }

    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Dynamic => &[],
            Self::Static => &["--features", "static"],
        }
    }
}

fn is_foreign(variable: &str) -> bool {
    NOT_FOR_US.iter().any(|start| variable.starts_with(start)) && !FOR_US.contains(&variable)
}

/// A compiler flag in addition to the runtime's own configuration that removes the source path
/// from the output, so the build is reproducible in any directory.
fn same_everywhere(package: &Path) -> Result<String, Box<dyn Error>> {
    let root = package.join("..").canonicalize()?;
    let flag = format!("--remap-path-prefix={}=norn", root.display());
    Ok(format!("build.rustflags=[{flag:?}]"))
}
