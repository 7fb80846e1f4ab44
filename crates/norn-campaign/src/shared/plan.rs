//! The form of an execution in a store: everything that decides what the program does, and nothing of the
//! process that asks for it.

use std::{fmt::Write as _, time::Duration};

use norn_frontend::{Launch, Plan};
use norn_model::{Order, OsText};
use norn_trace::Bytes;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::CampaignError;

/// What decides an execution.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecutionPlan {
    command: Vec<OsText>,
    directory: OsText,
    environment: Vec<(OsText, OsText)>,
    order: Order,
    values: bool,
    max_size: u64,
    version: String,
    plan: Option<Plan>,
    functions: Vec<String>,
    timeout: Option<Duration>,
    apart: bool,
    keep_inputs: bool,
    stdin: Option<Bytes>,
    /// How often the hunt has asked for the same before. A replay that confirms an execution must not be
    /// that execution.
    pub(super) repetition: u64,
}

impl ExecutionPlan {
    /// The plan of a launch. None if it is not for others: in a debugger, or with patterns that the
    /// runtime collects.
    pub(super) fn of(launch: &Launch) -> Option<ExecutionPlan> {
        if launch.collect.is_some() || !launch.debugger.is_empty() {
            return None;
        }
        let text = |(name, value): &(_, _)| (OsText::from(name), OsText::from(value));
        // Traces name the files of the program, so it must be in the same folder everywhere.
        let here = std::env::current_dir().unwrap_or_default();
        let directory = launch.directory.as_ref().map_or_else(|| here.clone(), |it| here.join(it));
        Some(ExecutionPlan {
            command: launch.command.iter().map(Into::into).collect(),
            directory: directory.into(),
            environment: launch.environment.iter().map(text).collect(),
            order: launch.order,
            values: launch.values,
            max_size: launch.max_size,
            version: launch.version.clone(),
            plan: launch.plan.clone(),
            functions: launch.functions.clone(),
            timeout: launch.timeout,
            apart: launch.apart,
            keep_inputs: launch.keep_inputs,
            stdin: launch.stdin.clone().map(Bytes),
            repetition: 0,
        })
    }

    /// The form in a store, and the number of the execution: a hash of it.
    pub(super) fn text(&self) -> Result<(String, String), CampaignError> {
        let text = serde_json::to_string(self)?;
        let hash = Sha256::digest(&text);
        let id = hash.iter().fold(String::new(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        });
        Ok((id, text))
    }

    pub(super) fn parse(text: &str) -> Result<ExecutionPlan, CampaignError> {
        Ok(serde_json::from_str(text)?)
    }

    /// The launch that makes the execution, with what the plan leaves open from `launch`.
    pub(super) fn launch(self, launch: Launch) -> Launch {
        Launch {
            command: self.command.into_iter().map(|it| it.0).collect(),
            directory: Some(self.directory.into()),
            environment: self.environment.into_iter().map(|(k, v)| (k.0, v.0)).collect(),
            order: self.order,
            values: self.values,
            max_size: self.max_size,
            version: self.version,
            plan: self.plan,
            functions: self.functions,
            timeout: self.timeout,
            apart: self.apart,
            keep_inputs: self.keep_inputs,
            stdin: self.stdin.map(|it| it.0),
            ..launch
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use norn_frontend::Streams;
    use norn_trace::Strategy;

    use super::*;

    fn launch(output: &str, seed: u64) -> Launch {
        let plan = Plan { strategy: Strategy::Pct, seed, ..Plan::default() };
        Launch {
            command: vec!["./prog".into(), "a".into()],
            output: PathBuf::from(output),
            plan: Some(plan),
            environment: vec![("A".into(), "b".into())],
            timeout: Some(Duration::from_millis(1500)),
            stdin: Some(vec![0, 255]),
            ..Launch::default()
        }
    }

    #[test]
    fn a_plan_does_not_depend_on_where_its_files_are() {
        let text = |it: &Launch| ExecutionPlan::of(it).unwrap().text().unwrap();
        let files = Streams::Files { stdout: "x".into(), stderr: "y".into() };
        let one = launch("here", 1);
        assert_eq!(text(&one), text(&Launch { streams: files, ..launch("there", 1) }));
        assert_ne!(text(&one).0, text(&launch("here", 2)).0);
        let again = ExecutionPlan { repetition: 1, ..ExecutionPlan::of(&one).unwrap() };
        assert_ne!(text(&one).0, again.text().unwrap().0);
    }

    #[test]
    fn a_plan_is_the_same_after_the_store() {
        let (id, text) = ExecutionPlan::of(&launch("here", 1)).unwrap().text().unwrap();
        let read = ExecutionPlan::parse(&text).unwrap().launch(Launch::default());
        assert_eq!(ExecutionPlan::of(&read).unwrap().text().unwrap(), (id, text));
    }
}
