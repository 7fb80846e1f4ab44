//! Validates a schedule against thread, lock, wait and barrier semantics, and grades it.
//!
//! The engines of `norn-witness` propose schedules; this crate decides. It shares no code with
//! them and depends on `norn-model` alone (`cargo xtask tidy` enforces that), so that a mistake in
//! an engine cannot also hide in the check of its result. It simulates a schedule event by event
//! and asks of each event whether the synchronisation semantics allow it in the current state. A
//! schedule that breaks one of these [rules](Rule) is refused. Values are different: if a read
//! sees another value than in the recorded run, and its thread continues in the schedule, the
//! program may branch differently. Such a schedule is possible but speculative.
#![deny(clippy::wildcard_enum_match_arm)]

mod baseline;
mod check;
mod fact;
mod future;
mod happens_before;
mod heap;
mod memory;
mod rule;
mod schedule;
mod snapshot;
mod sorted_map;
mod source;
mod state;
mod stuck_check;

pub use check::{Checker, check_apart};
pub use rule::{Refusal, Rule};
pub use schedule::{Deviation, Grade, Turn, events, events_from};
