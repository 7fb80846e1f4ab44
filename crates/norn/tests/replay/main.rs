//! Forced schedules, end to end: real programs, built by `norn cc`, run by `norn run` and
//! `norn replay`.
//!
//! The programs are in `subjects/replay` and, for [`subject`], in `subjects/control`; the comment at
//! the head of each says what can go wrong in it. [`kit`] builds and runs them.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod batch;
mod claim;
mod clip;
mod destroyed;
mod endless;
mod expect;
mod gdb;
mod identity;
mod input;
mod kit;
mod memory_model;
mod path;
mod schedule;
mod signal;
mod slow;
mod story;
mod strategy;
mod subject;
mod timeout;
mod writers_first;
