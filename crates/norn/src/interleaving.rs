//! The recorded order of the events that matter, and beside it the forced one.

use std::io::{self, Write};

use norn_hunt::{Interleaving, Row};
use norn_replay::story::Place;
use serde_json::{Value, json};
use terminal_size::{Width, terminal_size_of};

use crate::story::columns;

/// How wide a line may be if nobody says.
const WIDTH: usize = 100;
/// What is between the two orders.
const BETWEEN: &str = "   ";

/// For people: side by side where there is room, else one below the other. The candidate's events
/// are numbered.
pub(crate) fn text(out: &mut impl Write, interleaving: &Interleaving) -> io::Result<()> {
    writeln!(out)?;
    let width = terminal_size_of(io::stdout()).map_or(WIDTH, |(Width(it), _)| it.into());
    for line in lines(interleaving, width.saturating_sub(2)) {
        writeln!(out, "  {line}")?;
    }
    writeln!(out)
}

fn lines(interleaving: &Interleaving, width: usize) -> Vec<String> {
    let mut recorded = block("recorded", &interleaving.recorded);
    let forced = block("forced", &interleaving.forced);
    let [left, right] = [&recorded, &forced].map(|it| width_of(it));
    if left + BETWEEN.len() + right > width {
        recorded.extend(forced);
        return recorded;
    }
    let rows = recorded.len().max(forced.len());
    let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    let both = |at: usize| {
        let both = format!("{:left$}{BETWEEN}{}", line(&recorded, at), line(&forced, at));
        both.trim_end().to_owned()
    };
    (0..rows).map(both).collect()
}

fn width_of(lines: &[String]) -> usize {
    lines.iter().map(|it| it.chars().count()).max().unwrap_or(0)
}

fn block(title: &str, rows: &[Row]) -> Vec<String> {
    let rows = rows.iter().map(|it| {
        let mut row = columns::row(&it.moment, source);
        let number = it.step.map_or_else(|| " ".to_owned(), |at| (at + 1).to_string());
        row.text.insert_str(0, &format!("{number} "));
        row
    });
    columns::lines(title, &rows.collect::<Vec<_>>(), columns::WIDEST)
}

fn source(at: &Place) -> String {
    at.source().unwrap_or_else(|| at.to_string())
}

/// For programs.
pub(crate) fn json(interleaving: &Interleaving) -> Value {
    let rows = |rows: &[Row]| rows.iter().map(event).collect::<Vec<_>>();
    json!({ "recorded": rows(&interleaving.recorded), "forced": rows(&interleaving.forced) })
}

fn event(row: &Row) -> Value {
    let mut value = json!(row.moment);
    if let (Some(all), Some(step)) = (value.as_object_mut(), row.step) {
        all.insert("access".to_owned(), step.into());
    }
    value
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use norn_model::ThreadName;
    use norn_replay::story::Moment;

    use super::*;

    fn row(thread: &str, what: &'static str, object: &str, line: u32, step: Option<usize>) -> Row {
        let at =
            Place { file: Some("shop/till.c".to_owned()), line: Some(line), ..Place::default() };
        Row {
            moment: Moment {
                thread: ThreadName(thread.to_owned()),
                event: 0,
                what,
                object: Some(object.to_owned()),
                value: step.map(|it| 100 + it as u128),
                shown: None,
                times: 1,
                at: Some(at),
            },
            step,
        }
    }

    fn till() -> Interleaving {
        let read = row("T0.1", "read", "till", 12, Some(0));
        let write = row("T0.1", "write", "till", 13, Some(2));
        let [lock, unlock] =
            [("lock", 11), ("unlock", 14)].map(|(what, line)| row("T0.2", what, "m", line, None));
        let other = row("T0.2", "write", "till", 13, Some(1));
        let forced = [&read, &lock, &other, &unlock, &write].map(Clone::clone);
        Interleaving { recorded: vec![read, write, lock, other, unlock], forced: forced.into() }
    }

    #[test]
    fn side_by_side_where_there_is_room() {
        assert_snapshot!(lines(&till(), 120).join("\n"), @r"
        recorded     T0.1                T0.2                 forced       T0.1                T0.2
          till.c:12  1 read till = 100                          till.c:12  1 read till = 100
          till.c:13  3 write till = 102                         till.c:11                        lock m
          till.c:11                        lock m               till.c:13                      2 write till = 101
          till.c:13                      2 write till = 101     till.c:14                        unlock m
          till.c:14                        unlock m             till.c:13  3 write till = 102
        ");
    }

    #[test]
    fn one_below_the_other_where_there_is_not() {
        assert_snapshot!(lines(&till(), 100).join("\n"), @r"
        recorded     T0.1                T0.2
          till.c:12  1 read till = 100
          till.c:13  3 write till = 102
          till.c:11                        lock m
          till.c:13                      2 write till = 101
          till.c:14                        unlock m
        forced       T0.1                T0.2
          till.c:12  1 read till = 100
          till.c:11                        lock m
          till.c:13                      2 write till = 101
          till.c:14                        unlock m
          till.c:13  3 write till = 102
        ");
    }

    #[test]
    fn for_programs() {
        let rows = json(&till());
        assert_eq!(rows["forced"][2]["access"], 1);
        assert_eq!(rows["forced"][2]["value"], 101);
        assert_eq!(rows["forced"][1]["what"], "lock");
        assert!(rows["forced"][1]["access"].is_null());
    }
}
