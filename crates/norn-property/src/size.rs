//! Maximum sizes of property files.
//!
//! A property that a person can read is far smaller. Without limits, a file of absurd size would take
//! minutes: some checks compare all events, or all properties, with each other.

use crate::{Diagnostic, Span};

/// Maximum number of properties of a file.
pub(crate) const MAX_PROPERTIES: usize = 256;
/// Maximum number of parameters of a property.
pub(crate) const MAX_PARAMETERS: usize = 32;
/// Maximum number of events of a property, since a set of events is a bit mask.
pub(crate) const MAX_EVENTS: usize = 64;
/// Maximum number of actions of an event, and of its conditions.
pub(crate) const MAX_ACTIONS: usize = 64;
/// Maximum number of events in a pattern, each counted as often as it is named.
pub(crate) const MAX_PATTERN: usize = 64;
/// Maximum length of a name in bytes. The longest names in programs are those of C++ templates.
pub(crate) const MAX_NAME: usize = 4096;
/// Maximum number of errors that are reported.
pub(crate) const MAX_ERRORS: usize = 32;

/// An error if there are more than `limit` of something: "a property has 64 events at most".
pub(crate) fn check(
    count: usize,
    limit: usize,
    (whole, parts): (&str, &str),
    span: impl Into<Span>,
) -> Result<(), Diagnostic> {
    if count <= limit {
        return Ok(());
    }
    let text = format!("{whole} has {limit} {parts} at most");
    Err(Diagnostic::error(span, text).hint("split the property"))
}

/// An error if a name is too long. The error does not repeat it.
pub(crate) fn check_name(name: &str, start: usize) -> Result<(), Diagnostic> {
    if name.len() <= MAX_NAME {
        return Ok(());
    }
    let text = format!("this name has more than {MAX_NAME} bytes");
    Err(Diagnostic::error(start..start + 1, text))
}
