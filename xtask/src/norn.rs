//! The command under measurement: builds it, records with it, queries its traces.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::workspace;

/// The built command.
#[derive(Debug)]
pub(crate) struct Norn {
    pub(crate) path: PathBuf,
}

impl Norn {
    /// Builds it in release mode.
    pub(crate) fn build() -> Result<Norn> {
        eprintln!("building norn");
        workspace::succeed(&mut workspace::cargo(&[
            "build",
            "--quiet",
            "--release",
            "-p",
            "norn",
        ]))?;
        Ok(Norn { path: workspace::target().join("release/norn") })
    }

    /// The command at this path; without a path, it is built in release mode. Builds of real programs run it
    /// as their compiler, in folders of their own, so a relative path becomes an absolute one.
    pub(crate) fn given(path: Option<&Path>) -> Result<Norn> {
        let Some(path) = path else { return Norn::build() };
        let path = path.canonicalize().with_context(|| format!("no norn at {}", path.display()))?;
        Ok(Norn { path })
    }

    /// A command that records `subject`. An older trace at this path is removed.
    pub(crate) fn record(
        &self,
        trace: &Path,
        options: &[&str],
        subject: &Command,
    ) -> Result<Command> {
        if trace.exists() {
            fs::remove_dir_all(trace).context("cannot remove an old trace")?;
        }
        let mut command = Command::new(&self.path);
        command.arg("record").arg("-o").arg(trace).args(options).arg("--");
        command.arg(subject.get_program()).args(subject.get_args());
        Ok(command)
    }

    /// The output of `norn info` for a trace.
    pub(crate) fn info(&self, trace: &Path) -> Result<Info> {
        let mut command = Command::new(&self.path);
        command.args(["info", "--format", "json"]).arg(trace);
        let text = workspace::output(&mut command)?;
        let json: Value = serde_json::from_str(&text).context("norn info did not print JSON")?;
        Info::read(&json).context("norn info lacks a field")
    }
}

/// The content of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Info {
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) threads: u64,
    /// The parts of the run that the trace lacks, in words; empty if none.
    pub(crate) losses: Vec<String>,
}

impl Info {
    fn read(json: &Value) -> Option<Info> {
        Some(Info {
            events: json["events"].as_u64()?,
            bytes: json["bytes"].as_u64()?,
            threads: size(&json["threads"])?,
            losses: losses(json),
        })
    }

    pub(crate) fn losses(&self) -> String {
        if self.losses.is_empty() { "none".to_owned() } else { self.losses.join(", ") }
    }
}

/// Fields that count losses, and their descriptions.
const LOSSES: [(&str, &str); 6] = [
    ("lost", "events lost"),
    ("late", "events of threads past their end"),
    ("unrecorded_processes", "processes too many"),
    ("unrecorded_threads", "threads too many"),
    ("damage", "damaged places"),
    ("stopped", "stopped early"),
];

fn losses(json: &Value) -> Vec<String> {
    let cut = (json["complete"] == false).then(|| "the recorder was killed".to_owned());
    let others = LOSSES.iter().filter_map(|&(field, words)| loss(&json[field], words));
    cut.into_iter().chain(others).collect()
}

fn loss(value: &Value, words: &str) -> Option<String> {
    match size(value) {
        Some(0) => None,
        Some(number) => Some(format!("{number} {words}")),
        None => Some(format!("{words}: {}", value.as_str()?)),
    }
}

/// A number, or the length of a list.
fn size(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| Some(value.as_array()?.len() as u64))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_path_is_absolute() {
        let norn = Norn::given(Some(Path::new("Cargo.toml"))).unwrap();
        assert!(norn.path.is_absolute(), "{norn:?}");
        assert!(Norn::given(Some(Path::new("missing"))).is_err());
    }

    #[test]
    fn losses_are_reported() {
        let json = json!({ "events": 10, "bytes": 30, "threads": [1, 2], "lost": 4, "damage": [] });
        let info = Info::read(&json).unwrap();
        assert_eq!((info.events, info.bytes, info.threads), (10, 30, 2));
        assert_eq!(info.losses(), "4 events lost");
        let json = json!({ "events": 10, "bytes": 30, "threads": 2, "stopped": "size" });
        assert_eq!(Info::read(&json).unwrap().losses(), "stopped early: size");
    }

    #[test]
    fn no_losses() {
        let json = json!({ "events": 10, "bytes": 30, "threads": 2, "lost": 0, "stopped": null });
        assert_eq!(Info::read(&json).unwrap().losses(), "none");
        assert_eq!(Info::read(&json!({ "events": 10 })), None);
    }
}
