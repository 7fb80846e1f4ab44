//! A clip: everything that is needed to replay a run.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use norn_frontend::{Clock, Guide, Inputs, Launch, ModuleRef, PROGRAM, Plan, Timeouts};
use norn_model::{Consequence, OsText, Schedule, Until};
use norn_trace::{
    MemoryModel, Strategy,
    file::{self, MAX_CLIP},
};
use serde::{Deserialize, Serialize};

use crate::{Claim, ReplayError, path, source_lines::SourceLines};

/// The version of clips without a path.
const VERSION: u32 = 1;
/// The version of clips with a path.
const WITH_PATH: u32 = 2;
/// The version of clips with expired timeouts or inputs.
const WITH_TIMEOUTS: u32 = 3;
/// The version of clips with another memory model.
const WITH_MEMORY: u32 = 4;
/// The version of clips with a claim.
const WITH_CLAIM: u32 = 5;
/// The version of clips with the text of source lines; the newest that can be read.
const NEWEST: u32 = 6;

/// Everything that is needed to replay a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// Version of the format.
    pub norn: u32,
    /// The program and its arguments; none if the user names the program for each replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<OsText>,
    /// The working directory; the current one if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<OsText>,
    /// Environment variables to set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, OsText>,
    /// The process that the schedule is for, if the program has several, numbered from 0 in the
    /// order of their starts.
    #[serde(default, skip_serializing_if = "is_first")]
    pub process: u32,
    /// Patterns for the names of functions whose calls are events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// How the run was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Origin>,
    /// The time of the clocks at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The consequence of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Consequence>,
    /// What else the run shows, if it is a bug even without a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// The modules in which the schedule has points, by the labels that it uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modules: BTreeMap<String, ModuleRef>,
    /// What decides when the timeouts of waits expire.
    #[serde(default, skip_serializing_if = "Timeouts::is_default")]
    pub timeouts: Timeouts,
    /// Which stores atomic loads may return; the seed of the run chooses among them.
    #[serde(default, skip_serializing_if = "MemoryModel::is_default")]
    pub memory: MemoryModel,
    /// The inputs of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Inputs>,
    /// Which thread runs next, and up to where.
    pub schedule: Schedule,
    /// The expected events of each thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<path::Path>,
    /// The text of the source lines of points.
    #[serde(default, skip_serializing_if = "SourceLines::is_empty")]
    pub(crate) sources: SourceLines,
}

/// How a run was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The strategy that chose the threads.
    pub strategy: Strategy,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The only field that all versions have.
#[derive(Deserialize)]
struct Version {
    norn: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_first(process: &u32) -> bool {
    *process == 0
}

impl Clip {
    /// A clip with nothing but a command and a schedule.
    pub fn new(command: Vec<OsText>, schedule: Schedule) -> Clip {
        Clip {
            norn: VERSION,
            command,
            directory: None,
            environment: BTreeMap::new(),
            process: 0,
            functions: Vec::new(),
            found: None,
            clock: None,
            expect: None,
            claim: None,
            modules: BTreeMap::new(),
            timeouts: Timeouts::default(),
            memory: MemoryModel::default(),
            inputs: None,
            schedule,
            path: None,
            sources: SourceLines::new(),
        }
    }

    /// Sets the text of source lines, and the version: an older norn cannot read them.
    pub(crate) fn set_sources(&mut self, sources: SourceLines) {
        if !sources.is_empty() {
            self.norn = NEWEST;
        }
        self.sources = sources;
    }

    /// Whether it has the expected events of each thread.
    pub fn has_path(&self) -> bool {
        self.path.is_some()
    }

    /// Sets the path, and the version, because an older norn cannot read a path.
    pub(crate) fn set_path(&mut self, path: path::Path) {
        let timeouts = self.schedule.segments.iter().any(|it| it.until == Until::Timeout);
        let version = if timeouts { WITH_TIMEOUTS } else { WITH_PATH };
        (self.norn, self.path) = (self.norn.max(version), Some(path));
    }

    /// Lets timeouts expire only where the schedule says so.
    pub(crate) fn list_timeouts(&mut self) {
        self.norn = self.norn.max(WITH_TIMEOUTS);
        self.timeouts = Timeouts::Listed;
    }

    /// Sets the inputs, if they were recorded, and the version: an older norn cannot read inputs.
    pub(crate) fn set_inputs(&mut self, inputs: Option<Inputs>) {
        if inputs.is_some() {
            self.norn = self.norn.max(WITH_TIMEOUTS);
        }
        self.inputs = inputs;
    }

    /// Sets the memory model, and the version if it is not the usual one: an older norn does not know it.
    pub(crate) fn set_memory(&mut self, memory: MemoryModel) {
        if !memory.is_default() {
            self.norn = self.norn.max(WITH_MEMORY);
        }
        self.memory = memory;
    }

    /// Sets the claim, if there is one, and the version: an older norn cannot read a claim.
    pub fn set_claim(&mut self, claim: Option<Claim>) {
        if claim.is_some() {
            self.norn = self.norn.max(WITH_CLAIM);
        }
        self.claim = claim;
    }

    /// What a replay runs, with the other settings of `launch`.
    pub fn launch(&self, launch: Launch) -> Launch {
        Launch {
            command: self.command.iter().map(|it| it.0.clone()).collect(),
            directory: self.directory.clone().map(Into::into),
            environment: self.environment.iter().map(|(k, v)| (k.into(), v.0.clone())).collect(),
            functions: self.functions.clone(),
            stdin: self.inputs.as_ref().and_then(|it| it.stdin.clone()).map(|it| it.0),
            ..launch
        }
    }

    /// The plan that follows the clip, with the clocks and the seed of the run that it is from.
    pub fn plan(&self) -> Plan {
        let guide = Guide {
            schedule: self.schedule.clone(),
            modules: self.modules.clone(),
            inputs: self.inputs.clone(),
        };
        Plan {
            strategy: Strategy::Follow,
            process: self.process,
            timeouts: self.timeouts,
            memory: self.memory,
            seed: self.found.as_ref().map_or(0, |it| it.seed),
            clock: self.clock.unwrap_or_default(),
            guide: Some(Arc::new(guide)),
            ..Plan::default()
        }
    }

    /// Reads a clip.
    pub fn read(path: &Path) -> Result<Clip, ReplayError> {
        let text = file::read_regular(path, MAX_CLIP)
            .map_err(|source| ReplayError::ReadClip { path: path.to_owned(), source })?;
        let wrong = |source| ReplayError::NotAClip { path: path.to_owned(), source };
        let Version { norn } = serde_json::from_slice(&text).map_err(wrong)?;
        if norn > NEWEST {
            return Err(ReplayError::Newer { path: path.to_owned(), version: norn, known: NEWEST });
        }
        serde_json::from_slice(&text).map_err(wrong)
    }

    /// Replaces the program; it runs in the current folder. Whether it is the build that the clip
    /// was made from is determined by the content of its file.
    pub fn start(&mut self, command: Vec<OsText>) {
        self.command = command;
        self.directory = None;
        if let Some(program) = self.modules.get_mut(PROGRAM) {
            program.path = None;
        }
    }

    /// Writes the clip atomically. A link at the path is replaced, not followed.
    pub fn write(&self, path: &Path) -> Result<(), ReplayError> {
        let failed = |source| ReplayError::WriteClip { path: path.to_owned(), source };
        let text = self.text().map_err(|it| failed(it.into()))?;
        file::write(path, text.as_bytes()).map_err(failed)
    }

    /// The JSON text, with one line for each segment and for each input.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut rest = Clip { schedule: Schedule::default(), ..self.clone() };
        let calls = rest.inputs.as_mut().map(|it| std::mem::take(&mut it.calls));
        let text = serde_json::to_string_pretty(&rest)?;
        let text = fill(&text, "schedule", "  ", &self.schedule.segments)?;
        Ok(fill(&text, "calls", "    ", &calls.unwrap_or_default())? + "\n")
    }
}

/// Fills an empty list in a text, with an entry on each line.
fn fill(
    text: &str,
    name: &str,
    indent: &str,
    entries: &[impl Serialize],
) -> serde_json::Result<String> {
    let line = |it| serde_json::to_string(it).map(|it| format!("{indent}  {it}"));
    let lines = entries.iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let lines = format!("\"{name}\": [\n{}\n{indent}]", lines.join(",\n"));
    Ok(text.replace(&format!("\"{name}\": []"), &lines))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use norn_frontend::Call;
    use norn_model::{BugClass, ThreadName};
    use norn_trace::{Bytes, Got};

    use super::*;
    use crate::ClaimedEvent;

    const TEXT: &str = r#"{"norn": 1, "command": ["./prog"], "schedule": [
        {"thread": "T0", "until": {"before": "join"}},
        {"thread": "T0.1", "until": "end"}]}"#;

    fn write(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("clip.json");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_written_clip_reads_back_unchanged() {
        let (_folder, path) = write(TEXT);
        let mut clip = Clip::read(&path).unwrap();
        assert_eq!(clip.schedule.segments.len(), 2);
        clip.clock = Some(Clock { realtime: 1, monotonic: 2 });
        clip.found = Some(Origin { strategy: Strategy::RoundRobin, seed: 3 });
        clip.list_timeouts();
        clip.expect = Some(Consequence::Assertion("x > 0".to_owned()));
        let event = |thread: &str, at: &str| ClaimedEvent {
            thread: ThreadName(thread.to_owned()),
            at: at.parse().unwrap(),
        };
        clip.set_claim(Some(Claim {
            class: BugClass::Race,
            title: "data race on `x`".to_owned(),
            adjacent: true,
            events: vec![event("T0", "read a.c:3 in get x2"), event("T0.1", "write a.c:7")],
        }));
        clip.modules.insert(PROGRAM.to_owned(), ModuleRef { path: None, build: Some("ab".into()) });
        clip.write(&path).unwrap();
        assert_eq!(Clip::read(&path).unwrap(), clip);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\n    {\"thread\":\"T0.1\",\"until\":\"end\"}\n  ]\n}\n"), "{text}");
    }

    #[test]
    fn each_input_has_a_line() {
        let (_folder, path) = write(TEXT);
        let mut clip = Clip::read(&path).unwrap();
        let call = |text: &str| Call {
            thread: ThreadName("T0.1".to_owned()),
            got: Got { result: 5, bytes: Bytes(text.into()), ..Got::default() },
        };
        let calls = vec![call("hello"), call("\"calls\": []")];
        clip.set_inputs(Some(Inputs { stdin: Some(Bytes(b"\0".to_vec())), calls }));
        clip.write(&path).unwrap();
        assert_eq!(Clip::read(&path).unwrap(), clip);
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|it| it.starts_with("      {\"thread\":\"T0.1\""));
        assert_eq!(lines.count(), 2, "{text}");
        clip.set_inputs(Some(Inputs::default()));
        clip.write(&path).unwrap();
        assert_eq!(Clip::read(&path).unwrap(), clip);
    }

    #[test]
    fn errors_of_invalid_clips_name_the_cause() {
        let error = |text| Clip::read(&write(text).1).unwrap_err().to_string();
        assert!(error("{}").contains("missing field `norn`"));
        assert!(error(r#"{"norn": 7}"#).contains("version 7"));
        assert!(error(r#"{"norn": 1, "command": [], "shedule": []}"#).contains("shedule"));
        assert!(Clip::read(Path::new("/nowhere")).unwrap_err().to_string().contains("cannot read"));
    }
}
