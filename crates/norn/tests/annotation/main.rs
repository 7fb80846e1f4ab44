//! ThreadSanitizer's public interface: every entry point can be linked, and means what it means there.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod behaviour;
mod entry_point;
mod kit;
mod link;
