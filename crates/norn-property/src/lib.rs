//! Properties that a person writes for their program, and which orders of a run's events break them.
//!
//! A [file](File) has properties: events by name, and a [pattern](word) of them that must not happen. After
//! Huang, Luo and Rosu (*`GPredict`: generic predictive concurrency analysis*, ICSE 2015), with events
//! for native programs.

mod bound;
mod cursor;
mod deed;
mod expression;
mod file;
mod letter;
mod lint;
mod mistake;
mod monitor;
mod parallel;
mod parse;
mod search;
mod slice;
pub mod tree;
mod watch;
mod word;

pub use bound::{Bounds, Limits};
pub use file::{File, Property};
pub use letter::Variables;
pub use mistake::{Mistake, Severity, Span};
pub use monitor::{Breach, breach};
pub use search::Prospect;
pub use slice::{Instance, Occurrence, Slices};
pub use watch::{Observed, Outlook, Watch};
pub use word::{Ban, Word};
