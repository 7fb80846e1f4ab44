//! From traces to schedules.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod golden;
mod kit;
mod order;
mod property;
mod user;
