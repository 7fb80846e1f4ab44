//! Events in their order, from top to bottom, with a column for each thread.

use std::io::{self, Write};

use norn_model::ThreadName;
use norn_replay::story::{Moment, Place};

use super::shown;

/// Wider than this, the threads are not columns but words.
pub(crate) const WIDEST: usize = 110;
/// Longer than this, a place is only a line.
const LONGEST: usize = 50;

/// Prints the last events.
pub(super) fn print(out: &mut impl Write, moments: &[Moment]) -> io::Result<()> {
    if moments.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = moments.iter().map(|it| row(it, place)).collect();
    writeln!(out)?;
    for line in lines("the last events", &rows, WIDEST) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

/// One event.
pub(crate) struct Row<'a> {
    thread: &'a ThreadName,
    place: String,
    pub(crate) text: String,
}

/// One event, in words.
pub(crate) fn row(moment: &Moment, place: fn(&Place) -> String) -> Row<'_> {
    let object = moment.object.as_deref().map_or_else(String::new, |it| format!(" {it}"));
    let value = shown(moment.value, moment.shown.as_deref());
    let value = value.map_or_else(String::new, |it| format!(" = {it}"));
    let times = if moment.times > 1 { format!(" ({} times)", moment.times) } else { String::new() };
    let place = moment.at.as_ref().map_or_else(String::new, place);
    let text = format!("{}{object}{value}{times}", moment.what);
    Row { thread: &moment.thread, place, text }
}

/// Without the function, if that is one of those that C++ makes of templates.
fn place(at: &Place) -> String {
    let whole = at.to_string();
    let source = at.source().filter(|_| whole.len() > LONGEST);
    source.unwrap_or(whole)
}

/// The lines of a table, or of a list if the table were too wide.
pub(crate) fn lines(title: &str, rows: &[Row<'_>], widest: usize) -> Vec<String> {
    let mut threads: Vec<&ThreadName> = rows.iter().map(|it| it.thread).collect();
    threads.sort_by_key(|it| order(it));
    threads.dedup();
    let places = rows.iter().map(|it| it.place.chars().count()).max().unwrap_or(0);
    let places = places.max(title.len().saturating_sub(2));
    let widths: Vec<_> = threads.iter().map(|it| width(it, rows)).collect();
    let total = places + widths.iter().map(|it| it + 2).sum::<usize>();
    if total > widest {
        list(title, rows, places)
    } else {
        table(title, rows, places, &threads, &widths)
    }
}

/// Parents before their children, and these by number.
fn order(name: &ThreadName) -> (Vec<Option<u32>>, &str) {
    (name.0.split('.').map(|it| it.trim_end_matches('!').parse().ok()).collect(), &name.0)
}

fn width(thread: &ThreadName, rows: &[Row<'_>]) -> usize {
    let texts = rows.iter().filter(|it| it.thread == thread).map(|it| it.text.chars().count());
    texts.max().unwrap_or(0).max(thread.0.len())
}

fn table(
    title: &str,
    rows: &[Row<'_>],
    places: usize,
    threads: &[&ThreadName],
    widths: &[usize],
) -> Vec<String> {
    let head = threads.iter().zip(widths).map(|(it, width)| format!("  {:width$}", it.0));
    let head: String = head.collect();
    let places_too = places + 2;
    let head = format!("{title:places_too$}{head}").trim_end().to_owned();
    let line = |row: &Row<'_>| {
        let cells = threads.iter().zip(widths).map(|(thread, width)| {
            let text = if *thread == row.thread { &*row.text } else { "" };
            format!("  {text:width$}")
        });
        let line = format!("  {:places$}{}", row.place, cells.collect::<String>());
        line.trim_end().to_owned()
    };
    std::iter::once(head).chain(rows.iter().map(line)).collect()
}

fn list(title: &str, rows: &[Row<'_>], places: usize) -> Vec<String> {
    let names = rows.iter().map(|it| it.thread.0.len()).max().unwrap_or(0);
    let line =
        |row: &Row<'_>| format!("  {:places$}  {:names$}  {}", row.place, row.thread.0, row.text);
    std::iter::once(title.to_owned()).chain(rows.iter().map(line)).collect()
}
