//! Fault localization, end to end: flaky programs, from their source to the ranking of patterns.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod campaign;
mod cause;
mod collected;
mod criterion;
mod delays;
mod kit;
mod predicted;
mod ranking;
mod recorded;
mod shared;
mod store;
