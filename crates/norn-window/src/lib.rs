//! The windows of shared variables: which interleaving patterns a run shows.
//!
//! Follows Park, Vuduc and Harrold, *Falcon: Fault Localization in Concurrent Programs* (ICSE 2010):
//! a small window with the last accesses of each shared variable, from which conflicting pairs and
//! unserializable triples are read ([`record`], [`drain`]). The same code runs in two places: in the
//! analysis of traces (`norn-localize`), and inside a running program ([`Shadow`]), where it finds the
//! patterns while they happen.
//!
//! The memory of the second one is given as slices of atomic words, since it is shared between
//! threads, and with the process that reads the result. So this crate has no `unsafe` code, allocates
//! nothing, and its tests need neither a runtime nor a program.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
#![expect(
    clippy::cast_possible_truncation,
    reason = "words have 64 bits, and so have positions; halves of words are taken on purpose"
)]

mod access;
mod ancestry;
pub mod back_off;
mod fast_path;
pub mod granule;
mod pattern_table;
mod shadow;
mod shared;
mod stored_window;
mod window;
mod word;

pub use access::{Access, AccessKind, Match, Moment, PatternKind};
pub use ancestry::{Ancestry, LAST_EPOCH, Link};
pub use pattern_table::FoundPattern;
pub use shadow::{LEAF_WORDS, REGION, Shadow};
pub use shared::{Counter, Shared};
pub use stored_window::StoredAccess;
pub use window::{Slots, drain, record};
pub use word::ThreadWord;

/// The default number of accesses that a window has room for, as in the paper.
pub const WINDOW: usize = 5;
/// The smallest window: the longest pattern has this many accesses.
pub const MIN_WINDOW: usize = 3;
/// The largest window.
pub const MAX_WINDOW: usize = 64;
