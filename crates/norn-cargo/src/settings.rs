//! Options for the hunts in tests, in the manifest of their package.
//!
//! ```toml
//! [package.metadata.norn]               # for all tests of the package
//! budget = 50
//!
//! [package.metadata.norn.test."slow::*"] # for some
//! time = "10s"
//! skip = true
//! ```
//!
//! Each key is the long name of an option of `norn hunt`. Of several patterns that match a test, all count,
//! the last one most; the command line counts more than all of them.

use std::ffi::OsString;

use norn_model::Glob;
use serde_json::{Map, Value};

use crate::{CargoError, Program};

/// The key of the options for some tests.
const TESTS: &str = "test";
/// The key that leaves tests out.
const SKIP: &str = "skip";

/// Options for one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether it is left out.
    pub skip: bool,
    /// Options of `norn hunt`, which override earlier ones.
    pub options: Vec<OsString>,
}

impl Program {
    /// The options for one of its tests.
    pub fn settings_of(&self, test: &str) -> Result<Settings, CargoError> {
        settings(&self.settings, test).map_err(|reason| CargoError::Options {
            place: format!("`package.metadata.norn` of the package `{}`", self.package),
            reason,
        })
    }
}

fn settings(all: &Value, test: &str) -> Result<Settings, String> {
    let mut merged = Map::new();
    let Value::Object(general) = all else {
        return if all.is_null() { Ok(Settings::default()) } else { Err("it is no table".into()) };
    };
    merged.extend(general.iter().filter(|it| it.0 != TESTS).map(owned));
    if let Some(tests) = general.get(TESTS) {
        let tests = tests.as_object().ok_or("`test` is no table")?;
        for (pattern, options) in tests {
            let options = options.as_object().ok_or_else(|| format!("`{pattern}` is no table"))?;
            if Glob::new(pattern).matches(test) {
                merged.extend(options.iter().map(owned));
            }
        }
    }
    let skip = match merged.remove(SKIP) {
        None => false,
        Some(Value::Bool(skip)) => skip,
        Some(_) => return Err("`skip` is neither true nor false".to_owned()),
    };
    let mut options = Vec::new();
    for (name, value) in &merged {
        add(&mut options, name, value)?;
    }
    Ok(Settings { skip, options })
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// Adds the words of an option.
fn add(options: &mut Vec<OsString>, name: &str, value: &Value) -> Result<(), String> {
    let option = format!("--{}", name.replace('_', "-"));
    match value {
        Value::Bool(true) => options.push(option.into()),
        Value::Bool(false) => {}
        Value::Number(number) => options.push(format!("{option}={number}").into()),
        Value::String(text) => options.push(format!("{option}={text}").into()),
        Value::Array(values) => {
            for value in values {
                add(options, name, value)?;
            }
        }
        Value::Null | Value::Object(_) => return Err(format!("`{name}` is no value of an option")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_of_a_pattern_override_those_of_the_package() {
        let all = json!({
            "budget": 50, "stop_at_first": true, "no-values": false,
            "test": { "slow::*": { "budget": 5, "suppressions": ["a", "b"] }, "broken": { "skip": true } }
        });
        let of = |test| settings(&all, test).unwrap();
        assert_eq!(of("quick").options, ["--budget=50", "--stop-at-first"]);
        let slow = ["--budget=5", "--stop-at-first", "--suppressions=a", "--suppressions=b"];
        assert_eq!(of("slow::one").options, slow);
        assert!(of("broken").skip && !of("quick").skip);
        assert_eq!(settings(&Value::Null, "x").unwrap(), Settings::default());
    }

    #[test]
    fn wrong_options_are_refused() {
        let refused = |all: Value| settings(&all, "x").unwrap_err();
        assert_eq!(refused(json!({ "budget": {} })), "`budget` is no value of an option");
        assert_eq!(
            refused(json!({ "test": { "x": { "skip": 1 } } })),
            "`skip` is neither true nor false"
        );
        assert_eq!(refused(json!({ "test": 3 })), "`test` is no table");
    }
}
