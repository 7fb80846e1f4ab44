//! From a candidate to a schedule that makes it happen, or the reason why there is none.
//!
//! An [`Engine`] proposes a schedule; [`Checker`], which is a crate of its own and shares no code
//! with any engine, accepts and grades it against the trace; [`Minimiser`] makes it short.
//! [`Witnesses`] does all three. A schedule is a list of [turns](Turn) from the start of the
//! program to the last event of the candidate. After that the program runs freely.
#![deny(clippy::wildcard_enum_match_arm)]

mod checkpoint;
mod deadlock_schedule;
mod engine;
mod exact;
mod hybrid;
mod link;
mod minimise;
mod recorded_order;
mod simulator;
mod skeleton_builder;
mod sync_skeleton;
mod unordered_race;
mod witness;

pub use engine::{Engine, Infeasible, Proposals};
pub use exact::{Exact, Limits};
pub use hybrid::Hybrid;
pub use minimise::Minimiser;
pub use norn_checker::{Checker, Grade, Refusal, Rule, Turn, events};
pub use witness::{Decider, Engines, Failure, Witness, WitnessOptions, Witnesses};
