//! From traces to schedules.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod deadlock;
mod golden;
mod kit;
mod property;
mod stuck;
mod user;
