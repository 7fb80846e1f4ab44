//! Reports for programs.

use std::{borrow::Cow, fmt::Write as _, io};

use norn_model::is_printable;
use serde::Serialize;

use super::Writer;
use crate::{Line, Report};

/// Writes a report as one line of JSON, so that it can be separated from the output of the
/// program under test, which may come before it.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Writer for Json {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        write_value(report, out)
    }
}

/// Writes each answer as one line of JSON as soon as it is known, and the report as the last line.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines;

impl Writer for JsonLines {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        self.write_line(&Line::End(Box::new(report.clone())), out)
    }

    fn write_line(&self, line: &Line, out: &mut dyn io::Write) -> io::Result<()> {
        write_value(line, out)
    }
}

fn write_value(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    let text = serde_json::to_string(value)?;
    writeln!(out, "{}", escape(&text))?;
    out.flush()
}

/// JSON whose strings have escapes for all characters that a terminal would not show. JSON itself
/// requires that only for those below U+0020. A reader gets the same strings.
pub fn escape(json: &str) -> Cow<'_, str> {
    let is_plain = |it: char| it < '\u{7f}' || is_printable(it);
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if is_plain(letter) {
            text.push(letter);
            continue;
        }
        // Outside of strings JSON is ASCII, so this is inside of one.
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unprintable_characters_are_escaped() {
        assert_eq!(
            escape("\"\u{9b}\u{202e}\u{e0001}\x7f\""),
            r#""\u009b\u202e\udb40\udc01\u007f""#
        );
        assert_eq!(escape("\"größe\""), "\"größe\"");
    }

    proptest! {
        #[test]
        fn readers_get_the_original(text: String) {
            let json = serde_json::to_string(&text).unwrap();
            let escaped = escape(&json);
            prop_assert!(escaped.chars().all(is_printable), "{escaped:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
