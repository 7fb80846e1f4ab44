//! One line of text, read word by word.

use super::{ParseError, word::Word};

/// What a step of reading gives.
pub(super) type Step<T> = Result<T, ParseError>;

/// A line, and how far it was read.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) number: usize,
    pub(super) verb: Option<&'static str>,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str, number: usize) -> Self {
        Line { text, at: 0, number, verb: None }
    }

    /// The next word, empty at the end.
    pub(super) fn peek(&self) -> &'a str {
        self.rest().split_whitespace().next().unwrap_or("")
    }

    /// What is left of the line.
    pub(super) fn rest(&self) -> &'a str {
        self.text[self.at..].trim()
    }

    /// Goes on behind the next word.
    pub(super) fn next(&mut self) {
        let left = self.text[self.at..].trim_start();
        self.at = self.text.len() - left.len() + self.peek().len();
    }

    /// Goes on behind a text that the rest of the line begins with.
    pub(super) fn skip(&mut self, text: &str) {
        self.at = self.text.len() - self.text[self.at..].trim_start().len() + text.len();
    }

    /// Whether nothing but the place is left.
    pub(super) fn at_end(&self) -> bool {
        matches!(self.peek(), "" | "@")
    }

    /// Whether the next word is this one; then it is taken.
    pub(super) fn is(&mut self, word: &str) -> bool {
        let is = self.peek() == word;
        if is {
            self.next();
        }
        is
    }

    /// One of a few words, or else the default.
    pub(super) fn choice<T: Word>(&mut self, default: T) -> T {
        let word = T::from_word(self.peek());
        if word.is_some() {
            self.next();
        }
        word.unwrap_or(default)
    }

    pub(super) fn required<T: Word>(&mut self, expected: &'static str) -> Step<T> {
        let word = T::from_word(self.peek()).ok_or_else(|| self.error(expected))?;
        self.next();
        Ok(word)
    }

    pub(super) fn optional<T: TryFrom<u128>>(&mut self) -> Option<T> {
        let number = digits(self.peek())?;
        self.next();
        Some(number)
    }

    pub(super) fn number<T: TryFrom<u128>>(&mut self, expected: &'static str) -> Step<T> {
        self.optional().ok_or_else(|| self.error(expected))
    }

    pub(super) fn signed(&mut self, expected: &'static str) -> Step<i32> {
        let number = self.peek().parse().map_err(|_| self.error(expected))?;
        self.next();
        Ok(number)
    }

    pub(super) fn end(&self) -> Step<()> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error("the end of the line")) }
    }

    /// Says that something else should be at this place.
    pub(super) fn error(&self, expected: &'static str) -> ParseError {
        let before = self.text.len() - self.text[self.at..].trim_start().len();
        ParseError {
            line: self.number,
            column: self.text[..before].chars().count() + 1,
            expected,
            found: self.peek().to_owned(),
            verb: self.verb,
        }
    }
}

/// A decimal or hexadecimal number.
pub(super) fn digits<T: TryFrom<u128>>(word: &str) -> Option<T> {
    let number = match word.strip_prefix("0x") {
        Some(hex) if !hex.starts_with('+') => u128::from_str_radix(hex, 16).ok()?,
        Some(_) => return None,
        None if word.starts_with('+') => return None,
        None => word.parse().ok()?,
    };
    T::try_from(number).ok()
}
