//! What the runtime inside a subject and the tools outside agree on.
//!
//! Nine things and nothing else: the kinds of event ([`Kind`]), the shared memory through which a
//! subject hands its events over ([`arena`]), what decides which thread goes next ([`control`]),
//! what comes from outside ([`input`]), which functions' calls are recorded ([`function`]), how
//! locks and atomic operations are requested ([`lock`], [`atomic`]), where libc keeps what we need ([`libc_layout`]), and the byte
//! form of a thread's events ([`codec`]). The runtime writes with [`codec`]'s encoder, the tools
//! read with its decoder; both live here so that one property test can hold them together.
#![cfg_attr(not(test), no_std)]

// First, since the other modules use its macro.
#[macro_use]
mod kind;

pub mod arena;
pub mod atomic;
pub mod codec;
pub mod control;
mod decode;
mod field;
pub mod function;
pub mod input;
pub mod lane;
pub mod libc_layout;
pub mod lock;
pub mod peek;

pub use decode::{Decoder, Fault, Record};
pub use kind::{AccessClass, CODES, Change, Kind, Shape, VERSION};
pub use lock::{LockClass, ObjectClass};
