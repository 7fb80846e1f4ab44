//! Builds Rust programs with Norn's hooks.
//!
//! rustc can insert the same hooks as the compilers of C: those of ThreadSanitizer. Norn's runtime,
//! which `norn cc` links, defines them. [`hook_flags`] has the options of rustc.

mod rustc;

pub use rustc::{BOOTSTRAP, hook_flags};
