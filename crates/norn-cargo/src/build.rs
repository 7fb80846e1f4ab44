//! Builds the programs of a workspace with hooks.
//!
//! cargo builds into a folder of its own below the usual one, so that the builds with and without hooks do
//! not replace each other. `--target` is always given, even though it is the platform of the build itself:
//! only then does cargo build build scripts and procedural macros apart, without the options. Parts in C
//! and C++ that build scripts compile with the crates `cc` and `cmake` get `norn cc` as their compiler.

use std::{
    ffi::OsString,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cargo_metadata::{Message, Metadata, MetadataCommand};

use crate::{
    BOOTSTRAP, CargoError, Program, TARGET, Toolchain, program::Collection, wrapper::wrap,
};

/// The variable that tells `norn cc` that cargo started it; see [`is_for_host`].
pub const INSIDE_CARGO: &str = "NORN_INSIDE_CARGO";

/// The name of the folder for builds with hooks, in the folder for builds.
const FOLDER: &str = "norn";

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Whether to build tests, or else programs.
    pub tests: bool,
    /// Options of cargo: packages, targets, features, the profile.
    pub options: Vec<OsString>,
    /// The manifest, if it is not the nearest one.
    pub manifest: Option<PathBuf>,
    /// The folder for builds, if it is not the workspace's.
    pub target_dir: Option<PathBuf>,
}

/// The result of a build.
#[derive(Debug)]
pub struct Built {
    /// The programs, in the order in which cargo reports them.
    pub programs: Vec<Program>,
    /// The folder for builds with hooks.
    pub folder: PathBuf,
}

impl Build {
    /// Builds, with cargo's messages on standard error.
    pub fn run(&self, toolchain: &Toolchain) -> Result<Built, CargoError> {
        let metadata = self.metadata(toolchain)?;
        let folder = self.target_dir.clone();
        let folder =
            folder.unwrap_or_else(|| metadata.target_directory.clone().into_std_path_buf());
        let folder = folder.join(FOLDER);
        let mut command = self.command(toolchain, &folder)?;
        let failed = |source| CargoError::Start { program: "cargo".to_owned(), source };
        let mut child = command.spawn().map_err(failed)?;
        let stdout: Box<dyn Read> = match child.stdout.take() {
            Some(it) => Box::new(it),
            None => Box::new(std::io::empty()),
        };
        let mut collection = Collection::new(&metadata, self.tests);
        for message in Message::parse_stream(BufReader::new(stdout)) {
            collection.read(&message.map_err(CargoError::Output)?);
        }
        let status = child.wait().map_err(failed)?;
        if !status.success() {
            return Err(CargoError::Build(status));
        }
        Ok(Built { programs: collection.programs(toolchain), folder })
    }

    /// The packages of the workspace.
    fn metadata(&self, toolchain: &Toolchain) -> Result<Metadata, CargoError> {
        let mut command = MetadataCommand::new();
        command.cargo_path(Path::new(&toolchain.cargo)).no_deps();
        if let Some(manifest) = &self.manifest {
            command.manifest_path(manifest);
        }
        Ok(command.exec()?)
    }

    fn command(&self, toolchain: &Toolchain, folder: &Path) -> Result<Command, CargoError> {
        let mut command = Command::new(&toolchain.cargo);
        command.args(if self.tests { &["test", "--no-run"][..] } else { &["build"] });
        toolchain.add_flags(&mut command)?;
        wrap(&mut command, folder, toolchain.wrapper.as_deref())?;
        command.args(["--message-format=json-render-diagnostics", "--target", TARGET]);
        command.arg("--target-dir").arg(folder).args(&self.options);
        if let Some(manifest) = &self.manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        let target = TARGET.replace('-', "_");
        command.env(format!("CC_{target}"), &toolchain.cc);
        command.env(format!("CXX_{target}"), &toolchain.cxx);
        command.env(INSIDE_CARGO, "1").env(BOOTSTRAP.0, BOOTSTRAP.1);
        // Only a build script of this build may set it: by its value `norn cc` tells what is for the build itself.
        command.env_remove("OUT_DIR");
        command.stdout(Stdio::piped());
        Ok(command)
    }
}

/// Whether a file that cargo makes is for the build itself and not for the program: what build scripts and
/// procedural macros link must not contain hooks, because nothing defines them there. Both platforms have
/// the same name, but cargo keeps the files of the program in a folder with the name of its target.
pub fn is_for_host(path: &Path) -> bool {
    !path.iter().any(|it| it == TARGET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_program_are_in_the_folder_of_the_target() {
        assert!(is_for_host(Path::new("/w/target/norn/debug/build/zstd-sys-1/out")));
        let part = "/w/target/norn/x86_64-unknown-linux-gnu/debug/build/zstd-sys-1/out";
        assert!(!is_for_host(Path::new(part)));
    }
}
