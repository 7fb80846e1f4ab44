//! The options for rustc, together with those of the user.
//!
//! cargo takes them from one of four places: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, the configuration of the
//! target, `build.rustflags`. The first one that is set hides the others, so Norn's options have to go where
//! the user's are. With `--target`, none of them applies to build scripts and procedural macros, which run
//! inside of the build and must not contain hooks.

use std::{ffi::OsString, process::Command};

use crate::{BOOTSTRAP, CargoError, TARGET, Toolchain, hook_flags, toolchain::output};

/// The separator in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// Options of the environment: the values of `CARGO_ENCODED_RUSTFLAGS` and `RUSTFLAGS`.
pub fn environment_flags(encoded: Option<&str>, plain: Option<&str>) -> Option<Vec<String>> {
    let words = |text: &str, separator: &str| {
        text.split(separator).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let encoded = encoded.filter(|it| !it.is_empty()).map(|it| words(it, SEPARATOR));
    encoded.or_else(|| plain.filter(|it| !it.is_empty()).map(|it| words(it, " ")))
}

impl Toolchain {
    /// Adds the options for rustc to a command of cargo.
    pub(crate) fn add_flags(&self, command: &mut Command) -> Result<(), CargoError> {
        let hooks = hook_flags(&self.cc).into_iter().map(|it| it.to_string_lossy().into_owned());
        if let Some(flags) = &self.rustflags {
            let all: Vec<String> = flags.iter().cloned().chain(hooks).collect();
            command.env("CARGO_ENCODED_RUSTFLAGS", all.join(SEPARATOR));
            return Ok(());
        }
        // cargo joins this list with that of the user's configuration of the target.
        let all: Vec<String> = self.hidden_flags(command)?.into_iter().chain(hooks).collect();
        let mut option = OsString::from(format!("target.{TARGET}.rustflags="));
        option.push(toml_list(&all));
        command.arg("--config").arg(option);
        Ok(())
    }

    /// `build.rustflags`, if no configuration of the target hides it anyway.
    fn hidden_flags(&self, command: &Command) -> Result<Vec<String>, CargoError> {
        let get = |key: &str| self.configured(command, key);
        if get(&format!("target.{TARGET}.rustflags"))?.is_some() {
            return Ok(Vec::new());
        }
        let conditions = get("target")?.unwrap_or_default();
        let is_flagged = |it: &serde_json::Value| it.get("rustflags").is_some();
        if conditions.as_object().is_some_and(|it| it.values().any(is_flagged)) {
            return Ok(Vec::new());
        }
        Ok(get("build.rustflags")?.map(|it| words(&it)).unwrap_or_default())
    }

    /// A value of cargo's configuration, as it is for a command.
    fn configured(
        &self,
        command: &Command,
        key: &str,
    ) -> Result<Option<serde_json::Value>, CargoError> {
        let mut config = Command::new(&self.cargo);
        config.args(["-Zunstable-options", "config", "get", "--format", "json-value", key]);
        if let Some(folder) = command.get_current_dir() {
            config.current_dir(folder);
        }
        let found = output(config.env(BOOTSTRAP.0, BOOTSTRAP.1))?;
        Ok(serde_json::from_slice(&found.stdout).ok().filter(|_| found.status.success()))
    }
}

/// Options in a configuration: a list, or a text with spaces.
fn words(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        serde_json::Value::Array(list) => {
            list.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

/// A list of strings in TOML. The strings of JSON are strings of TOML, too.
fn toml_list(words: &[String]) -> String {
    serde_json::Value::from(words.to_vec()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoded_variable_hides_the_plain_one() {
        let flags = |encoded, plain| environment_flags(encoded, plain).map(|it| it.join("|"));
        assert_eq!(flags(Some("-Ca b\x1f-Cc"), Some("-Cd")).as_deref(), Some("-Ca b|-Cc"));
        assert_eq!(flags(Some(""), Some("-Cd  -Ce")).as_deref(), Some("-Cd|-Ce"));
        assert_eq!(flags(None, Some("")), None);
    }

    #[test]
    fn configured_options_are_lists_or_texts() {
        assert_eq!(words(&"-Ca  -Cb".into()), ["-Ca", "-Cb"]);
        assert_eq!(words(&vec!["--cfg", "a b"].into()), ["--cfg", "a b"]);
        assert_eq!(toml_list(&["a \"b\"".to_owned()]), r#"["a \"b\""]"#);
    }
}
