//! Measures the cost of recording Rust programs, in comparison with the sanitizer of rustc.

use std::fmt::Write as _;

use super::{Row, column::Column, report};
use crate::{statistics::geometric_mean, table::Table, unit};

/// The modes that are compared.
pub(super) const COLUMNS: [Column; 5] =
    [Column::Native, Column::Idle, Column::Local, Column::NoValues, Column::Libtsan];

/// The document that has the table, and the line before it.
pub(super) const DOCUMENT: &str = "docs/rust.md";
pub(super) const BEGIN: &str = "<!-- written by cargo xtask overhead --rust -->\n";

/// The share of the sanitizer's time that a recorded run may take, and the one that is aimed at.
const BAR: f64 = 0.8;
const AIM: f64 = 0.5;

/// The table and the bar.
pub(super) fn section(rows: &[Row], repeat: u32) -> String {
    let mut table = Table::new([
        "workload",
        "native",
        "not recorded",
        "recorded",
        "recorded, no values",
        "sanitizer",
        "recorded / sanitizer",
        "no values / sanitizer",
        "CPU, recorded / sanitizer",
        "CPU, no values / sanitizer",
    ]);
    for row in rows {
        let wall = row.wall(Column::Native).map(std::time::Duration::from_secs_f64);
        let ratio = |column| number(row.ratio(column, Column::Native));
        table.row([
            row.workload.to_owned(),
            wall.map_or_else(|| "–".to_owned(), unit::seconds),
            ratio(Column::Idle),
            ratio(Column::Local),
            ratio(Column::NoValues),
            ratio(Column::Libtsan),
            number(row.to_libtsan()),
            number(row.bare_to_libtsan()),
            number(row.cpu_ratio(Column::Local, Column::Libtsan)),
            number(row.cpu_ratio(Column::NoValues, Column::Libtsan)),
        ]);
    }
    let mean = |figure: fn(&Row) -> Option<f64>| {
        geometric_mean(&rows.iter().map(figure).collect::<Option<Vec<_>>>()?)
    };
    let (_, busy) = report::load();
    let mut text = format!(
        "\nTimes of whole commands, as multiples of the native one; the best of {repeat} runs counts, and all modes \
         take turns.\nCPU is the processor time of the same runs. Where others are at work, only that can be compared: a \
         recorded run\nhas a process more than the others to compete with, and gets more of the processors.\n\n{table}\n"
    );
    bar(&mut text, "time / sanitizer's, with values", mean(Row::to_libtsan), busy);
    bar(&mut text, "time / sanitizer's, without values", mean(Row::bare_to_libtsan), busy);
    let cpu = |row: &Row| row.cpu_ratio(Column::Local, Column::Libtsan);
    bar(&mut text, "processor time / sanitizer's, with values", mean(cpu), false);
    let cpu = |row: &Row| row.cpu_ratio(Column::NoValues, Column::Libtsan);
    bar(&mut text, "processor time / sanitizer's, without values", mean(cpu), false);
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}"))
}

/// `busy`: others were at work, and the figure says nothing.
fn bar(text: &mut String, what: &str, measured: Option<f64>, busy: bool) {
    let verdict = match measured {
        None => "not measured",
        Some(_) if busy => "not judged, others were at work",
        Some(it) if it <= AIM => "met, and the aim",
        Some(it) if it <= BAR => "met",
        Some(_) => "**missed**",
    };
    let measured = number(measured);
    let _ = writeln!(
        text,
        "- {what}, geometric mean: {measured} (at most {BAR}, aim {AIM}): {verdict}"
    );
}
