//! The messages with which programs announce that they fail.

use norn_frontend::FailureMessage;
use norn_model::Location;

use crate::panic::panic;

/// The failure message of a program. `text` is the message of a failed assertion that the runtime
/// intercepted, `errors` the end of standard error, if that was captured.
pub(crate) fn find(text: Option<&str>, errors: Option<&str>) -> Option<FailureMessage> {
    let errors = errors.unwrap_or("");
    let seen = text.map(|it| FailureMessage::Assertion {
        condition: condition(it).unwrap_or_else(|| it.trim().to_owned()),
        at: place(it),
    });
    let printed = || {
        let condition = condition(errors)?;
        Some(FailureMessage::Assertion { condition, at: None })
    };
    seen.or_else(printed).or_else(|| exception(errors)).or_else(|| panic(errors))
}

/// The condition in what `assert` prints: ``prog: file.c:12: main: Assertion `x > 0' failed.``
fn condition(text: &str) -> Option<String> {
    let rest = text.rsplit_once("Assertion `")?.1;
    Some(rest.split_once("' failed")?.0.to_owned())
}

/// The location in the message that the runtime intercepts: ``file.c:12: main: Assertion `x > 0' failed.``
fn place(text: &str) -> Option<Location> {
    let (place, _) = text.split_once(": Assertion `")?;
    let mut parts = place.splitn(3, ':');
    let file = parts.next()?.to_owned();
    let line = parts.next()?.trim().parse().ok()?;
    let function = parts.next()?.trim();
    let function = function.split('(').next().unwrap_or(function);
    let function = function.rsplit(' ').next().unwrap_or(function).to_owned();
    Some(Location {
        function: Some(function),
        file: Some(file),
        line: Some(line),
        ..Location::default()
    })
}

/// What the C++ library prints before it aborts because of an exception.
fn exception(text: &str) -> Option<FailureMessage> {
    let rest = text.rsplit_once("terminate called ")?.1;
    let class = rest.strip_prefix("after throwing an instance of '")?.split_once('\'')?.0;
    let what = rest.split_once("what():  ").map(|(_, rest)| rest.lines().next().unwrap_or(""));
    Some(FailureMessage::Exception { class: class.to_owned(), what: what.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_are_found_in_the_error_output() {
        let text = "hello\nprog: a.c:3: main: Assertion `x == 'y'' failed.\nAborted";
        assert_eq!(condition(text).unwrap(), "x == 'y'");
        assert_eq!(condition("Assertion pending"), None);
    }

    #[test]
    fn assertions_have_locations() {
        let function = |text| {
            let at = place(text).unwrap();
            (at.function.unwrap(), at.line.unwrap())
        };
        let text = "src/a.c:12: main: Assertion `x > 0' failed.";
        assert_eq!(function(text), ("main".to_owned(), 12));
        let text = "a.cc:7: void ns::Bank::pay(int, long): Assertion `x > 0' failed.";
        assert_eq!(function(text), ("ns::Bank::pay".to_owned(), 7));
        assert_eq!(place("x > 0"), None);
    }

    #[test]
    fn exceptions_are_found_in_the_error_output() {
        let text = "terminate called after throwing an instance of 'std::runtime_error'\n  \
                    what():  no money\n";
        let Some(FailureMessage::Exception { class, what }) = find(None, Some(text)) else {
            panic!()
        };
        assert_eq!((&*class, what.as_deref()), ("std::runtime_error", Some("no money")));
        let text = "terminate called after throwing an instance of 'int'\n";
        assert!(matches!(exception(text), Some(FailureMessage::Exception { what: None, .. })));
        assert_eq!(exception("terminate called without an active exception\n"), None);
    }

    #[test]
    fn the_message_of_the_runtime_has_precedence() {
        let seen = "a.c:3: main: Assertion `x' failed.";
        let Some(FailureMessage::Assertion { condition, at: Some(_) }) =
            find(Some(seen), Some("Assertion `y' failed"))
        else {
            panic!()
        };
        assert_eq!(condition, "x");
    }
}
