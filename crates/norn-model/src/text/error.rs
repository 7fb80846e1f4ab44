//! What is wrong with a text that should be a trace.

use std::fmt;

use thiserror::Error;

use super::FORMS;

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ParseError {
    /// Which line, from 1.
    pub line: usize,
    /// Which character of it, from 1.
    pub column: usize,
    /// What would be right there.
    pub expected: &'static str,
    /// What is there; empty at the end of the line.
    pub found: String,
    /// The verb of the line, if it is one.
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
        let form = FORMS.iter().find(|(it, _)| Some(*it) == *verb);
        match form {
            Some((verb, needs)) => write!(f, "\nhint: THREAD {}", format!("{verb} {needs}").trim()),
            None => write!(f, "\nhint: THREAD VERB ... [@ PLACE], as in `T0 w x 5 @ file.c:12`"),
        }
    }
}
