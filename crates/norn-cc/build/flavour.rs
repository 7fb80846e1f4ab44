//! Runs cargo on the runtime.

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

use crate::variable;

/// The two ways in which the runtime gets between a program and its libc.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flavour {
    /// By defining the same names.
    Dynamic,
    /// By the linker's `--wrap`.
    Static,
}

/// What cargo tells build scripts and what users set for *their* build, by the beginnings of the
/// names. None of it is meant for the runtime: flags for a sanitizer, a coverage tool or the
/// host's processor would end up in every subject.
const NOT_FOR_US: [&str; 4] = ["CARGO", "RUSTC", "RUSTDOC", "RUSTFLAGS"];

/// The exceptions: where cargo keeps its things, and how many jobs may run.
const FOR_US: [&str; 2] = ["CARGO_HOME", "CARGO_MAKEFLAGS"];

impl Flavour {
    /// The name of its files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Static => "static",
        }
    }

    /// Builds the runtime in `directory` and returns its library.
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

/// One more flag next to those in the runtime's own configuration: the same runtime comes out
/// wherever the sources are.
fn same_everywhere(package: &Path) -> Result<String, Box<dyn Error>> {
    let root = package.join("..").canonicalize()?;
    let flag = format!("--remap-path-prefix={}=norn", root.display());
    Ok(format!("build.rustflags=[{flag:?}]"))
}
