//! Properties, from their text to what they find in traces.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod golden;
mod kit;
mod language;
mod mistake;
mod oracle;
mod property;
