//! Reports for code-scanning services: SARIF 2.1.0.
//!
//! Each bug, each failure that was not predicted and each kind of harmless finding is one result. Its code
//! flows are the order that makes it happen and the recorded one, with a thread flow for each thread;
//! `executionOrder` numbers the events of all threads. The primary location is the first access.
//!
//! The limits are those of GitHub code scanning, the smallest of the common services: what exceeds them
//! would be rejected or silently dropped there. What is left out is noted in the file.

mod flow;
mod location;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, io};

use serde_json::{Value, json};

use self::location::Locations;
use super::{
    Layout, Writer,
    entry::{Entry, Severity, Subject, entries},
    json::escape,
};
use crate::{ExitMeaning, Report, Status, vocabulary};

/// Results of which a service shows all.
const MAX_RESULTS: usize = 5_000;
/// Bytes of all code flows. A file of this size is compressed to far less than the 10 MB that are accepted.
const MAX_FLOW_BYTES: usize = 32 << 20;

/// Writes a report as SARIF.
#[derive(Clone, Copy, Debug)]
pub struct Sarif {
    layout: Layout,
}

impl Sarif {
    /// A writer for this layout.
    pub fn new(layout: Layout) -> Sarif {
        Sarif { layout }
    }
}

impl Writer for Sarif {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let text = serde_json::to_string(&log(report, self.layout))?;
        writeln!(out, "{}", escape(&text))?;
        out.flush()
    }
}

fn log(report: &Report, layout: Layout) -> Value {
    let locations = Locations::new(layout.sources.root());
    let entries = entries(report);
    let (results, notes) = results(&entries, report, &locations);
    let mut run = json!({
        "tool": { "driver": {
            "name": report.tool.name,
            "version": report.tool.version,
            "rules": rules(&entries),
        } },
        "invocations": [{
            "executionSuccessful": report.exit.meaning != ExitMeaning::Error,
            "exitCode": report.exit.code,
            "toolExecutionNotifications": notes,
        }],
        "columnKind": "utf16CodeUnits",
        "results": results,
    });
    if let Some(root) = locations.root_uri() {
        run["originalUriBaseIds"] = json!({ location::ROOT: { "uri": root } });
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

/// The classes of the results, each once.
fn rules(entries: &[Entry<'_>]) -> Vec<Value> {
    let rules: BTreeMap<_, _> = entries.iter().map(Entry::rule).collect();
    let rule = |(id, title): (&str, &str)| {
        json!({
            "id": id,
            "name": camel_case(title),
            "shortDescription": { "text": title },
            "help": { "text": format!("`norn explain {id}` explains it.") },
            "defaultConfiguration": { "level": "error" },
            "properties": { "tags": ["concurrency", "correctness"], "precision": "very-high" },
        })
    };
    rules.into_iter().map(rule).collect()
}

/// `data race` as an identifier: `DataRace`.
fn camel_case(title: &str) -> String {
    let words = title.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    words.map(|it| it[..1].to_uppercase() + &it[1..]).collect()
}

/// The results, and notes about what was left out.
fn results(
    entries: &[Entry<'_>],
    report: &Report,
    locations: &Locations,
) -> (Vec<Value>, Vec<Value>) {
    let mut notes: Vec<_> = report.notes.iter().map(|it| note(&vocabulary::note(it))).collect();
    if entries.len() > MAX_RESULTS {
        let more = entries.len() - MAX_RESULTS;
        notes.push(note(&format!("{more} more results are left out")));
    }
    let mut fingerprints = BTreeMap::new();
    let (mut bytes, mut bare) = (0, 0);
    let mut results = Vec::new();
    for entry in entries.iter().take(MAX_RESULTS) {
        let mut result = result(entry, locations);
        if !entry.fingerprint().is_empty() {
            // Bugs in the same functions are told apart by their order.
            let number = fingerprints.entry(entry.fingerprint()).and_modify(|it| *it += 1);
            let id = format!("{}:{}", entry.fingerprint(), number.or_insert(1));
            result["partialFingerprints"] =
                json!({ "nornBug/v1": id, "primaryLocationLineHash": id });
        }
        let flows = flow::code_flows(entry, locations);
        bytes += flows.iter().map(|it| it.to_string().len()).sum::<usize>();
        if bytes > MAX_FLOW_BYTES {
            bare += 1;
        } else if !flows.is_empty() {
            result["codeFlows"] = flows.into();
        }
        results.push(result);
    }
    if bare > 0 {
        notes
            .push(note(&format!("{bare} results have no code flows: the file would be too large")));
    }
    (results, notes)
}

fn note(text: &str) -> Value {
    json!({ "level": "note", "message": { "text": text } })
}

fn result(entry: &Entry<'_>, locations: &Locations) -> Value {
    let replay = entry.replay().join(" ");
    let reproduce = Some(format!("reproduce: {replay}")).filter(|_| !replay.is_empty());
    let fix = entry.fix().map(|it| format!("possible fix: {}", vocabulary::fix(it)));
    let message = [entry.headline.clone()].into_iter().chain(reproduce).chain(fix);
    let message: Vec<_> = message.collect();
    let stacks = entry.stacks();
    let related =
        stacks.iter().filter_map(|(text, frames)| locations.location(frames.first()?, Some(text)));
    let related = unique(related);
    let stacks = unique(stacks.iter().map(|(text, frames)| locations.stack(text, frames)));
    let mut result = json!({
        "ruleId": entry.rule().0,
        "level": level(entry),
        "message": { "text": message.join("\n") },
        "stacks": stacks,
        "relatedLocations": related,
        "properties": properties(entry),
    });
    if let Some(location) = entry.location().and_then(|it| locations.location(it, None)) {
        result["locations"] = json!([location]);
    }
    if entry.times > 1 {
        result["occurrenceCount"] = entry.times.into();
    }
    result
}

/// The standard allows nothing twice: two threads may do the same at the same place.
fn unique(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

fn level(entry: &Entry<'_>) -> &'static str {
    match entry.severity {
        Severity::Harmful => "error",
        Severity::Unreproducible => "warning",
        Severity::Harmless | Severity::Undecided => "note",
    }
}

/// What has no place in the standard.
fn properties(entry: &Entry<'_>) -> Value {
    let (status, bug) = match entry.subject {
        Subject::Finding(it, _) => (vocabulary::status(it.status), it.bug),
        Subject::Failure(_) | Subject::Run(_) | Subject::Cluster(_) => {
            (vocabulary::status(Status::Observed), None)
        }
    };
    let consequence = entry.consequence().map(vocabulary::consequence);
    let why = entry.not_reproduced().map(vocabulary::not_reproduced);
    let all = json!({
        "bug": bug,
        "status": status,
        "consequence": consequence,
        "replay": Some(entry.replay()).filter(|it| !it.is_empty()),
        "notReproduced": why,
        "possibleFix": entry.fix().map(vocabulary::fix),
        "possibleFixNotes": entry.fix().map(vocabulary::fix_notes),
    });
    let known = all.as_object().into_iter().flatten().filter(|it| !it.1.is_null());
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}
