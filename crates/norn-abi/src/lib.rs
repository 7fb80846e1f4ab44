//! The binary interface between the runtime inside a subject and the tools outside.
//!
//! It has eleven parts: the kinds of event ([`Kind`]), the shared memory through which a subject
//! passes its events ([`arena`]), the control of thread scheduling ([`control`]), recorded and
//! replayed input ([`input`]), recorded function calls ([`function`]), what
//! Rust's standard library does by itself ([`rust_std`]), the flags of lock requests
//! ([`lock`]) and of atomic operations ([`atomic`]), the numbers of signals ([`signal`]), the layout of
//! libc's objects ([`libc_layout`]), and the byte format of a thread's events ([`codec`]). The runtime
//! uses the encoder, the tools use the decoder; both live here so that one property test covers the pair.
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
pub mod rust_std;
pub mod signal;

pub use decode::{Decoder, Fault, Record};
pub use kind::{AccessClass, CODES, Change, Kind, Shape, VERSION};
pub use lock::{LockClass, ObjectClass};

/// What a receive from an object of the kernel depends on: the last argument of [`Kind::Receive`],
/// and the argument of [`Kind::Ready`].
pub mod receipt {
    /// On what was sent first and not received yet.
    pub const NEXT: u64 = 0;
    /// On the end of all that is sent.
    pub const END: u64 = 1;
    /// On what was sent last, received or not: the object has a state and no queue.
    pub const LATEST: u64 = 2;
}
