//! Hunts, end to end: real programs with real bugs, from their source to what is confirmed.
//!
//! `tests/subjects` hunts each program of `subjects/`; here is what a hunt says and how.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod assembly;
mod atomic_set;
mod bad_input;
mod deadlock;
mod identity;
mod iteration;
mod jobs;
mod kit;
mod marked;
mod output;
mod pattern;
mod report;
mod same;
mod schema;
mod suppress;
mod timeout;
