//! From traces to schedules.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod exact;
mod golden;
mod kit;
mod property;
mod rule;
mod user;
