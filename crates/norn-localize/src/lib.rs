//! Fault localization: which interleaving pattern makes runs of a program fail.
//!
//! Follows Park, Vuduc and Harrold, *Falcon: Fault Localization in Concurrent Programs* (ICSE 2010).
//! A [`Collector`] reads the events of one run and keeps the patterns that occurred in it: one small
//! [window](Window) for each shared variable. [`Evidence`] counts in how many failing and passing
//! runs each pattern occurred, and ranks the patterns for each kind of failure by how well they
//! separate the two ([`Formula`]).
//!
//! Nothing here reads files or starts programs: events come in, rankings go out.

mod collect;
mod evidence;
mod fork_join;
mod interval;
mod pattern;
mod score;
mod settle;
mod variable;
mod window;

pub use collect::{Collected, Collector, Occurrence};
pub use evidence::{Cluster, Evidence, Ranked};
pub use interval::Interval;
pub use norn_window::{AccessKind, MAX_WINDOW, MIN_WINDOW, PatternKind, WINDOW};
pub use pattern::Pattern;
pub use score::{Counts, Formula};
pub use settle::{MIN_FAILED, MIN_PASSED, is_settled};
pub use window::{Access, Window};
