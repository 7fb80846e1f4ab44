//! The wrapper of rustc, which keeps build scripts from learning that the program has hooks of a sanitizer.
//!
//! cargo asks rustc for the configuration under the user's options, and tells it to build scripts. Some crates replace code
//! for ThreadSanitizer, which does not understand fences: then the program would not be the one that users get, and what
//! orders its threads would be something else. Norn understands fences. So that answer is given without the option.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, absolute},
    process::Command,
};

use crate::CargoError;

/// The variable of cargo that names a wrapper.
const WRAPPER: &str = "RUSTC_WRAPPER";
/// The variable by which Norn's wrapper knows the user's.
const INNER: &str = "NORN_RUSTC_WRAPPER";
/// Its file, in the folder for builds with hooks.
const NAME: &str = "rustc-wrapper";

/// cargo gives the compiler as the first argument. Where there is no question, all arguments stay as they are.
const SCRIPT: &str = r#"#!/bin/sh
# Runs rustc for `cargo norn`. Build scripts are not told about the sanitizer whose hooks Norn uses.
case " $* " in
*" --print=cfg "*)
    left=$#
    while [ "$left" -gt 0 ]; do
        argument=$1
        shift
        [ "$argument" = -Zsanitizer=thread ] || set -- "$@" "$argument"
        left=$((left - 1))
    done
    ;;
esac
exec ${NORN_RUSTC_WRAPPER:+"$NORN_RUSTC_WRAPPER"} "$@"
"#;

/// Has a command of cargo use the wrapper, and the user's wrapper inside of it.
pub(crate) fn wrap(
    command: &mut Command,
    folder: &Path,
    inner: Option<&OsStr>,
) -> Result<(), CargoError> {
    let path = folder.join(NAME);
    let installed = absolute(&path).and_then(|it| install(&it).map(|()| it));
    let installed = installed.map_err(|source| CargoError::Wrapper { path, source })?;
    command.env(WRAPPER, installed).env(INNER, inner.unwrap_or_default());
    Ok(())
}

/// Writes the script, unless it is there: another build may be executing it.
fn install(path: &Path) -> io::Result<()> {
    if fs::read(path).is_ok_and(|it| it == SCRIPT.as_bytes()) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, SCRIPT)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the wrapper passes on of a command line.
    fn passed_on(arguments: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        install(&path).unwrap();
        let mut wrapper = Command::new("sh");
        wrapper.arg(&path).args(["printf", "%s\\n"]).args(arguments).env_remove(INNER);
        let stdout = wrapper.output().unwrap().stdout;
        String::from_utf8(stdout).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn only_the_question_for_the_configuration_is_changed() {
        let compile = ["-Zsanitizer=thread", "--cfg", "feature=\"a b\"", "a.rs"];
        assert_eq!(passed_on(&compile), compile);
        let ask = ["-", "-Zsanitizer=thread", "--cfg", "feature=\"a b\"", "--print=cfg", "-Wx"];
        assert_eq!(passed_on(&ask), ["-", "--cfg", "feature=\"a b\"", "--print=cfg", "-Wx"]);
    }
}
