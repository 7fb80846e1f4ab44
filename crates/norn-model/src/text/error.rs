//! Errors of the text notation.

use std::fmt;

use thiserror::Error;

use crate::OpKind;

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What was expected there.
    pub expected: &'static str,
    /// What was found there; empty at the end of the line.
    pub found: String,
    /// The keyword of the line, if it has a valid one.
    pub verb: Option<&'static str>,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError { line, column, expected, found, verb } = self;
        write!(f, "line {line}, column {column}: expected {expected}, found ")?;
        match found.as_str() {
            "" => write!(f, "the end of the line")?,
            found => write!(f, "`{found}`")?,
        }
        match verb.and_then(OpKind::from_keyword) {
            Some(kind) => {
                let form = format!("{} {}", kind.keyword(), kind.operands());
                write!(f, "\nhint: THREAD {}", form.trim())
            }
            None => write!(f, "\nhint: THREAD VERB ... [@ PLACE], as in `T0 w x 5 @ file.c:12`"),
        }
    }
}
