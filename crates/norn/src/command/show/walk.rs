//! The steps of a clip, and the screen that shows one of them.

use std::path::Path;

use norn_model::{Location, Schedule, printable};
use norn_report::{
    EventRow, vocabulary,
    writer::{SourceFiles as _, event_text},
};

use crate::{command::show::turn, source_files::Disk};

/// Lines of source before and after the current one.
const AROUND: usize = 3;
/// Lines that the headline, the source and the keys take.
const OTHER_LINES: usize = 2 * AROUND + 6;

/// What is walked through.
pub(super) struct Steps {
    pub(super) title: String,
    pub(super) steps: Vec<Step>,
}

/// One step.
pub(super) struct Step {
    pub(super) thread: String,
    pub(super) text: String,
    pub(super) at: Option<Location>,
}

/// The events of a run.
pub(super) fn of_rows(title: String, rows: &[EventRow]) -> Steps {
    let step = |it: &EventRow| Step {
        thread: it.thread.0.clone(),
        text: event_text(it),
        at: it.at.clone(),
    };
    Steps { title, steps: rows.iter().map(step).collect() }
}

/// The turns of a schedule.
pub(super) fn of_schedule(title: String, schedule: &Schedule) -> Steps {
    let segments = schedule.segments.iter();
    let step =
        segments.map(|it| Step { thread: it.thread.0.clone(), text: turn(&it.until), at: None });
    Steps { title, steps: step.collect() }
}

impl Steps {
    /// The lines of the screen at one of the steps, none wider and not more than the terminal has.
    pub(super) fn screen(&self, at: usize, (width, height): (usize, usize)) -> Vec<String> {
        let room = height.saturating_sub(OTHER_LINES).max(1);
        let first = at.saturating_sub(room / 2).min(self.steps.len().saturating_sub(room));
        let mut lines = vec![self.title.clone(), String::new()];
        for (number, step) in self.steps.iter().enumerate().skip(first).take(room) {
            let mark = if number == at { '>' } else { ' ' };
            lines.push(format!("{mark} {:3}  {:8} {}", number + 1, step.thread, step.text));
        }
        lines.push(String::new());
        let current = self.steps.get(at);
        lines.extend(current.and_then(|it| it.at.as_ref()).map(source).unwrap_or_default());
        lines.push(format!(
            "step {} of {}   n next   p previous   q quit",
            at + 1,
            self.steps.len()
        ));
        let cut = |it: String| printable(&it).chars().take(width).collect();
        lines.into_iter().map(cut).collect()
    }

    /// The step that a key leads to; none if it ends the walk.
    pub(super) fn after(&self, at: usize, key: Key) -> Option<usize> {
        match key {
            Key::Next => Some((at + 1).min(self.steps.len().saturating_sub(1))),
            Key::Previous => Some(at.saturating_sub(1)),
            Key::Other => Some(at),
            Key::Quit => None,
        }
    }
}

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Next,
    Previous,
    Quit,
    Other,
}

impl Key {
    /// The key that sends these bytes. The end of the input ends the walk.
    pub(super) fn of(bytes: &[u8]) -> Key {
        match bytes {
            b"n" | b" " | b"\r" | b"\n" | b"j" | b"\x1b[B" | b"\x1b[C" | b"\x1bOB" | b"\x1bOC" => {
                Key::Next
            }
            b"p" | b"k" | b"\x1b[A" | b"\x1b[D" | b"\x1bOA" | b"\x1bOD" => Key::Previous,
            b"" | b"q" | b"\x03" | b"\x04" | b"\x1b" => Key::Quit,
            _ => Key::Other,
        }
    }
}

/// The lines of source around a place.
fn source(at: &Location) -> Vec<String> {
    let place = vocabulary::path(at).unwrap_or_else(|| vocabulary::place(at));
    let mut lines = vec![place];
    let text = at.file.as_deref().filter(|it| Path::new(it).is_absolute());
    let text = text.and_then(|it| Disk.read(it).ok()).unwrap_or_default();
    let Some(line) = at.line.and_then(|it| usize::try_from(it).ok()) else { return lines };
    let shown = text.lines().zip(1..).skip(line.saturating_sub(AROUND + 1)).take(2 * AROUND + 1);
    lines.extend(shown.map(|(text, number)| {
        let mark = if number == line { '>' } else { ' ' };
        format!("{mark} {number:4}  {}", text.replace('\t', "    "))
    }));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(count: usize) -> Steps {
        let step = |it: usize| Step {
            thread: "T0.1".to_owned(),
            text: format!("read x = {it}"),
            at: None,
        };
        Steps { title: "data race on `x`".to_owned(), steps: (0..count).map(step).collect() }
    }

    #[test]
    fn the_current_step_is_marked_and_in_view() {
        insta::assert_snapshot!(steps(2).screen(1, (60, 40)).join("\n"), @r"
        data race on `x`

            1  T0.1     read x = 0
        >   2  T0.1     read x = 1

        step 2 of 2   n next   p previous   q quit
        ");
        for at in [0, 17, 49] {
            let screen = steps(50).screen(at, (20, 24));
            assert!(screen.iter().any(|it| it.starts_with('>')), "{at}");
            assert!(screen.len() <= 24 && screen.iter().all(|it| it.chars().count() <= 20));
        }
    }

    #[test]
    fn control_characters_of_the_program_do_not_reach_the_terminal() {
        let mut steps = steps(1);
        steps.steps[0].text = "\x1b[2J\rno bugs".to_owned();
        assert!(steps.screen(0, (80, 24)).iter().all(|it| !it.contains(['\x1b', '\r'])));
    }

    #[test]
    fn keys_move_within_the_steps() {
        let steps = steps(3);
        assert_eq!(steps.after(0, Key::of(b"p")), Some(0));
        assert_eq!(steps.after(0, Key::of(b"\x1b[B")), Some(1));
        assert_eq!(steps.after(2, Key::of(b"n")), Some(2));
        assert_eq!(steps.after(1, Key::of(b"x")), Some(1));
        assert_eq!(steps.after(1, Key::of(b"q")), None);
    }
}
