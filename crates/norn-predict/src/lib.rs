//! From one trace to the anomalies that other orders of its events allow.
//!
//! [`predict`] looks for [patterns](Pattern) of accesses. It follows Huang and Zhang (*Persuasive
//! prediction of concurrency access anomalies*, ISSTA 2011): two accesses can change places if
//! nothing orders them and no common lock keeps them apart. That allows too much, by intention;
//! what is really possible is for `norn-witness` and for the program to say.
//!
//! A trace is gone over twice. The [outline](outline) has what threads do besides reading and
//! writing; from it come [order](order) and [lock sets](lockset). Then the accesses to memory that
//! is really [shared](sieve) are [taken down](access), sorted by variable and [searched](search).

mod access;
mod atomic;
mod barrier;
mod clock;
mod content;
mod couple;
mod deadlock;
mod general;
mod group;
mod handoff;
mod interval;
mod keep;
mod life;
mod lifetime;
mod lockset;
mod moment;
mod must;
mod order;
mod outline;
mod pattern;
mod predict;
mod region;
mod search;
mod section;
mod semaphore;
mod sieve;
mod spin;
mod steal;
mod teardown;
mod timeout;
mod unit;
mod usage;
mod violation;
mod weave;

pub use couple::AtomicSet;
pub use handoff::HandOff;
pub use must::MustOrder;
pub use pattern::{BUILT_IN, Deed, Pattern, PatternError, Slot};
pub use predict::{Limits, Options, Prediction, predict};
pub use region::Region;
pub use violation::Remark;
