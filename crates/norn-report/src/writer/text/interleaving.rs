//! The recorded order of the events that matter, and beside it the forced one.

use std::io::{self, Write};

use super::columns::{self, Line, Room};
use crate::{EventRow, Interleaving, writer::Layout};

/// What is between the two orders.
const BETWEEN: &str = "   ";

/// Side by side where there is room, else one below the other. The candidate's events are numbered.
pub(super) fn interleaving(
    out: &mut dyn Write,
    interleaving: &Interleaving,
    layout: Layout,
) -> io::Result<()> {
    writeln!(out)?;
    for line in lines(interleaving, layout) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

/// One order alone.
pub(super) fn order(
    out: &mut dyn Write,
    title: &str,
    rows: &[EventRow],
    layout: Layout,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for line in block(title, rows, layout) {
        writeln!(out, "  {}", line.text)?;
    }
    writeln!(out)
}

fn lines(interleaving: &Interleaving, layout: Layout) -> Vec<String> {
    let width = layout.width.saturating_sub(2);
    let recorded = block("recorded", &interleaving.recorded, layout);
    let forced = block("forced", &interleaving.forced, layout);
    let [left, right] = [&recorded, &forced].map(|it| width_of(it));
    if left + BETWEEN.len() + right > width {
        return recorded.into_iter().chain(forced).map(|it| it.text).collect();
    }
    let rows = recorded.len().max(forced.len());
    let both = |at: usize| {
        let (one, used) = recorded.get(at).map_or(("", 0), |it| (&it.text, it.width));
        let other = forced.get(at).map_or("", |it| &it.text);
        let gap = " ".repeat(left - used);
        format!("{one}{gap}{BETWEEN}{other}").trim_end().to_owned()
    };
    (0..rows).map(both).collect()
}

fn width_of(lines: &[Line]) -> usize {
    lines.iter().map(|it| it.width).max().unwrap_or(0)
}

fn block(title: &str, rows: &[EventRow], layout: Layout) -> Vec<Line> {
    let cells = rows.iter().map(|it| {
        let mut cell = columns::cell(it, columns::line_only);
        let number = it.step.map_or_else(|| " ".to_owned(), |at| (at + 1).to_string());
        cell.text.insert_str(0, &format!("{number} "));
        cell
    });
    columns::lines(title, &cells.collect::<Vec<_>>(), Room::new(layout))
}
