//! A short notation for traces, in which people can write them and all tests do.
//!
//! One event a line, in the order in which they happened:
//!
//! ```text
//! # what begins with # is a comment
//! T0 fork T0.1
//! T0.1 acq m
//! T0.1 w x 5 @ file.c:12
//! T0.1 rel m
//! T0 acq l read tried
//! T0 r x+4:2 0x1f
//! ```
//!
//! A line is a thread's [name](crate::ThreadName), a verb, what the verb needs, and perhaps the
//! place in the code. [`FORMS`] has all verbs. Objects have names, each with memory of its own in
//! which `x+4` is 4 bytes further; or they are addresses, `0x7f00`. An access has 4 bytes unless
//! `:8` says otherwise, and an unknown value if none is given. Numbers are decimal or hexadecimal.
//! A `return` without a function is that of a signal handler, one without a value is by an exception.
//! An atomic operation is sequentially consistent unless an ordering is given.
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

/// The verbs and what they need. Brackets mark what can be left out, bars a choice.
pub const FORMS: &[(&str, &str)] = &[
    ("begin", "[STACK SIZE]"),
    ("end", ""),
    ("fork", "THREAD"),
    ("join", "THREAD"),
    ("detach", "THREAD"),
    ("cancel", "THREAD"),
    ("handler", "SIGNAL"),
    ("acq", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied]"),
    ("acqfail", "LOCK [mutex|spin|read|write] [tried|timed|ownerdied] ERROR"),
    ("rel", "LOCK [mutex|spin|read|write]"),
    ("waitrel", "LOCK"),
    ("wait", "COND LOCK"),
    ("wake", "COND LOCK [by THREAD:INDEX|any COUNT|timeout|error ERROR]"),
    ("signal", "COND"),
    ("broadcast", "COND"),
    ("arrive", "BARRIER"),
    ("pass", "BARRIER [serial]"),
    ("post", "SEMAPHORE"),
    ("down", "SEMAPHORE"),
    ("downfail", "SEMAPHORE ERROR"),
    ("oncebegin", "ONCE"),
    ("onceend", "ONCE [failed]"),
    ("oncedone", "ONCE"),
    ("r", "OBJECT[:SIZE] [VALUE] [volatile]"),
    ("w", "OBJECT[:SIZE] [VALUE] [volatile]"),
    ("load", "OBJECT[:SIZE] VALUE [ORDERING]"),
    ("store", "OBJECT[:SIZE] VALUE [ORDERING]"),
    ("exchange", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("add", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("sub", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("and", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("or", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("xor", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("nand", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("cas", "OBJECT[:SIZE] OLD NEW [ORDERING]"),
    ("casfail", "OBJECT[:SIZE] SEEN EXPECTED [ORDERING]"),
    ("fence", "[relaxed|consume|acquire|release|acqrel|seqcst]"),
    ("before", "OBJECT"),
    ("after", "OBJECT"),
    ("alloc", "OBJECT SIZE"),
    ("free", "OBJECT"),
    ("map", "OBJECT SIZE"),
    ("unmap", "OBJECT SIZE"),
    ("init", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key [DETAIL]"),
    ("destroy", "OBJECT mutex|spin|rwlock|cond|barrier|semaphore|key"),
    ("call", "FUNCTION([ARGUMENT, ...])"),
    ("return", "[FUNCTION [-> VALUE]]"),
    ("mark", "NAME OBJECT"),
    ("region", "begin|end"),
    ("sleep", "NANOSECONDS"),
    ("yield", ""),
    ("procfork", "PROCESS"),
    ("exec", ""),
    ("exit", "STATUS"),
    ("abort", ""),
];

/// Bytes of an access that does not say how many it has.
const SIZE: u64 = 4;

#[cfg(test)]
mod tests;
