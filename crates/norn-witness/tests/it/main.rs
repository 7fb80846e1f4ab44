//! Tests of engines, checker and minimiser on traces.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod built_in;
mod cancel;
mod cut;
mod deadlock;
mod exact;
mod golden;
mod kit;
mod memory_model;
mod order;
mod property;
mod relevance;
mod rule;
mod stolen_wakeup;
mod stuck;
mod timeout;
mod user;
