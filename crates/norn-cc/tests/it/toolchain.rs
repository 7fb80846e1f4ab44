//! The compilers on this machine.

use std::{
    env,
    io::{self, Write as _},
    sync::Once,
};

/// The commands of one compiler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toolchain {
    /// For C.
    pub(crate) c: &'static str,
    /// For C++.
    pub(crate) cxx: &'static str,
}

const KNOWN: [Toolchain; 4] = [
    Toolchain { c: "gcc", cxx: "g++" },
    Toolchain { c: "clang-14", cxx: "clang++-14" },
    Toolchain { c: "clang-19", cxx: "clang++-19" },
    Toolchain { c: "clang", cxx: "clang++" },
];

/// All compilers that are here. Those that are not are named in the output of the tests.
pub(crate) fn toolchains() -> impl Iterator<Item = Toolchain> {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        for missing in KNOWN.iter().filter(|toolchain| !is_there(toolchain.c)) {
            tell(&format!("not tested, since it is not installed: {}", missing.c));
        }
    });
    KNOWN.into_iter().filter(|toolchain| is_there(toolchain.c))
}

/// Whether a program is on the `PATH`. If not, tests that need it should [`tell`].
pub(crate) fn is_there(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Whether an optional program is on the `PATH`; its absence shows in the output of the tests.
pub(crate) fn is_there_or_tell(program: &str) -> bool {
    let there = is_there(program);
    if !there {
        tell(&format!("not tested, since it is not installed: {program}"));
    }
    there
}

/// Says something that the test runner does not swallow.
fn tell(text: &str) {
    io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

#[test]
fn both_families_are_here() {
    let names: Vec<&str> = toolchains().map(|toolchain| toolchain.c).collect();
    assert!(names.contains(&"gcc"), "these tests need gcc");
    assert!(names.iter().any(|name| name.starts_with("clang")), "these tests need a clang");
}
