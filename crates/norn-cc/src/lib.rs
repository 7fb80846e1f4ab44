//! The logic of Norn's compiler wrapper.
//!
//! Somebody writes `CC="norn cc" CXX="norn c++" make` and gets the program they always got, with
//! two differences: its memory accesses call the hooks that compilers insert for
//! ThreadSanitizer, and Norn's runtime stands where ThreadSanitizer's would. The wrapper runs the
//! real compiler exactly once, with every argument of the user in its place, and adds its own.
//!
//! The way from one call to the other:
//!
//! 1. [`Compiler::choose`] finds the compiler to run and whether it is a gcc or a clang.
//! 2. [`RuntimeDir::install`] makes sure that the runtime is on disk.
//! 3. [`command_line`] understands from the arguments what comes out of the call, and returns
//!    the command to run.
//!
//! The caller then replaces itself by that command, so the compiler's output, its exit status
//! and its signals are its own. Nothing in here prints, reads the environment or keeps a state.

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
pub use disguise::{disguise, language_of};
pub use error::CcError;
pub use layout::HEADER_TEXT as HEADER;
pub use runtime::{RuntimeDir, RuntimeImage};
