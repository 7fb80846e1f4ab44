//! For tests only: every order that the events of a tiny trace can have, found by trying all of
//! them, and traces to try it on: random tiny ones, long ones, and those of papers.
//!
//! Nothing here is fast, and nothing is shared with the code that it checks.

mod example;
mod long;
mod machine;
mod memory;
mod oracle;
mod program;
mod workload;

pub use example::FIGURE_3;
pub use long::{long, nested};
pub use machine::{Machine, State};
pub use oracle::Oracle;
pub use program::{Shape, traces};
pub use workload::{Question, Workload};
