//! The document.

use std::{fmt::Write as _, process::Command, thread};

use super::{Cell, Row};
use crate::{table::Table, workspace};

const HEAD: &str = "# Whether forced schedules hold

Written by `cargo xtask schedules`. The subjects are in `subjects/control`; each has a schedule by
which it fails as it announces, one by which it does not fail, and a fixed twin.

- *fail*, *pass*: runs of the schedule that were followed, came out as announced, and were the same:
  both outputs and all events in their order, with threads, places, addresses and values.
- *twin*: failures of the twin under all strategies, in equal parts, each run with another seed.
- *loaded*: the same while two busy processes for each processor run.

";

pub(super) fn document(rows: &[Row], runs: u64) -> String {
    let mut text = format!("{HEAD}{}\n{}", machine(runs), table(rows, runs));
    let notes: Vec<_> = rows.iter().flat_map(notes).collect();
    if notes.is_empty() {
        text += "\nAll runs were as announced.\n";
        return text;
    }
    text += "\n## What was not as announced\n\n";
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

/// The machine of the measurement.
fn machine(runs: u64) -> String {
    let count = thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!("- processors: {count}\n");
    for tool in ["gcc", "clang-14"] {
        let version = workspace::output(Command::new(tool).arg("--version")).unwrap_or_default();
        if let Some(line) = version.lines().next() {
            let _ = writeln!(text, "- {tool}: {line}");
        }
    }
    let _ = writeln!(text, "- runs of each schedule, and of each twin: {runs}");
    text
}

fn table(rows: &[Row], runs: u64) -> Table {
    let loaded = rows.iter().any(|it| it.cells.len() > 1);
    let head = ["subject", "build", "fail", "pass", "twin"].into_iter();
    let more = ["fail, loaded", "pass, loaded", "twin, loaded"].into_iter().filter(|_| loaded);
    let mut table = Table::new(head.chain(more));
    for row in rows {
        let cells = row.cells.iter().flat_map(|it| figures(it, runs));
        table.row([row.subject.clone(), row.build.clone()].into_iter().chain(cells));
    }
    table
}

fn figures(cell: &Cell, runs: u64) -> [String; 3] {
    let figure = |count: u64, right: u64| {
        let text = format!("{count}/{runs}");
        if count == right { text } else { format!("**{text}**") }
    };
    [figure(cell.fails, runs), figure(cell.passes, runs), figure(cell.twin, 0)]
}

fn notes(row: &Row) -> impl Iterator<Item = String> {
    let cells = ["", ", loaded"].into_iter().zip(&row.cells);
    cells.flat_map(move |(when, cell)| {
        let (subject, build) = (&row.subject, &row.build);
        cell.notes.iter().map(move |note| format!("{subject}, {build}{when}: {note}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_highlighted() {
        let wrong = Cell { fails: 9, passes: 10, twin: 1, notes: vec!["fail: odd".to_owned()] };
        let right = Cell { fails: 10, passes: 10, ..Cell::default() };
        let cells = vec![right, wrong];
        let row = Row { subject: "queue".to_owned(), build: "gcc -O0".to_owned(), cells };
        let text = document(&[row], 10);
        let line = "| queue   | gcc -O0 | 10/10 | 10/10 | 0/10 |     **9/10** |        10/10 |";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("- queue, gcc -O0, loaded: fail: odd\n"), "{text}");
    }
}
