//! Properties, from their text to what they find in traces.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod diagnostic;
mod golden;
mod kit;
mod language;
mod oracle;
mod property;
