//! Rules that a person writes for their program, and which orders of a run's events break them.
//!
//! A [file](File) has properties: events by name, and a [pattern](word) of them that must not happen. After
//! Huang, Luo and Rosu (*GPredict: generic predictive concurrency analysis*, ICSE 2015), with events
//! for native programs.

mod cursor;
mod deed;
mod expression;
mod file;
mod glob;
mod lint;
mod mistake;
mod parse;
pub mod tree;
mod word;

pub use file::{File, Rule};
pub use glob::Glob;
pub use mistake::{Mistake, Severity, Span};
pub use word::{Ban, Word};
