//! Standard output and standard error: the only way by which norn's own words reach the terminal.
//!
//! What norn prints contains names that others chose: of functions, files, variables, threads,
//! properties. So a control character never passes: it is spelled out ([`printable`]). Newlines and tabs
//! are norn's own means to lay text out and pass; where a line contains names, [`line`] spells them out
//! as well. Colors pass only where a writer asks for them and has made all names printable before.

use std::{
    fmt,
    io::{self, StderrLock, StdoutLock, Write},
    str,
};

use anstream::AutoStream;
use norn_model::{is_printable, printable};

/// Standard output, for text without colors.
pub(crate) fn stdout() -> Terminal<StdoutLock<'static>> {
    Terminal::new(io::stdout().lock())
}

/// Standard error, for text without colors.
pub(crate) fn stderr() -> Terminal<StderrLock<'static>> {
    Terminal::new(io::stderr().lock())
}

/// Standard output with colors, if it is a terminal.
pub(crate) fn colored_stdout() -> Terminal<AutoStream<StdoutLock<'static>>> {
    Terminal { colored: true, ..Terminal::new(anstream::stdout().lock()) }
}

/// Standard error with colors, if it is a terminal.
pub(crate) fn colored_stderr() -> Terminal<AutoStream<StderrLock<'static>>> {
    Terminal { colored: true, ..Terminal::new(anstream::stderr().lock()) }
}

/// Writes one line. Its text may contain any names: it stays one line.
pub(crate) fn line(out: &mut impl Write, text: impl fmt::Display) -> io::Result<()> {
    writeln!(out, "{}", printable(&text.to_string()))
}

/// A stream that control characters do not pass.
pub(crate) struct Terminal<W: Write> {
    out: W,
    /// Whether escape sequences that choose a color or style pass.
    colored: bool,
    /// The beginning of a character or of an escape sequence whose end has not been written yet.
    rest: Vec<u8>,
}

impl<W: Write> Terminal<W> {
    fn new(out: W) -> Terminal<W> {
        Terminal { out, colored: false, rest: Vec::new() }
    }

    /// Writes a text without its control characters.
    fn show(&mut self, text: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, letter) in text.char_indices() {
            if at < from || is_printable(letter) || matches!(letter, '\n' | '\t') {
                continue;
            }
            self.out.write_all(&text.as_bytes()[from..at])?;
            let style = if self.colored { style(&text[at..]) } else { None };
            if let Some(style) = style {
                self.out.write_all(style.as_bytes())?;
            } else {
                write!(self.out, "{}", letter.escape_default())?;
            }
            from = at + style.map_or(letter.len_utf8(), str::len);
        }
        self.out.write_all(&text.as_bytes()[from..])
    }
}

/// The escape sequence at the beginning of a text, if it only chooses a color or a style.
fn style(text: &str) -> Option<&str> {
    let numbers = text.strip_prefix("\x1b[")?;
    let length = numbers.find(|it: char| !it.is_ascii_digit() && it != ';')?;
    numbers[length..].starts_with('m').then(|| &text[..length + 3])
}

/// The length of the part of some bytes that is complete: whole characters and whole escape sequences.
fn complete(bytes: &[u8]) -> usize {
    let is_begun = |from: &usize| {
        let end = str::from_utf8(&bytes[*from..]);
        end.is_err_and(|it| it.valid_up_to() == 0 && it.error_len().is_none())
    };
    // A character has at most four bytes.
    let whole = (bytes.len().saturating_sub(3)..bytes.len()).find(is_begun).unwrap_or(bytes.len());
    let is_open = |at: usize| {
        let sequence = &bytes[at + 1..whole];
        sequence.len() < MAX_STYLE
            && sequence.iter().all(|it| matches!(it, b'[' | b';') || it.is_ascii_digit())
    };
    bytes[..whole].iter().rposition(|&it| it == 0x1b).filter(|&at| is_open(at)).unwrap_or(whole)
}

/// Longer escape sequences are not styles.
const MAX_STYLE: usize = 16;

impl<W: Write> Write for Terminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        self.rest = all.split_off(complete(&all));
        self.show(&String::from_utf8_lossy(&all))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.show(&String::from_utf8_lossy(&rest))?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(colored: bool, pieces: &[&[u8]]) -> String {
        let mut terminal = Terminal { out: Vec::new(), colored, rest: Vec::new() };
        for piece in pieces {
            terminal.write_all(piece).unwrap();
        }
        terminal.flush().unwrap();
        String::from_utf8(terminal.out).unwrap()
    }

    #[test]
    fn only_layout_and_colors_pass() {
        assert_eq!(shown(true, &[b"a\n\tb \x1b[1;31mred\x1b[0m"]), "a\n\tb \x1b[1;31mred\x1b[0m");
        assert_eq!(shown(true, &[b"\x1b]0;title\x07"]), r"\u{1b}]0;title\u{7}");
        assert_eq!(shown(true, &[b"\x1b[2J\x1b[1A"]), r"\u{1b}[2J\u{1b}[1A");
        assert_eq!(shown(true, &["\u{9b}31m\u{202e}\r".as_bytes()]), r"\u{9b}31m\u{202e}\r");
        assert_eq!(shown(false, &[b"\x1b[31mred"]), r"\u{1b}[31mred");
        assert_eq!(shown(true, &[b"caf\xe9"]), "caf\u{fffd}");
    }

    #[test]
    fn characters_and_colors_may_come_in_pieces() {
        assert_eq!(shown(true, &[b"\x1b", b"[3", b"1mred"]), "\x1b[31mred");
        assert_eq!(shown(true, &[b"\xc3", b"\xa9"]), "é");
        assert_eq!(shown(true, &[b"\xc2", b"\x9b", b"2J"]), r"\u{9b}2J");
        assert_eq!(shown(true, &[b"end\x1b["]), r"end\u{1b}[");
    }

    #[test]
    fn a_line_stays_one_line() {
        let mut out = Vec::new();
        line(&mut out, "x\nnorn: no bugs\r").unwrap();
        assert_eq!(out, b"x\\nnorn: no bugs\\r\n");
    }

    proptest! {
        #[test]
        fn no_control_character_passes(bytes: Vec<u8>, text: String, cut in 0..64_usize) {
            for all in [&bytes[..], text.as_bytes()] {
                let (first, second) = all.split_at(cut.min(all.len()));
                let whole = shown(false, &[all]);
                prop_assert!(
                    whole.chars().all(|it| is_printable(it) || matches!(it, '\n' | '\t')),
                    "{whole:?}"
                );
                prop_assert_eq!(shown(false, &[first, second]), whole);
            }
        }
    }
}
