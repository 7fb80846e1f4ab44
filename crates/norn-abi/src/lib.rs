//! What the runtime inside a subject and the tools outside agree on.
//!
//! Six things and nothing else: the kinds of event ([`Kind`]), the shared memory through which
//! a subject hands its events over ([`arena`]), what decides which thread goes next
//! ([`control`]), what comes from outside ([`input`]), which functions' calls are recorded
//! ([`function`]), and the byte form of a thread's events ([`codec`]). The runtime writes with
//! [`codec`]'s encoder, the tools read with its decoder; both live here so that one property test can
//! hold them together.
#![cfg_attr(not(test), no_std)]

pub mod arena;
pub mod codec;
pub mod control;
mod decode;
mod field;
pub mod function;
pub mod input;
mod kind;
pub mod lane;
pub mod peek;

pub use decode::{Decoder, Fault, Record};
pub use kind::{AccessClass, Kind, LockClass, ObjectClass, Shape};

/// Version of everything in this crate. A trace says which one wrote it.
pub const VERSION: u32 = 2;
