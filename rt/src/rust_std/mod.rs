//! The synchronisation of Rust's standard library; see [`norn_abi::rust_std`].
//!
//! When a Rust program starts, the recorder lists the calls of hooks and functions by which its code
//! locks, waits and notifies, and the runtime redirects them to the functions of this folder. They do what
//! `std` does, to the same words of memory, so that code of `std` that was not redirected can use the same
//! objects. They record what it means, and in a controlled run they wait in the scheduler.
//!
//! Locks of other crates are enclosed where their methods begin ([`method`]); see [`lock_api`].
//!
//! The words and their values are those of `std` from version 1.84 on; those of `Mutex`, `RwLock` and
//! `Condvar` are the same since 1.62.

mod barrier;
pub mod compiled;
mod condvar;
mod futex;
mod inlined_lock;
mod lock_api;
mod merged;
mod method;
mod mutex;
mod once;
mod park;
mod parking_lot;
mod redirect;
mod rwlock;
mod rwlock_state;
mod scope;

pub use redirect::{install, is_used};
