//! The last events of a story: a column for each thread, from top to bottom in their order.

use std::io::{self, Write};

use norn_model::ThreadName;
use norn_replay::story::{Moment, Place};

use super::readable;

/// Wider than this, the threads are not columns but words.
const WIDEST: usize = 110;
/// Longer than this, a place is only a line.
const LONGEST: usize = 50;

/// Prints the last events.
pub(super) fn print(out: &mut impl Write, moments: &[Moment]) -> io::Result<()> {
    if moments.is_empty() {
        return Ok(());
    }
    let rows: Vec<Row<'_>> = moments.iter().map(row).collect();
    let mut threads: Vec<&ThreadName> = moments.iter().map(|it| &it.thread).collect();
    threads.sort_by_key(|it| order(it));
    threads.dedup();
    let places = rows.iter().map(|it| it.place.len()).max().unwrap_or(0).max(TITLE.len() - 2);
    let widths: Vec<_> = threads.iter().map(|it| width(it, &rows)).collect();
    let total = places + widths.iter().map(|it| it + 2).sum::<usize>();
    writeln!(out)?;
    if total > WIDEST {
        list(out, &rows, places)
    } else {
        table(out, &rows, places, &threads, &widths)
    }
}

/// Parents before their children, and these by number.
fn order(name: &ThreadName) -> (Vec<Option<u32>>, &str) {
    (name.0.split('.').map(|it| it.trim_end_matches('!').parse().ok()).collect(), &name.0)
}

const TITLE: &str = "the last events";

struct Row<'a> {
    thread: &'a ThreadName,
    place: String,
    text: String,
}

fn row(moment: &Moment) -> Row<'_> {
    let object = moment.object.as_deref().map_or_else(String::new, |it| format!(" {it}"));
    let value = moment.value.map_or_else(String::new, |it| format!(" = {}", readable(it)));
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

fn width(thread: &ThreadName, rows: &[Row<'_>]) -> usize {
    let texts = rows.iter().filter(|it| it.thread == thread).map(|it| it.text.len());
    texts.max().unwrap_or(0).max(thread.0.len())
}

fn table(
    out: &mut impl Write,
    rows: &[Row<'_>],
    places: usize,
    threads: &[&ThreadName],
    widths: &[usize],
) -> io::Result<()> {
    let head = threads.iter().zip(widths).map(|(it, width)| format!("  {:width$}", it.0));
    let head: String = head.collect();
    let places_too = places + 2;
    writeln!(out, "  {}", format!("{TITLE:places_too$}{head}").trim_end())?;
    for row in rows {
        let cells = threads.iter().zip(widths).map(|(thread, width)| {
            let text = if *thread == row.thread { &*row.text } else { "" };
            format!("  {text:width$}")
        });
        let line = format!("    {:places$}{}", row.place, cells.collect::<String>());
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn list(out: &mut impl Write, rows: &[Row<'_>], places: usize) -> io::Result<()> {
    let names = rows.iter().map(|it| it.thread.0.len()).max().unwrap_or(0);
    writeln!(out, "  {TITLE}")?;
    for row in rows {
        writeln!(out, "    {:places$}  {:names$}  {}", row.place, row.thread.0, row.text)?;
    }
    Ok(())
}
