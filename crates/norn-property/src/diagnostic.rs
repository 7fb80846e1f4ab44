//! Diagnostics for property files: shown with the source line, a marker and a hint.

use std::{fmt, ops::Range};

/// A range of bytes in the text of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last one.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Span {
        Span { start: range.start, end: range.end }
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The property cannot be used.
    Error,
    /// The property can be used, but probably does not mean what was intended.
    Warning,
}

/// A problem of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its location.
    pub span: Span,
    /// Its severity.
    pub severity: Severity,
    /// Its description.
    pub text: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(span: impl Into<Span>, text: impl Into<String>) -> Diagnostic {
        Diagnostic { span: span.into(), severity: Severity::Error, text: text.into(), hint: None }
    }

    pub(crate) fn warning(span: impl Into<Span>, text: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, text) }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { hint: Some(hint.into()), ..self }
    }

    /// Whether it prevents the property from being used.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The line and the column of its first character, both from 1.
    pub fn place(&self, text: &str) -> (usize, usize) {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    }

    /// Renders the diagnostic with its source line and a marker.
    pub fn show<'a>(&'a self, file: &'a str, text: &'a str) -> impl fmt::Display + 'a {
        Shown { diagnostic: self, file, text }
    }
}

/// Maximum number of characters of a line that are shown before and in the marked text; twice as many
/// behind its beginning.
const WIDTH: usize = 200;

struct Shown<'a> {
    diagnostic: &'a Diagnostic,
    file: &'a str,
    text: &'a str,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown { diagnostic, file, text } = *self;
        let severity = if diagnostic.is_error() { "error" } else { "warning" };
        let (line, column) = diagnostic.place(text);
        let source = text.lines().nth(line - 1).unwrap_or_default();
        let marked = text.get(diagnostic.span.start..diagnostic.span.end).unwrap_or_default();
        let length = marked.lines().next().unwrap_or_default().chars().count().clamp(1, WIDTH);
        // Of a line that no person wrote, only the part around the marker.
        let first = (column - 1).saturating_sub(WIDTH);
        let source: String = source.chars().skip(first).take(3 * WIDTH).collect();
        // Tabs stay tabs, so that the marker is aligned with the marked text.
        let indent: String = source
            .chars()
            .take(column - 1 - first)
            .map(|it| if it == '\t' { it } else { ' ' })
            .collect();
        let margin = " ".repeat(line.to_string().len());
        writeln!(f, "{severity}: {}", diagnostic.text)?;
        writeln!(f, "{margin}--> {file}:{line}:{column}")?;
        writeln!(f, "{margin} |")?;
        writeln!(f, "{line} | {source}")?;
        writeln!(f, "{margin} | {indent}{}", "^".repeat(length))?;
        if let Some(hint) = &diagnostic.hint {
            writeln!(f, "{margin} = hint: {hint}")?;
        }
        Ok(())
    }
}
