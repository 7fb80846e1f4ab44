//! Hunts, end to end: real programs with real bugs, from their source to confirmed findings.
//!
//! `tests/subjects` hunts each program of `subjects/`; these tests are about reports and options.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod assembly;
mod atomic_set;
mod bad_input;
mod cmake;
mod deadlock;
mod endless;
mod failures;
mod few_executions;
mod fix;
mod identity;
mod imported;
mod interrupt;
mod iteration;
mod jobs;
mod kit;
mod marked;
mod memory_model;
mod output;
mod pattern;
mod report;
mod reproduce;
mod same;
mod shared;
mod sparse;
mod status;
mod stream;
mod suppress;
mod timeout;
