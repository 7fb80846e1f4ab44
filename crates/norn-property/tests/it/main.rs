//! Tests of properties, from their text to their violations in traces.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod diagnostic;
mod golden;
mod kit;
mod language;
mod oracle;
mod property;
