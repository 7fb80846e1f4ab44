//! Events in their order, from top to bottom, with a column for each thread.

use norn_model::{Location, ThreadName};

use super::{fold, paint};
use crate::{
    Action, EventRow, Number, vocabulary,
    writer::{Layout, timeline},
};

/// Wider than this, the threads are not columns but words.
const WIDEST: usize = 110;
/// Longer than this, a place is only a line.
const LONGEST: usize = 50;

/// Narrower than this, a column of a thread is not readable.
const NARROWEST: usize = 16;

/// The room that a table has.
#[derive(Clone, Copy)]
pub(super) struct Room {
    widest: usize,
    /// Whether columns get narrower before the table becomes a list.
    folds: bool,
}

impl Room {
    pub(super) fn new(layout: Layout) -> Room {
        if layout.terminal {
            Room { widest: layout.width.saturating_sub(2), folds: true }
        } else {
            Room { widest: WIDEST, folds: false }
        }
    }
}

/// A line with its width on the screen, which its styles do not count to.
pub(super) struct Line {
    pub(super) text: String,
    pub(super) width: usize,
}

/// One event.
pub(super) struct Cell<'a> {
    thread: &'a ThreadName,
    place: String,
    pub(super) text: String,
    /// Why another thread continues behind it.
    switch: Option<String>,
}

/// One event, in words.
pub(super) fn cell(row: &EventRow, place: fn(&Location) -> String) -> Cell<'_> {
    let times = if row.times > 1 { format!(" ({} times)", row.times) } else { String::new() };
    let place = row.at.as_ref().map_or_else(String::new, place);
    let switch = row.switch.as_ref().map(|it| format!("({})", vocabulary::switch(it)));
    Cell { thread: &row.thread, place, text: format!("{}{times}", event(row)), switch }
}

/// What an event did to what, with its value: `write total = 3`.
pub fn event(row: &EventRow) -> String {
    let object = row.object.as_deref().map_or_else(String::new, |it| format!(" {it}"));
    let size = row.size.map_or_else(String::new, |it| format!(" {it} bytes"));
    let value = shown(row.value, row.shown.as_deref());
    let value = value.map_or_else(String::new, |it| format!(" = {it}"));
    format!("{}{object}{size}{value}", row.action.noun())
}

/// A value as its type has it, or as a number.
pub(super) fn shown(value: Option<Number>, shown: Option<&str>) -> Option<String> {
    shown.map(str::to_owned).or_else(|| value.map(|it| it.to_string()))
}

/// A value behind an action: ` = 3`; a function returns ` with 3`.
pub(super) fn value_of(action: Action, value: Option<Number>, text: Option<&str>) -> String {
    let sign = if action == Action::Return { "with" } else { "=" };
    shown(value, text).map_or_else(String::new, |it| format!(" {sign} {it}"))
}

/// A place without its function, if that is one of those that C++ makes of templates.
pub(super) fn short_place(at: &Location) -> String {
    let whole = vocabulary::place(at);
    let source = vocabulary::source(at).filter(|_| whole.len() > LONGEST);
    source.unwrap_or(whole)
}

/// The line of the source alone.
pub(super) fn line_only(at: &Location) -> String {
    vocabulary::source(at).unwrap_or_else(|| vocabulary::place(at))
}

/// The lines of a table, or of a list if the table were too wide.
pub(super) fn lines(title: &str, cells: &[Cell<'_>], room: Room) -> Vec<Line> {
    let threads = timeline::sorted(cells.iter().map(|it| it.thread));
    let places = cells.iter().map(|it| it.place.chars().count()).max().unwrap_or(0);
    let places = places.max(title.len().saturating_sub(2));
    let widths: Vec<_> = threads.iter().map(|it| width(it, cells)).collect();
    match narrowed(places, widths, room) {
        Some(widths) => table(title, cells, places, (&threads, &widths), room),
        None => list(title, cells, places, room),
    }
}

/// Whether a table of these cells has enough room for a column for each thread.
pub(super) fn fits(cells: &[Cell<'_>], room: Room) -> bool {
    let threads = timeline::sorted(cells.iter().map(|it| it.thread));
    let places = cells.iter().map(|it| it.place.chars().count()).max().unwrap_or(0);
    let widths = threads.iter().map(|it| width(it, cells)).collect();
    narrowed(places, widths, room).is_some()
}

/// The widths of columns that have room beside the places. If there is too little for the longest texts,
/// the widest columns get narrower and their texts several lines; none if they would get too narrow.
fn narrowed(places: usize, mut widths: Vec<usize>, room: Room) -> Option<Vec<usize>> {
    while places + widths.iter().map(|it| it + 2).sum::<usize>() > room.widest {
        let most = widths.iter_mut().max().filter(|_| room.folds)?;
        *most = most.checked_sub(1).filter(|it| *it >= NARROWEST)?;
    }
    Some(widths)
}

fn width(thread: &ThreadName, cells: &[Cell<'_>]) -> usize {
    let texts = cells.iter().filter(|it| it.thread == thread).map(|it| it.text.chars().count());
    texts.max().unwrap_or(0).max(thread.0.len())
}

fn table(
    title: &str,
    cells: &[Cell<'_>],
    places: usize,
    (threads, widths): (&[&ThreadName], &[usize]),
    room: Room,
) -> Vec<Line> {
    let head = threads.iter().zip(widths).map(|(it, width)| format!("  {:width$}", it.0));
    let head = head_line(title, places + 2, &head.collect::<String>());
    let line = |cell: &Cell<'_>, place: &str, part: &str| {
        let texts = threads.iter().zip(widths).map(|(thread, width)| {
            let text = if *thread == cell.thread { part } else { "" };
            format!("  {text:width$}")
        });
        row_line(place, places, &texts.collect::<String>())
    };
    let mut lines = vec![head];
    for cell in cells {
        let column = threads.iter().position(|it| *it == cell.thread);
        let width = column.map_or(0, |it| widths[it]);
        let parts = fold::fold_column(&cell.text, width);
        let first = parts.first().map_or("", String::as_str);
        lines.push(line(cell, &cell.place, first));
        lines.extend(parts.iter().skip(1).map(|it| line(cell, "", it)));
        let before = widths.iter().take(column.unwrap_or(0)).map(|it| it + 2).sum::<usize>();
        lines.extend(switch_lines(cell, 2 + places + before + 4, room));
    }
    lines
}

/// The reason of the switch behind an event, below its text. The columns to the right are empty there, so it
/// may be wider than its own.
fn switch_lines(cell: &Cell<'_>, indent: usize, room: Room) -> Vec<Line> {
    let Some(switch) = &cell.switch else { return Vec::new() };
    let wide = if room.folds { room.widest.saturating_sub(indent) } else { usize::MAX };
    let line = |text: &String| Line {
        width: indent + text.chars().count(),
        text: format!("{:indent$}{}", "", paint::detail(text)),
    };
    fold::fold_column(switch, wide.max(NARROWEST)).iter().map(line).collect()
}

fn list(title: &str, cells: &[Cell<'_>], places: usize, room: Room) -> Vec<Line> {
    let names = cells.iter().map(|it| it.thread.0.len()).max().unwrap_or(0);
    let mut lines = vec![head_line(title, 0, "")];
    for cell in cells {
        let rest = format!("  {:names$}  {}", cell.thread.0, cell.text);
        lines.push(row_line(&cell.place, places, &rest));
        lines.extend(switch_lines(cell, 2 + places + 2 + names + 4, Room { folds: false, ..room }));
    }
    lines
}

fn head_line(title: &str, places: usize, threads: &str) -> Line {
    let plain = format!("{title:places$}{threads}").trim_end().to_owned();
    Line { width: plain.chars().count(), text: paint::detail(plain) }
}

fn row_line(place: &str, places: usize, rest: &str) -> Line {
    let gap = " ".repeat(places - place.chars().count());
    let width = format!("  {place}{gap}{rest}").trim_end().chars().count();
    let text = format!("  {}{gap}{rest}", paint::places(place)).trim_end().to_owned();
    Line { text, width }
}
