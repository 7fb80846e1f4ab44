//! The options with which rustc inserts hooks.
//!
//! The options that begin with `-Z` are for nightly compilers, and a stable one accepts them if
//! [`BOOTSTRAP`] is set. They concern code generation only, so programs behave as on stable.

use std::{ffi::OsString, path::Path};

/// The environment variable, and its value, that makes a stable rustc accept unstable options.
pub const BOOTSTRAP: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// Options for every crate of a program.
///
/// - The hooks are inserted, and the runtime of ThreadSanitizer is not linked (`external-clangrt`).
/// - The standard library was compiled without hooks. rustc refuses to mix both kinds of crates unless it
///   is told to, because other sanitizers change the layout of objects; this one does not.
/// - By default LLVM omits the hook for a read that a write to the same address follows (`x += 1`).
/// - 16 bytes before each function and 2 in it are reserved for calls of the runtime, as in C.
/// - Calls name the called function, instead of a slot with its address that is read earlier: what the runtime
///   redirects is a call in a certain function.
/// - Programs keep debug information: in optimised builds cargo removes it from them, unless the profile asks for it,
///   and without it neither the locks that the compiler inlined nor the names of variables are known.
/// - The symbol tells the runtime that the program has Rust's standard library, whose locks it replaces.
const FLAGS: [&str; 9] = [
    "-Cdebuginfo=2",
    "-Cstrip=none",
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    "-Zpatchable-function-entry=18,16",
    "-Zplt=yes",
    "-Clink-arg=-Wl,--defsym=norn_rust_std=1",
];

/// The options that make rustc insert hooks, and link programs by `linker`, which must behave like
/// `norn cc`.
pub fn hook_flags(linker: &Path) -> Vec<OsString> {
    let mut link = OsString::from("-Clinker=");
    link.push(linker);
    FLAGS.iter().map(OsString::from).chain([link]).collect()
}
