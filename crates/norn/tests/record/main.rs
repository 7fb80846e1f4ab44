//! Recording, end to end: real programs, built by `norn cc`, run by `norn record`, read by
//! `norn dump` and `norn info`.
//!
//! The programs are in `subjects/record`; the comment at the head of each says which events it
//! must leave. One file here per family of events; [`kit`] builds, runs and compares.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod access;
mod atomic;
mod bad_input;
mod behaviour;
mod build;
mod cxx;
mod death;
mod event;
mod function;
mod heap_types;
mod hot_path;
mod kit;
mod libc;
mod local;
mod lock;
mod memory;
mod order;
mod process;
mod reading;
mod sent;
mod signal;
mod subject;
mod sync;
mod thread;
mod value;
