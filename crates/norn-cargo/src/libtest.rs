//! The tests of a test program, as its own harness lists them.
//!
//! The harness of Rust, and those that imitate it, print `NAME: test` for each test with `--list --format
//! terse`, and apply filters themselves. A program with another harness (`harness = false`) prints something
//! else: it is one test as a whole.

use std::{ffi::OsString, io, process::Command};

use crate::{CargoError, Program};

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its name; `None` if it is the whole program.
    pub name: Option<String>,
    /// Whether it is marked with `#[ignore]`, and the user did not ask for such tests.
    pub ignored: bool,
}

impl Test {
    /// Arguments for the program to run only this test. The test runs on the main thread or on a single
    /// thread beside it, and prints directly, so that messages of other threads are not lost.
    pub fn arguments(&self) -> Vec<OsString> {
        let Some(name) = &self.name else { return Vec::new() };
        let options = ["--exact", "--nocapture", "--test-threads=1", "--include-ignored"];
        [name.as_str()].into_iter().chain(options).map(OsString::from).collect()
    }
}

/// The tests of a program that `filters`, which are arguments of the harness, select.
pub fn tests(program: &Program, filters: &[OsString]) -> Result<Vec<Test>, CargoError> {
    let all = list(program, filters, &[])?;
    let Some(names) = parse(&all) else {
        return Ok(vec![Test { name: None, ignored: false }]);
    };
    let asked = |it: &OsString| it == "--ignored" || it == "--include-ignored";
    let ignored = if filters.iter().any(asked) || names.is_empty() {
        Vec::new()
    } else {
        parse(&list(program, filters, &["--ignored"])?).unwrap_or_default()
    };
    let test = |name: String| Test { ignored: ignored.contains(&name), name: Some(name) };
    Ok(names.into_iter().map(test).collect())
}

fn list(program: &Program, filters: &[OsString], more: &[&str]) -> Result<String, CargoError> {
    let failed = |reason: String| CargoError::List { program: program.path.clone(), reason };
    let mut command = Command::new(&program.path);
    command.args(filters).args(["--list", "--format", "terse"]).args(more);
    command.current_dir(&program.folder).envs(program.environment.iter().cloned());
    let output = command.output().map_err(|it: io::Error| failed(it.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("{}\n{}", output.status, text.trim_end())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The names of tests in a list; `None` if it is no list of tests. Benchmarks are left out.
fn parse(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for line in text.lines() {
        let (name, kind) = line.rsplit_once(": ")?;
        match kind {
            "test" => names.push(name.to_owned()),
            "benchmark" => {}
            _ => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_tests_are_parsed() {
        let text = "a::b: test\nspeed: benchmark\nc::d - should panic: test\n";
        let names = parse(text).unwrap();
        assert_eq!(names, ["a::b", "c::d - should panic"]);
        assert_eq!(parse(""), Some(Vec::new()));
        assert_eq!(parse("running my own tests\nok\n"), None);
    }
}
