//! The Rust toolchain, and whether it can insert hooks.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{BOOTSTRAP, CargoError, hook_flags};

/// The target of all programs that Norn can run.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The oldest version of rustc that is known to accept the options.
pub const OLDEST_RUSTC: &str = "1.95";

/// The programs that build, and the variables of the environment that matter to them. An empty variable
/// counts as one that is not set, as in cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    /// cargo: `CARGO` names it for its subcommands.
    pub cargo: OsString,
    /// rustc: `RUSTC` may name it.
    pub rustc: OsString,
    /// What runs rustc: `RUSTC_WRAPPER` may name it.
    pub wrapper: Option<OsString>,
    /// The program that behaves like `norn cc`.
    pub cc: PathBuf,
    /// The program that behaves like `norn c++`.
    pub cxx: PathBuf,
    /// The options for rustc that the environment sets: `CARGO_ENCODED_RUSTFLAGS`, else `RUSTFLAGS`.
    pub rustflags: Option<Vec<String>>,
    /// `LD_LIBRARY_PATH`, to which the folders of libraries are added for programs.
    pub library_path: Option<OsString>,
}

impl Toolchain {
    /// Checks that the toolchain can build programs with hooks. Returns the version of rustc.
    pub fn check(&self) -> Result<String, CargoError> {
        let described = output(Command::new(&self.rustc).arg("-vV"))?;
        let text = String::from_utf8_lossy(&described.stdout).into_owned();
        let field = |name: &str| text.lines().find_map(|it| it.strip_prefix(name));
        let version = field("release: ").unwrap_or("of an unknown version").to_owned();
        check_target(field("host: ").unwrap_or("unknown"))?;
        probe(&self.rustc, &self.cc, &version)?;
        Ok(version)
    }
}

/// Refuses targets for which there is no runtime.
pub fn check_target(target: &str) -> Result<(), CargoError> {
    let target = target.to_owned();
    if target == TARGET { Ok(()) } else { Err(CargoError::Target { target }) }
}

/// Asks the compiler for its configuration under the options: it fails if it does not know one of them.
fn probe(rustc: &OsStr, linker: &Path, version: &str) -> Result<(), CargoError> {
    let mut command = Command::new(rustc);
    command.args(hook_flags(linker)).args(["--print=cfg", "--target", TARGET]);
    let probed = output(command.env(BOOTSTRAP.0, BOOTSTRAP.1))?;
    if probed.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&probed.stderr);
    let error = text.lines().find_map(|it| it.strip_prefix("error: "));
    let reason = error.unwrap_or("it does not accept the options").to_owned();
    Err(CargoError::Toolchain { version: version.to_owned(), reason })
}

pub(crate) fn output(command: &mut Command) -> Result<Output, CargoError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|source| CargoError::Start { program, source })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    #[test]
    fn an_old_compiler_is_refused_with_its_own_reason() {
        let folder = tempfile::tempdir().unwrap();
        let rustc = folder.path().join("rustc");
        let script =
            "#!/bin/sh\necho 'error: unknown codegen option: `external-clangrt`' >&2\nexit 1\n";
        fs::write(&rustc, script).unwrap();
        fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).unwrap();
        let error = probe(rustc.as_os_str(), Path::new("cc"), "1.60.0").unwrap_err().to_string();
        assert!(error.contains("rustc 1.60.0") && error.contains("external-clangrt"), "{error}");
        assert!(error.contains("hint: `rustup update stable`"), "{error}");
    }

    #[test]
    fn other_targets_are_refused() {
        assert!(check_target(TARGET).is_ok());
        let error = check_target("aarch64-apple-darwin").unwrap_err().to_string();
        assert!(error.contains("aarch64-apple-darwin") && error.contains("hint: "), "{error}");
    }
}
