//! The message that a Rust program prints when a thread panics.
//!
//! ```text
//! thread 'main' (4711) panicked at src/main.rs:10:5:
//! assertion `left == right` failed: the total
//!   left: 1
//!  right: 2
//! note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
//! ```
//!
//! A panic often causes others: the thread that joins the first one unwraps its result, and the next one to
//! lock a mutex finds it poisoned. These are echoes, and the failure is the panic that they repeat.

use norn_frontend::FailureMessage;
use norn_model::Location;

/// Maximum number of lines of a message.
const MAX_LINES: usize = 5;

/// Texts in the messages of panics that only pass on the panic of another thread.
const ECHOES: [&str; 3] =
    ["on an `Err` value: Any {", "a scoped thread panicked", "on an `Err` value: PoisonError"];

/// The first panic in standard error that is no echo, or else the first one.
pub(crate) fn panic(errors: &str) -> Option<FailureMessage> {
    let lines: Vec<&str> = errors.lines().collect();
    let found = lines.iter().enumerate().filter_map(|(at, line)| {
        let place = place(line)?;
        Some((message(&lines[at + 1..]), place))
    });
    let all: Vec<(String, Location)> = found.collect();
    let is_cause = |it: &&(String, Location)| !ECHOES.iter().any(|echo| it.0.contains(echo));
    let (message, place) = all.iter().find(is_cause).or_else(|| all.first())?.clone();
    Some(FailureMessage::Panic { message, at: Some(place) })
}

/// The place in the first line: `thread 'x' panicked at src/main.rs:10:5:`.
fn place(line: &str) -> Option<Location> {
    let (thread, place) = line.split_once(" panicked at ")?;
    if !thread.trim_start().starts_with("thread ") {
        return None;
    }
    let mut parts = place.strip_suffix(':')?.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Location {
        file: Some(parts.next()?.to_owned()),
        line: Some(line),
        column: Some(column),
        ..Location::default()
    })
}

/// The lines after the first one, up to what the standard library adds, as one line.
fn message(lines: &[&str]) -> String {
    let is_end = |it: &str| {
        it.is_empty() || it.starts_with("note: ") || it == "stack backtrace:" || place(it).is_some()
    };
    let lines = lines.iter().take_while(|it| !is_end(it)).take(MAX_LINES);
    lines.map(|it| it.trim()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(errors: &str) -> (String, String) {
        let Some(FailureMessage::Panic { message, at: Some(at) }) = panic(errors) else { panic!() };
        let place = (at.file.unwrap(), at.line.unwrap(), at.column.unwrap());
        (message, format!("{}:{}:{}", place.0, place.1, place.2))
    }

    #[test]
    fn a_panic_has_a_message_and_a_place() {
        let text = "hello\n\nthread 'main' (4711) panicked at src/main.rs:10:5:\n\
                    assertion `left == right` failed: the total\n  left: 1\n right: 2\n\
                    note: run with `RUST_BACKTRACE=1` environment variable\n";
        let message = "assertion `left == right` failed: the total, left: 1, right: 2";
        assert_eq!(check(text), (message.to_owned(), "src/main.rs:10:5".to_owned()));
        assert_eq!(panic("thread 'main' is fine\nit never panicked at all:\n"), None);
    }

    #[test]
    fn echoes_of_a_panic_are_not_the_failure() {
        let join = "thread 'main' panicked at a.rs:9:9:\n\
                    called `Result::unwrap()` on an `Err` value: Any { .. }\n";
        let poison = "thread 'b' panicked at a.rs:7:7:\n\
                      called `Result::unwrap()` on an `Err` value: PoisonError { .. }\n";
        let cause =
            "thread '<unnamed>' panicked at a.rs:3:3:\nno money\nstack backtrace:\n  0: x\n";
        let expected = ("no money".to_owned(), "a.rs:3:3".to_owned());
        assert_eq!(check(&format!("{cause}{poison}{join}")), expected);
        assert_eq!(check(&format!("{poison}{cause}")), expected);
        assert_eq!(check(join).1, "a.rs:9:9");
    }
}
