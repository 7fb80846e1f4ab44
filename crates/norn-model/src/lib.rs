//! The vocabulary of Norn: threads, sites, events.
//!
//! Plain data. Nothing here reads files, knows a format or starts threads, so every stage can
//! speak it and none needs to know another.

mod event;
mod ids;

pub use event::{
    AtomicOp, Event, LockMode, Object, Op, Order, Ordering, Outcome, RmwOp, Value, WokenBy,
};
pub use ids::{EventId, SiteId, StackId, ThreadId, ThreadName};
