//! User-defined properties, and which orders of a run's events violate them.
//!
//! A [file](File) contains properties: named events, and a [pattern](linear_pattern) of them that
//! must not occur. After Huang, Luo and Rosu (*`GPredict`: generic predictive concurrency
//! analysis*, ICSE 2015), with events for native programs.

mod action;
mod analysis;
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
mod size;
mod slice;
pub mod syntax;

pub use analysis::{ObservedViolation, PropertyAnalysis, PropertyPrediction};
pub use diagnostic::{Diagnostic, Severity, Span};
pub use event_matcher::Variables;
pub use explanation::EXPLANATION;
pub use file::{File, Property};
pub use limit::{SearchLimits, Truncation};
pub use linear_pattern::{Exclusion, LinearPattern};
pub use monitor::{PropertyViolation, find_violation};
pub use search::PredictedViolation;
pub use slice::{Instance, Occurrence, Slices};
