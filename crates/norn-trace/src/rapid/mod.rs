//! The text format of [RAPID](https://github.com/umangm/rapid), a framework for dynamic race
//! detection, which calls it STD: one event a line, `thread|operation(operand)|location`.
//!
//! ```text
//! T0|fork(T0.1)|12
//! T0.1|acq(L7f10)|40
//! T0.1|w(V7f20)|41
//! T0.1|rel(L7f10)|42
//! T0|join(T0.1)|13
//! ```
//!
//! RAPID knows reads and writes of variables (`r`, `w`), locks (`acq`, `rel`) and threads (`fork`,
//! `join`). What our events are in these terms, and what has no counterpart, is said in
//! [`export_std`]. Its `begin` and `end` enclose transactions, for analyses of atomicity; they
//! have nothing to do with the beginning and the end of a thread.

mod cell;
mod export;
mod import;
mod life;
mod memory;
mod order;

pub use export::{Exported, Source, export_std};
pub use import::{Imported, StdError, import_std};

#[cfg(test)]
mod tests;
