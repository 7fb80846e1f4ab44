//! The wrapper with real compilers.
//!
//! Most tests use a stub of a runtime that counts the hooks it sees ([`kit::Kit`]), so that what
//! they say about linking does not depend on Norn's own; [`embedded`] is about that one. Every
//! test runs with gcc and with all clangs there are.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod build_system;
mod choose;
mod embedded;
mod install;
mod kit;
mod library;
mod probe;
mod program;
mod toolchain;
