//! From one trace to the concurrency bugs that other orders of its events allow.
//!
//! [`predict`] runs [analyses], each of which finds candidates of one class of bugs. Most search for
//! [patterns](Pattern) of accesses. They follow Huang and Zhang (*Persuasive prediction of concurrency
//! access anomalies*, ISSTA 2011): two accesses can be reordered if they are not ordered and hold
//! no common lock. This is an intentional over-approximation; `norn-witness` and the program decide
//! what is feasible.
//!
//! Two passes scan a trace. The [outline](outline) contains everything but plain accesses; the
//! [order](order) of events and the [lock sets](lockset) are derived from it. Then the accesses to
//! memory that several threads [share](shared_filter) are [collected](access), sorted by variable
//! and [searched](pattern_match). All of this is in the [facts], which the analyses share.

#![deny(clippy::wildcard_enum_match_arm)]

mod access;
mod analysis;
mod benign_order;
mod benign_race;
mod combination;
mod concurrent_filter;
mod condition_wait;
mod content;
mod critical_read;
mod dangerous_pair;
mod facts;
mod failure_condition;
mod freed;
mod granule_history;
mod happens_before;
mod interval;
mod life;
mod linear_order;
mod lockset;
mod minimal_sets;
mod options;
mod order;
mod outline;
mod pattern;
mod pattern_match;
mod pattern_search;
mod predict;
mod reads_from;
mod region;
mod relevance;
mod section;
mod semaphore;
mod shared_filter;
mod spin;
mod spin_order;
mod thinning;
mod timed_receive;
mod timestamp;
mod top_k;
mod two_region_match;
mod unit;
mod variable_pairs;
mod violation_groups;
mod visibility;
mod wait_check;

pub use analysis::{AnalysisInfo, KindInfo, TitleNames, analyses, title};
pub use benign_order::BenignOrder;
pub use critical_read::{CriticalReads, Danger, Sight, Stake};
pub use failure_condition::ConditionResult;
pub use happens_before::HappensBefore;
pub use options::Options;
pub use pattern::{Action, BUILT_IN, Pattern, PatternError, Slot};
pub use predict::{Limits, Prediction, predict};
pub use region::Region;
pub use relevance::Relevance;
pub use thinning::{Thinning, ThinningState};
pub use variable_pairs::AtomicSet;
pub use violation_groups::Remark;
