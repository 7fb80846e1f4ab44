//! Hunts, end to end: real programs with real bugs, from their source to what is confirmed.
//!
//! The programs are in `subjects/hunt`, `subjects/deadlock` and `subjects/order`; [`subject`] says how
//! their heads announce what must be found.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod assembly;
mod atomic_set;
mod bad_input;
mod deadlock;
mod iteration;
mod kit;
mod marked;
mod output;
mod pattern;
mod report;
mod subject;
mod suppress;
mod timeout;
