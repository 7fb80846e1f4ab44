//! The vocabulary of Norn: threads, sites, events, candidates.
//!
//! Plain data. Nothing here reads files, knows a format on disk or starts threads, so every stage
//! can speak it and none needs to know another. [`Trace`] is a whole run in memory; [`text`] is
//! how people, and all tests, write one down.

mod candidate;
mod event;
mod held;
mod ids;
mod merge;
mod stack;
mod symbol;
pub mod text;
mod trace;

pub use candidate::{Access, Anomaly, Candidate, Scope, Step};
pub use event::{
    AtomicOp, Event, LockMode, Object, Op, Order, Ordering, Outcome, RmwOp, Value, WokenBy,
};
pub use held::Held;
pub use ids::{EventId, SiteId, StackId, ThreadId, ThreadName};
pub use merge::{Merged, Start, Stream};
pub use stack::{Frame, Stacks};
pub use symbol::Symbols;
pub use trace::{Role, Site, Thread, Trace};
