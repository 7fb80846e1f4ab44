//! Tests of the wrapper with real compilers.
//!
//! Most tests use a stub runtime that counts the hooks it sees ([`kit::Kit`]), so that their
//! results about linking do not depend on Norn's own runtime, which [`embedded`] tests. Every test
//! runs with gcc and with all installed versions of clang.
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
