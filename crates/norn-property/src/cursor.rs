//! The tokenizer of property files: a position in the text.

use crate::{Diagnostic, Span, size, syntax::Name};

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Whether a character can be in a word.
pub(crate) fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Cursor { text, at: 0 }
    }

    /// The position in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn advance(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    /// Skips blanks and comments.
    pub(crate) fn skip(&mut self) {
        loop {
            let blank = self.rest().len() - self.rest().trim_start().len();
            self.advance(blank);
            if !self.rest().starts_with("//") {
                break;
            }
            let line = self.rest().find('\n').unwrap_or(self.rest().len());
            self.advance(line);
        }
    }

    /// Consumes a token if it comes next, after skipping blanks; returns whether it did.
    pub(crate) fn eat(&mut self, token: &str) -> bool {
        self.skip();
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.advance(token.len());
        }
        is_next
    }

    /// The next word, which may be empty; it is not consumed.
    pub(crate) fn look(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let end = rest.find(|it| !is_word(it)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Consumes a word if it comes next.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.look() == word;
        if is_next {
            self.advance(word.len());
        }
        is_next
    }

    /// Consumes a name: a word that begins with a letter.
    pub(crate) fn name(&mut self, what: &str) -> Result<Name, Diagnostic> {
        let text = self.look();
        if text.is_empty() || text.starts_with(|it: char| it.is_ascii_digit()) {
            return Err(self.unexpected(what));
        }
        let start = self.at;
        size::check_name(text, start)?;
        self.advance(text.len());
        Ok(Name { text: text.to_owned(), span: (start..self.at).into() })
    }

    /// Consumes a token that must come next.
    pub(crate) fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.eat(token) { Ok(()) } else { Err(self.unexpected(&format!("`{token}`"))) }
    }

    /// The diagnostic for an unexpected token.
    pub(crate) fn unexpected(&mut self, wanted: &str) -> Diagnostic {
        let span = self.next_token();
        match &self.text[span.start..span.end] {
            "" => Diagnostic::error(span, format!("the file ends where {wanted} should be")),
            found if found.len() > size::MAX_NAME => {
                Diagnostic::error(span.start..span.start + 1, format!("expected {wanted}"))
            }
            found => Diagnostic::error(span, format!("expected {wanted}, found `{found}`")),
        }
    }

    /// The span of the next word or sign.
    pub(crate) fn next_token(&mut self) -> Span {
        let word = self.look().len();
        let sign = self.peek().map_or(0, char::len_utf8);
        (self.at..self.at + if word > 0 { word } else { sign }).into()
    }

    /// The span from a position to the last non-blank character.
    pub(crate) fn since(&self, start: usize) -> Span {
        let passed = self.text[start..self.at].trim_end();
        (start..start + passed.len()).into()
    }
}
