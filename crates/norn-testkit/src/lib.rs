//! For tests only: a brute-force oracle that enumerates every order of the events of a tiny trace,
//! and traces to test with: random tiny ones, long ones, and those of papers.
//!
//! The oracle shares no code with the engines and the checker that it is compared with; all of them
//! read the meaning of an operation from [`norn_model::Op::effect`].
#![deny(clippy::wildcard_enum_match_arm)]

mod example;
mod happens_before;
mod litmus;
mod long;
mod machine;
mod memory;
mod oracle;
mod program;
mod workload;

pub use example::FIGURE_3;
pub use happens_before::Relation;
pub use litmus::{outcomes, runs};
pub use long::{long, nested};
pub use machine::{Machine, MachineState};
pub use oracle::Oracle;
pub use program::{Shape, traces};
pub use workload::{Question, Workload};
