//! Builds Rust programs with Norn's hooks, and lists their tests.
//!
//! rustc can insert the same hooks as the compilers of C: those of ThreadSanitizer. Norn's runtime,
//! which `norn cc` links, defines them. [`hook_flags`] has the options of rustc, [`Build`] runs cargo with
//! them, and [`tests`] asks a test program for its tests. This crate prints nothing itself and does not read
//! the environment.

mod build;
mod error;
mod flags;
mod libtest;
mod program;
mod rustc;
mod settings;
mod toolchain;
mod wrapper;

pub use build::{Build, Built, INSIDE_CARGO, is_for_host};
pub use error::CargoError;
pub use flags::environment_flags;
pub use libtest::{Test, tests};
pub use program::Program;
pub use rustc::{BOOTSTRAP, hook_flags};
pub use settings::Settings;
pub use toolchain::{OLDEST_RUSTC, TARGET, Toolchain, check_target};
