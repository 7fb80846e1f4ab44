//! What is known about the functions of Rust's libraries by their names and files.

use norn_model::Location;

/// Where the files of `core`, `alloc` and `std` are, in the debug information of compiled code.
const COMPILED: [&str; 2] = ["/rustc/", "/rust/deps/"];
/// Where they are in an installed copy.
const INSTALLED: &str = "/lib/rustlib/src/rust/library/";
/// The parts of the standard library that synchronise threads.
const SYNCHRONISATION: [&str; 2] = ["/std/src/sync/", "/std/src/thread/"];
/// Where cargo keeps the sources of dependencies in its folder, which may have any name (`CARGO_HOME`). The names of the folders
/// below end with a hash.
const DEPENDENCIES: [&str; 2] = ["/registry/src/", "/git/checkouts/"];
/// Number of hexadecimal digits of such a hash.
const HASH: usize = 16;
/// The crates that every program has.
const CRATES: [&str; 3] = ["core::", "alloc::", "std::"];
/// What the compiler makes to catch panics; it calls the function of each thread. Optimisation may add a number.
const CATCH: &str = "__rust_try";
/// The entry of C, from which the program's `main` is called.
const ENTRY: &str = "main";

/// The size of a lock and of a condition variable: one word.
pub(crate) const OBJECT_SIZE: u64 = 4;

/// Whether a frame belongs to the standard library or to a dependency.
pub(crate) fn is_library(frame: &Location) -> bool {
    is_of_language(frame) || frame.file.as_deref().is_some_and(is_dependency)
}

/// Whether a frame belongs to the standard library.
pub(crate) fn is_of_language(frame: &Location) -> bool {
    let Some(file) = frame.file.as_deref() else { return is_runtime_entry(frame) };
    COMPILED.iter().any(|it| file.starts_with(it)) || file.contains(INSTALLED)
}

/// Whether a frame belongs to a part of the standard library that synchronises threads, such as channels.
pub(crate) fn is_synchronisation(frame: &Location) -> bool {
    let is_part = |file: &str| SYNCHRONISATION.iter().any(|it| file.contains(it));
    is_of_language(frame) && frame.file.as_deref().is_some_and(is_part)
}

fn is_dependency(file: &str) -> bool {
    let below = DEPENDENCIES.iter().find_map(|it| Some(file.split_once(it)?.1));
    let folder = below.and_then(|it| it.split('/').next());
    let hash = folder.and_then(|it| Some(it.rsplit_once('-')?.1));
    hash.is_some_and(|it| it.len() == HASH && it.bytes().all(|it| it.is_ascii_hexdigit()))
}

/// Functions of the standard library, and those that the compiler makes, without line information.
fn is_runtime_entry(frame: &Location) -> bool {
    let is_in = |it: &str| CRATES.iter().any(|prefix| it.starts_with(prefix));
    frame.function.as_deref().is_some_and(|it| is_in(it) || it.starts_with(CATCH))
}

/// Whether a frame of a Rust program is the function that the compiler makes for the entry of C.
pub(crate) fn is_entry(frame: &Location) -> bool {
    frame.file.is_none() && frame.function.as_deref() == Some(ENTRY)
}

/// Whether a function is an operation of an atomic variable.
pub(crate) fn is_atomic_operation(function: &str) -> bool {
    function.starts_with("core::sync::atomic::")
}

/// Whether a function is a volatile access.
pub(crate) fn is_volatile_operation(function: &str) -> bool {
    let is_access = ["::read_volatile", "::write_volatile"].iter().any(|it| function.ends_with(it));
    function.starts_with("core::ptr::") && is_access
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_libraries_from_the_program() {
        let at = |file: &str| {
            is_library(&Location { file: Some(file.to_owned()), ..Location::default() })
        };
        assert!(at("/rustc/59807616e1fa/library/core/src/sync/atomic.rs"));
        assert!(at("/rust/deps/hashbrown-0.16.1/src/raw/alloc.rs"));
        assert!(at("/opt/rust/lib/rustlib/src/rust/library/std/src/thread/mod.rs"));
        assert!(at("/users/me/.cargo/registry/src/index-1949cf8c6b5b557f/flume-0.11.1/src/lib.rs"));
        assert!(at("/usr/local/cargo/registry/src/index-1949cf8c6b5b557f/spin-0.9.9/src/once.rs"));
        assert!(at("/cargo/git/checkouts/bank-5d1c0a3a6e2f9b47/0a1b2c3/src/lib.rs"));
        assert!(!at("/src/bank/main.rs"));
        assert!(!at("/source/registry/src/main.rs"));
        assert!(!at("/source/registry/src/net-io/main.rs"));
    }

    #[test]
    fn without_a_file_the_name_decides() {
        let named = |function: &str| {
            is_library(&Location { function: Some(function.to_owned()), ..Location::default() })
        };
        assert!(named("alloc::raw_vec::RawVecInner::finish_grow"));
        assert!(named("__rust_try"));
        assert!(!named("bank::transfer"));
        assert!(!named("main"));
    }
}
