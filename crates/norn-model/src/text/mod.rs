//! A short text notation for traces: every test is written in it.
//!
//! It has one event per line, in the order in which they happened:
//!
//! ```text
//! # a comment
//! T0 fork T0.1
//! T0.1 acq m
//! T0.1 w x 5 @ file.c:12
//! T0.1 rel m
//! T0 acq l read tried
//! T0 r x+4:2 0x1f
//! ```
//!
//! A line is a thread's [name](crate::ThreadName), a keyword, its operands, and optionally the
//! place in the code. [`OpKind`](crate::OpKind) has all keywords. Objects have names, each with
//! memory of its own in which `x+4` is 4 bytes further; or they are addresses, `0x7f00`. An access
//! has 4 bytes unless `:8` says otherwise, and an unknown value if none is given. Numbers are
//! decimal or hexadecimal. A `return` without a function is that of a signal handler, one without a
//! value is by an exception. An atomic operation is sequentially consistent unless an ordering is
//! given.
//!
//! As in a recording, only synchronisation has sequence numbers, unless the first line says
//! `order global`. An event without a place is at a site of its own. Call stacks, program counters
//! and gaps between sequence numbers cannot be written.

mod call;
mod error;
mod line;
mod parse;
mod print;
mod word;

pub use error::ParseError;
pub use parse::parse;
pub use print::{Shown, print, show};
pub use word::Word;

/// The size of an access whose text does not give one, in bytes.
const SIZE: u64 = 4;

#[cfg(test)]
mod tests;
