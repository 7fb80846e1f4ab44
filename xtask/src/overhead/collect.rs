//! Measures the cost of collecting interleaving patterns while a program runs, in comparison with full
//! recording and with the compiler's own thread sanitizer.

use std::fmt::Write as _;

use super::{Row, column::Column};
use crate::{statistics::geometric_mean, table::Table, unit};

/// The modes that are compared.
pub(super) const COLUMNS: [Column; 5] =
    [Column::Native, Column::Idle, Column::Collect, Column::NoValues, Column::Libtsan];

/// The document that has the table, and the lines around it.
pub(super) const DOCUMENT: &str = "docs/localize.md";
pub(super) const BEGIN: &str = "<!-- written by cargo xtask overhead --collect -->\n";

/// The share of the overhead of recording that collection may have.
const SHARE: f64 = 0.6;
/// The paper's slowdown.
const MEDIAN: f64 = 2.6;

/// The table and the bars.
pub(super) fn section(rows: &[Row], repeat: u32) -> String {
    let mut table = Table::new([
        "workload",
        "native",
        "not recorded",
        "collecting",
        "recording, no values",
        "libtsan",
        "overhead of collecting / recording",
    ]);
    for row in rows {
        let seconds = row.cpu(Column::Native).map(std::time::Duration::from_secs_f64);
        let ratio = |column| number(row.cpu_ratio(column, Column::Native));
        table.row([
            row.workload.to_owned(),
            seconds.map_or_else(|| "–".to_owned(), unit::seconds),
            ratio(Column::Idle),
            ratio(Column::Collect),
            ratio(Column::NoValues),
            ratio(Column::Libtsan),
            number(row.left_of_recording()),
        ]);
    }
    let all = |figure: fn(&Row) -> Option<f64>| rows.iter().map(figure).collect::<Option<Vec<_>>>();
    let mean = all(Row::left_of_recording).and_then(|it| geometric_mean(&it));
    let worst = all(|it| it.cpu_ratio(Column::Collect, Column::NoValues));
    let worst = worst.and_then(|it| it.into_iter().reduce(f64::max));
    let median = all(|it| it.cpu_ratio(Column::Collect, Column::Native)).and_then(median);
    let mut text = format!(
        "\nProcessor time as multiples of the native one, which other load of the machine changes less than real time; \
         the best of {repeat} runs counts, and all modes take turns.\n\n{table}\n"
    );
    bar(&mut text, "time of collecting / recording, worst workload", worst, 1.0);
    bar(&mut text, "overhead of collecting / recording, geometric mean", mean, SHARE);
    bar(&mut text, "time of collecting / native, median (aim)", median, MEDIAN);
    text
}

impl Row {
    /// The fraction of the overhead of recording that collecting has. Values below a hundredth are
    /// noise, and are rounded up to a hundredth.
    fn left_of_recording(&self) -> Option<f64> {
        let native = self.cpu(Column::Native)?;
        let collecting = self.cpu(Column::Collect)? - native;
        let recording = self.cpu(Column::NoValues)? - native;
        Some(if recording > 0.0 { (collecting / recording).max(0.01) } else { 1.0 })
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}"))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => Some((values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0),
        _ => values.get(middle).copied(),
    }
}

fn bar(text: &mut String, what: &str, measured: Option<f64>, most: f64) {
    let verdict = match measured {
        None => "not measured",
        Some(it) if it <= most => "met",
        Some(_) => "**missed**",
    };
    let _ = writeln!(text, "- {what}: {} (at most {most}): {verdict}", number(measured));
}
