//! The lines of source files that the page shows.
//!
//! They are part of the page, because the files may be elsewhere when it is read, or have changed.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{Location, printable};
use serde::Serialize;

use crate::{
    Report,
    writer::{SourceFiles, entry::entries},
};

/// Lines that are shown before and after each line that an event is at.
const AROUND: u32 = 8;
/// Maximum length of a line in characters.
const LONGEST: usize = 400;
/// Maximum size of all lines in bytes.
const MAX_BYTES: usize = 8 << 20;

/// A file, with the parts that are shown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SourceFile {
    name: String,
    /// Why there are no parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
    /// The first line of each part, and its lines.
    parts: Vec<(u32, Vec<String>)>,
}

/// All files.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Vec<SourceFile>,
    /// The numbers of the files, by their printable names.
    numbers: BTreeMap<String, usize>,
}

impl Sources {
    /// Reads the lines that a report mentions.
    pub(super) fn new(report: &Report, files: &dyn SourceFiles) -> Sources {
        let mut wanted: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for location in locations(report) {
            if let (Some(file), Some(line)) = (&location.file, location.line) {
                wanted.entry(file).or_default().insert(line);
            }
        }
        let mut sources = Sources::default();
        let mut room = MAX_BYTES;
        for (file, lines) in wanted {
            let text = files.read(file);
            let found = match &text {
                Ok(text) => parts(text, &lines, &mut room),
                Err(why) => Err(why.clone()),
            };
            let name = printable(file).into_owned();
            let (parts, missing) =
                found.map_or_else(|why| (Vec::new(), Some(why)), |it| (it, None));
            let missing = missing.map(|it| printable(&it).into_owned());
            sources.numbers.insert(name.clone(), sources.files.len());
            sources.files.push(SourceFile { name, missing, parts });
        }
        sources
    }

    /// The number of a location's file, and the line.
    pub(super) fn place(&self, at: Option<&Location>) -> (Option<usize>, Option<u32>) {
        let file = at.and_then(|it| it.file.as_ref()).and_then(|it| self.numbers.get(it)).copied();
        (file, at.and_then(|it| it.line).filter(|_| file.is_some()))
    }

    pub(super) fn files(&self) -> Vec<SourceFile> {
        self.files.clone()
    }
}

/// The places of all events that the page shows.
fn locations(report: &Report) -> Vec<&Location> {
    let undecided = report.findings.iter().flat_map(|it| &it.accesses);
    let mut all: Vec<_> = undecided.filter_map(|it| it.stack.first()).collect();
    for entry in entries(report) {
        let (forced, recorded) = entry.orders();
        all.extend(forced.iter().chain(recorded).filter_map(|it| it.at.as_ref()));
        all.extend(entry.stacks().into_iter().filter_map(|it| it.1.first()));
    }
    all
}

/// The parts of a text around some lines.
fn parts(
    text: &str,
    lines: &BTreeSet<u32>,
    room: &mut usize,
) -> Result<Vec<(u32, Vec<String>)>, String> {
    let mut parts: Vec<(u32, Vec<String>)> = Vec::new();
    for (number, line) in (1u32..).zip(text.lines()) {
        let near = lines.range(number.saturating_sub(AROUND)..=number + AROUND).next().is_some();
        if !near {
            continue;
        }
        let line: String = line.replace('\t', "    ").chars().take(LONGEST).collect();
        let line = printable(&line).into_owned();
        *room = room.checked_sub(line.len() + 1).ok_or("the report would be too large")?;
        match parts.last_mut() {
            Some((start, part)) if *start as usize + part.len() == number as usize => {
                part.push(line);
            }
            _ => parts.push((number, vec![line])),
        }
    }
    let last = lines.last().copied().unwrap_or(0) as usize;
    if parts.is_empty() || text.lines().count() < last {
        return Err("it has changed since the program was built".to_owned());
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_near_events_are_taken() {
        let text: String = (1..=100).map(|it| format!("line {it}")).collect::<Vec<_>>().join("\n");
        let parts = parts(&text, &[5, 12, 90].into(), &mut 10_000).unwrap();
        let spans: Vec<_> = parts.iter().map(|it| (it.0, it.1.len())).collect();
        assert_eq!(spans, [(1, 20), (82, 17)]);
        assert_eq!(parts[1].1[8], "line 90");
    }

    #[test]
    fn files_that_do_not_fit_are_missing() {
        let why = |text: &str, room: usize| parts(text, &[3].into(), &mut { room }).unwrap_err();
        assert_eq!(why("one\ntwo\n", 99), "it has changed since the program was built");
        assert_eq!(why("one\ntwo\nthree\n", 5), "the report would be too large");
    }
}
