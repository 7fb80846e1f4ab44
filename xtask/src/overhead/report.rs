//! The document: the goals first, then the underlying measurements.

use std::{collections::BTreeMap, fmt::Write as _, fs, process::Command, thread};

use super::{Cell, LIMIT, Row, bar, column::Column};
use crate::{
    norn::Info,
    process::{self, Usage},
    table::Table,
    unit, workspace,
};

const HEAD: &str = "# What recording costs

Written by `cargo xtask overhead`. All programs are compiled with `-O2 -g` and run two threads.
Each way of running a program takes turns with the others, and its fastest run counts. Times are
from start to end of the whole command, for a recorded run with the trace written. The output of
every run is compared with the native run's. Valgrind's tools get a smaller input, and are
compared with the native run on that input.

";

const COLUMNS: &str = "
- *idle*: compiled by `norn cc`, run without being recorded.
- *local*, *global*: `norn record --order local` and `--order global`; with values unless it says
  otherwise.
- *libtsan*: the compiler's own `-fsanitize=thread`, with its reports and its pause at the end
  switched off. *helgrind*, *drd*: valgrind's tools on the native program.
- CPU is user and system time of the command and the processes it waited for, and memory the peak
  of the largest of them. Less than the measuring process has itself cannot be seen.
";

pub(super) fn document(rows: &[Row], missing: &BTreeMap<Column, &str>, repeat: u32) -> String {
    let mut text = format!("{HEAD}{}\n## The bars\n\n{}", machine(repeat), bars(rows));
    let _ = write!(text, "\n## Time, as a multiple of native\n\n{}{COLUMNS}", ratios(rows));
    for (column, remedy) in missing {
        let _ = writeln!(text, "- *{}* is missing: {remedy}.", column.title());
    }
    let _ = write!(text, "\n## What the bars are made of\n\n{}", parts(rows));
    for row in rows {
        let [full, small] = &row.commands;
        let _ = write!(text, "\n## {}\n\n`{full}`, under valgrind `{small}`\n\n", row.workload);
        let _ = write!(text, "{}", details(row));
        text += &failures(row);
    }
    text
}

/// The machine of the measurement.
fn machine(repeat: u32) -> String {
    let count = thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!("- processors: {count} × {}\n", processor());
    for tool in ["gcc", "valgrind"] {
        let version = workspace::output(Command::new(tool).arg("--version")).unwrap_or_default();
        if let Some(line) = version.lines().next() {
            let _ = writeln!(text, "- {tool}: {line}");
        }
    }
    let _ = writeln!(text, "- runs of each: {repeat} (of valgrind's tools a third)");
    let _ = writeln!(text, "- limit of each run: {} s", LIMIT.as_secs());
    let (load, busy) = load();
    let note = if busy { BUSY } else { "" };
    let _ = writeln!(text, "- load of the machine, mean of the last 15 minutes: {load}{note}");
    text
}

/// The load of the machine, which the figures cannot show, and whether others were at work.
pub(super) fn load() -> (String, bool) {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').nth(2).unwrap_or("unknown");
    let own = thread::available_parallelism().map_or(1, usize::from);
    let own = u32::try_from(own).map_or(1.0, f64::from);
    let busy = load.parse::<f64>().is_ok_and(|load| load > own);
    (load.to_owned(), busy)
}

const BUSY: &str = ". **Others were at work**: times are too long, and threads that should run at
  once took turns, which spares the global order more than the local one. Measure again on a quiet
  machine.";

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(": ")).map(|(_, model)| model);
    model.unwrap_or("unknown").to_owned()
}

fn bars(rows: &[Row]) -> Table {
    let mut table = Table::new(["figure", "measured", "bar", "aim", "verdict"]);
    for bar in bar::bars(rows) {
        table.row(bar.cells());
    }
    table
}

fn ratios(rows: &[Row]) -> Table {
    let others = Column::ALL.into_iter().filter(|it| *it != it.base());
    let titles = others.clone().map(Column::title);
    let mut table = Table::new(["workload", "native"].into_iter().chain(titles));
    for row in rows {
        let native = row.wall(Column::Native).map_or("–".to_owned(), |it| format!("{it:.3} s"));
        let ratios = others.clone().map(|it| ratio(row, it));
        table.row([row.workload.to_owned(), native].into_iter().chain(ratios));
    }
    table
}

fn ratio(row: &Row, column: Column) -> String {
    match row.cells.get(&column) {
        None => "–".to_owned(),
        Some(Cell::Failed(_)) => "failed".to_owned(),
        Some(Cell::Measured { .. }) => figure(row.ratio(column, column.base()), 1),
    }
}

fn figure(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
}

fn parts(rows: &[Row]) -> Table {
    let times = ["workload", "time / libtsan", "CPU / libtsan", "no values: time", "CPU"];
    let others = ["saved of global", "bytes an event"];
    let mut table = Table::new(times.into_iter().chain(others));
    let cpu = |row: &Row, column| figure(row.cpu_ratio(column, Column::Libtsan), 2);
    for row in rows {
        table.row([
            row.workload.to_owned(),
            figure(row.to_libtsan(), 2),
            cpu(row, Column::Local),
            figure(row.bare_to_libtsan(), 2),
            cpu(row, Column::NoValues),
            figure(row.left_of_global().map(|left| 1.0 - left), 2),
            figure(row.bytes_an_event(), 2),
        ]);
    }
    table
}

fn details(row: &Row) -> Table {
    let measures = ["run", "time", "× native", "CPU", "memory"];
    let traces = ["events", "events/s", "trace", "bytes/event"];
    let mut table = Table::new(measures.into_iter().chain(traces));
    for (&column, cell) in &row.cells {
        match cell {
            Cell::Failed(_) => table.row([column.title(), "failed"]),
            Cell::Measured { usage, trace } => {
                let ratio = figure(row.ratio(column, column.base()), 1);
                let cells = usage_cells(column, usage, ratio);
                table.row(
                    cells.into_iter().chain(trace.iter().flat_map(|it| trace_cells(it, usage))),
                );
            }
        }
    }
    table
}

fn usage_cells(column: Column, usage: &Usage, ratio: String) -> [String; 5] {
    let title = column.title().to_owned();
    [title, unit::seconds(usage.wall), ratio, unit::seconds(usage.cpu), memory(usage.peak)]
}

/// A child starts with the memory of its parent, so a peak below ours is unknown.
fn memory(peak: u64) -> String {
    let ours = process::own_peak();
    if peak > ours { unit::bytes(peak) } else { format!("< {}", unit::bytes(ours)) }
}

fn trace_cells(trace: &Info, usage: &Usage) -> [String; 4] {
    let rate = unit::rate(trace.events, usage.wall);
    let each = format!("{:.2}", unit::each(trace.bytes, trace.events));
    [unit::count(trace.events), rate, unit::bytes(trace.bytes), each]
}

/// Failures, and losses of the traces.
fn failures(row: &Row) -> String {
    let mut text = String::new();
    for (column, cell) in &row.cells {
        let problem = match cell {
            Cell::Failed(why) => format!("failed: {why}"),
            Cell::Measured { trace: Some(trace), .. } if !trace.losses.is_empty() => trace.losses(),
            Cell::Measured { .. } => continue,
        };
        let _ = write!(text, "\n- **{}**: {problem}\n", column.title());
    }
    text
}
