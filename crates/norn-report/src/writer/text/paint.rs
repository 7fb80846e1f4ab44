//! The styles of texts.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};
use norn_model::Location;

use crate::vocabulary;

const HARMFUL: Style = AnsiColor::Red.on_default().bold();
const HEADLINE: Style = Style::new().bold();
const PLACE: Style = AnsiColor::Cyan.on_default();
const DETAIL: Style = Style::new().dimmed();

/// The headline of a finding.
pub(super) fn headline(text: impl Display, harmful: bool) -> String {
    paint(if harmful { HARMFUL } else { HEADLINE }, text)
}

/// A source location.
pub(super) fn place(location: &Location) -> String {
    places(vocabulary::place(location))
}

/// A source location that is a text already.
pub(super) fn places(text: impl Display) -> String {
    paint(PLACE, text)
}

/// Something that matters less than the rest.
pub(super) fn detail(text: impl Display) -> String {
    paint(DETAIL, text)
}

/// Nothing stays nothing, so that a line without a text has no styles either.
fn paint(style: Style, text: impl Display) -> String {
    let text = text.to_string();
    if text.is_empty() { text } else { format!("{style}{text}{style:#}") }
}
