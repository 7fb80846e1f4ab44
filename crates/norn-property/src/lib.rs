//! Properties that a person writes for their program, and which orders of a run's events break them.
//!
//! A [file](File) has properties: events by name, and a [pattern](linear_pattern) of them that must not happen. After
//! Huang, Luo and Rosu (*`GPredict`: generic predictive concurrency analysis*, ICSE 2015), with events
//! for native programs.

mod action;
mod cursor;
mod diagnostic;
mod event_matcher;
mod explanation;
mod expression;
mod file;
mod limit;
mod linear_pattern;
mod lint;
mod monitor;
mod parallel;
mod parse;
mod search;
mod slice;
pub mod syntax;
mod watch;

pub use diagnostic::{Diagnostic, Severity, Span};
pub use event_matcher::Variables;
pub use explanation::EXPLANATION;
pub use file::{File, Property};
pub use limit::{Bounds, Limits};
pub use linear_pattern::{Exclusion, LinearPattern};
pub use monitor::{Breach, breach};
pub use search::Prospect;
pub use slice::{Instance, Occurrence, Slices};
pub use watch::{Observed, Outlook, Watch};
