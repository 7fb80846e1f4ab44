//! The document: one row per program, then the description of each.

use std::fmt::Write as _;

use anyhow::Result;

use super::{MAX_SIZE, Outcome, RUNS, Row};
use crate::{table::Table, unit};

const HEAD: &str = "# Real programs

Written by `cargo xtask realworld`. Each program comes from the distribution's source package and
is built by its own build system with `CC=\"norn cc\"` and `CXX=\"norn c++\"`. Three runs of the
same load: *native* is built without Norn, *idle* is built with Norn and not recorded, *recorded*
runs under `norn record`. Times are those of the load, one run each. Same results means: the same
answers, the same data at the end and the same exit status in all three.

";

pub(super) fn document(rows: &[(&str, Result<Row>)]) -> String {
    let head = ["program", "native", "idle", "recorded", "end", "same results"];
    let mut table = Table::new(head.into_iter().chain(["threads", "events", "trace", "losses"]));
    for (name, row) in rows {
        match row {
            Ok(row) => table.row(cells(row)),
            Err(_) => table.row([*name, "not built"]),
        }
    }
    let mut text = format!("{HEAD}{table}\nA trace may have up to {MAX_SIZE} bytes.\n");
    for (name, row) in rows {
        let _ = match row {
            Ok(row) => write!(text, "\n## {name}\n\n{}\n\n{}", row.story, results(row)),
            Err(error) => write!(text, "\n## {name}\n\n**Not built**: {error:#}\n"),
        };
    }
    text
}

fn cells(row: &Row) -> Vec<String> {
    let wall = |run: &Result<Outcome>| {
        run.as_ref().map_or("failed".to_owned(), |it| unit::seconds(it.wall))
    };
    let end = row.runs[2].as_ref().map_or("–".to_owned(), |it| it.end.to_string());
    let same = if row.same() { "yes" } else { "**no**" };
    let mut cells = vec![row.name.to_owned()];
    cells.extend(row.runs.iter().map(wall));
    cells.extend([end, same.to_owned()]);
    if let Ok(trace) = &row.trace {
        let (events, bytes) = (unit::count(trace.events), unit::bytes(trace.bytes));
        cells.extend([trace.threads.to_string(), events, bytes, trace.losses()]);
    }
    cells
}

/// The common results of all runs, or those of each if they differ.
fn results(row: &Row) -> String {
    let mut text = String::new();
    if let (true, Ok(native)) = (row.same(), &row.runs[0]) {
        let _ = writeln!(text, "Results: {}.", native.results);
    } else {
        for (name, run) in RUNS.iter().zip(&row.runs) {
            let _ = match run {
                Ok(run) => writeln!(text, "- {name}: {}, {}", run.end, run.results),
                Err(error) => writeln!(text, "- {name}: **failed**: {error:#}"),
            };
        }
    }
    if let Err(error) = &row.trace {
        let _ = writeln!(text, "\n**The trace cannot be read**: {error:#}");
    }
    text
}
