//! Measures the cost of recording Rust programs, in comparison with the sanitizer of rustc.

use std::fmt::Write as _;

use super::{Row, column::Column};
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
        ]);
    }
    let mean = |figure: fn(&Row) -> Option<f64>| {
        geometric_mean(&rows.iter().map(figure).collect::<Option<Vec<_>>>()?)
    };
    let mut text = format!(
        "\nTimes of whole commands, as multiples of the native one; the best of {repeat} runs counts, and all modes \
         take turns.\n\n{table}\n"
    );
    bar(&mut text, "with values", mean(Row::to_libtsan));
    bar(&mut text, "without values", mean(Row::bare_to_libtsan));
    text
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}"))
}

fn bar(text: &mut String, what: &str, measured: Option<f64>) {
    let verdict = match measured {
        None => "not measured",
        Some(it) if it <= AIM => "met, and the aim",
        Some(it) if it <= BAR => "met",
        Some(_) => "**missed**",
    };
    let measured = number(measured);
    let _ = writeln!(
        text,
        "- time / sanitizer's, {what}, geometric mean: {measured} (at most {BAR}, aim {AIM}): {verdict}"
    );
}
