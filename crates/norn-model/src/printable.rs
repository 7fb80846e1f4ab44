//! Text that a terminal shows as it is.
//!
//! Names come from traces, binaries and files that someone else may have written. A terminal executes
//! some characters in them instead of showing them: escape sequences move the cursor or change the
//! title, bidirectional controls reorder the rest of a line, and invisible characters make two names
//! look the same. [`printable`] spells all of these out.

use std::borrow::Cow;

/// The text with every character that a terminal would not show spelled out: `\u{1b}`, `\n`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_printable(letter) {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_default());
        }
    }
    Cow::Owned(shown)
}

/// The beginning of a text, printable: for errors, which should not repeat a text of any length.
pub fn excerpt(text: &str) -> String {
    const LENGTH: usize = 200;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", printable(&text[..end])),
        None => printable(text).into_owned(),
    }
}

/// Whether a terminal shows a character instead of executing it. False for control characters
/// (newlines and tabs included), for line and paragraph separators, for bidirectional controls, and for
/// characters without a width of their own that only affect how others are shown.
pub fn is_printable(letter: char) -> bool {
    if letter < '\u{7f}' {
        return letter >= ' ';
    }
    !letter.is_control()
        && !matches!(
            letter,
            '\u{ad}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        for text in ["", "main", "std::vector<int>::push_back", "größe", "変数", "\u{fffd}", "a\\n"]
        {
            assert!(matches!(printable(text), Cow::Borrowed(it) if it == text), "{text}");
        }
    }

    #[test]
    fn errors_repeat_only_the_beginning() {
        assert_eq!(excerpt("a\tb"), r"a\tb");
        assert_eq!(excerpt(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
    }

    #[test]
    fn controls_are_spelled_out() {
        assert_eq!(printable("\x1b[31mred"), r"\u{1b}[31mred");
        assert_eq!(printable("a\nb\tc\rd\x07"), r"a\nb\tc\rd\u{7}");
        assert_eq!(printable("\u{9b}2J\x7f"), r"\u{9b}2J\u{7f}");
        assert_eq!(printable("x\u{202e}y\u{2066}z\u{2028}"), r"x\u{202e}y\u{2066}z\u{2028}");
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_a_terminal_executes(text: String) {
            let shown = printable(&text);
            prop_assert!(shown.chars().all(is_printable), "{shown:?}");
            prop_assert!(!shown.bytes().any(|it| it < b' ' || it == 0x7f));
            prop_assert_eq!(printable(&shown), shown.as_ref());
        }
    }
}
