//! What is known about the functions of Rust's libraries by their names and files.

use norn_model::Location;

/// Where the files of `core`, `alloc` and `std` are: in the debug information of compiled code, and in
/// an installed copy.
const SOURCES: [&str; 2] = ["/rustc/", "/lib/rustlib/src/rust/library/"];
/// Where cargo keeps the sources of dependencies.
const DEPENDENCIES: [&str; 2] = ["/.cargo/registry/src/", "/.cargo/git/checkouts/"];
/// The crates that every program has.
const CRATES: [&str; 3] = ["core::", "alloc::", "std::"];

/// The size of a lock and of a condition variable: one word.
pub(crate) const OBJECT_SIZE: u64 = 4;

/// Whether a frame belongs to the standard library or to a dependency.
pub(crate) fn is_library(frame: &Location) -> bool {
    let Some(file) = frame.file.as_deref() else { return is_runtime_entry(frame) };
    file.starts_with(SOURCES[0])
        || file.contains(SOURCES[1])
        || DEPENDENCIES.iter().any(|it| file.contains(it))
}

/// Functions of the standard library without line information.
fn is_runtime_entry(frame: &Location) -> bool {
    let is_in = |it: &str| CRATES.iter().any(|prefix| it.starts_with(prefix));
    frame.function.as_deref().is_some_and(is_in)
}

/// Whether a function is an operation of an atomic variable.
pub(crate) fn is_atomic_operation(function: &str) -> bool {
    function.starts_with("core::sync::atomic::")
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
        assert!(at("/opt/rust/lib/rustlib/src/rust/library/std/src/thread/mod.rs"));
        assert!(at("/users/me/.cargo/registry/src/index-1949cf8c6b5b557f/flume-0.11.1/src/lib.rs"));
        assert!(!at("/src/bank/main.rs"));
    }

    #[test]
    fn without_a_file_the_name_decides() {
        let named = |function: &str| {
            is_library(&Location { function: Some(function.to_owned()), ..Location::default() })
        };
        assert!(named("alloc::raw_vec::RawVecInner::finish_grow"));
        assert!(!named("bank::transfer"));
    }
}
