//! The results so far, on disk: a campaign takes longer than some machines are free, and `--resume` goes on with it.
//!
//! One line of JSON for each finished cell, with the version of norn and everything else that decides about it. A line that
//! was cut off, or that belongs to another campaign, is ignored.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::Command,
};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::Cell;
use crate::{norn::Norn, workspace};

/// What a cell belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) subject: String,
    pub(super) build: String,
    pub(super) when: String,
    pub(super) runs: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// What `norn --version` prints: its commit and the hash of its runtime.
    norn: String,
    key: Key,
    cell: Cell,
}

/// The journal of a campaign.
#[derive(Debug)]
pub(super) struct Journal {
    norn: String,
    lines: Vec<Line>,
    file: File,
}

impl Journal {
    /// Opens the journal, with the earlier results of this version of norn if the campaign goes on.
    pub(super) fn open(norn: &Norn, resume: bool) -> Result<Journal> {
        let version = workspace::output(Command::new(&norn.path).arg("--version"))?;
        let path = path();
        fs::create_dir_all(workspace::target().join("schedules"))?;
        let text =
            if resume { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let lines = read(&text, &version);
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        if !resume {
            file.set_len(0)?;
        }
        Ok(Journal { norn: version, lines, file })
    }

    /// The cell, if it is known.
    pub(super) fn take(&mut self, key: &Key) -> Option<Cell> {
        let at = self.lines.iter().position(|it| it.key == *key)?;
        Some(self.lines.swap_remove(at).cell)
    }

    /// Writes a finished cell.
    pub(super) fn put(&mut self, key: Key, cell: Cell) -> Result<Cell> {
        let line = Line { norn: self.norn.clone(), key, cell };
        // A line break first ends a line that was cut off.
        write!(self.file, "\n{}", serde_json::to_string(&line)?)?;
        Ok(line.cell)
    }
}

fn path() -> PathBuf {
    workspace::target().join("schedules/results.jsonl")
}

fn read(text: &str, version: &str) -> Vec<Line> {
    let lines = text.lines().filter_map(|it| serde_json::from_str(it).ok());
    lines.filter(|it: &Line| it.norn == version).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_versions_and_cut_lines_are_ignored() {
        let key = |subject: &str| Key {
            subject: subject.to_owned(),
            build: "gcc -O0".to_owned(),
            when: "idle".to_owned(),
            runs: 10,
        };
        let line = |norn: &str, subject: &str| {
            let cell = Cell { fails: 10, passes: 9, ..Cell::default() };
            let line = Line { norn: norn.to_owned(), key: key(subject), cell };
            serde_json::to_string(&line).unwrap()
        };
        let cut = line("1", "cut");
        let text = [&line("1", "aba"), &cut[..20], &line("0", "mixed")].join("\n");
        let read = read(&text, "1");
        assert_eq!(read.len(), 1);
        assert_eq!((&read[0].key, read[0].cell.passes), (&key("aba"), 9));
    }
}
