//! The logic of Norn's compiler wrapper.
//!
//! A user who runs `CC="norn cc" CXX="norn c++" make` gets the usual program with two
//! differences: its memory accesses call the hooks that compilers insert for ThreadSanitizer, and
//! the program contains Norn's runtime instead of ThreadSanitizer's. The wrapper runs the real
//! compiler exactly once, keeps every argument of the user in its place, and adds its own.
//!
//! One call of the wrapper becomes one call of the compiler in three steps:
//!
//! 1. [`Compiler::choose`] finds the compiler to run and whether it is a gcc or a clang.
//! 2. [`RuntimeDir::install`] makes sure that the runtime is on disk.
//! 3. [`command_line`] determines from the arguments what the call produces and returns the
//!    command to run.
//!
//! The caller then replaces its process by that command (`execve`), so the build sees the
//! compiler's own output, exit status and signals. This crate prints nothing, does not read the
//! environment and keeps no state.

mod argument;
mod command;
mod compiler;
mod disguise;
mod error;
mod invocation;
mod layout;
mod program;
mod response;
mod runtime;
mod sanitizer;

pub use command::command_line;
pub use compiler::{Compiler, Family, Language, Settings};
pub use disguise::{compiler_link, disguise, language_of};
pub use error::CcError;
pub use layout::HEADER_TEXT as HEADER;
pub use runtime::{RuntimeDir, RuntimeImage};
