//! The compilers installed on this machine.

use norn_e2e::tool::is_installed;

/// The commands of one compiler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toolchain {
    /// The C compiler.
    pub(crate) c: &'static str,
    /// The C++ compiler.
    pub(crate) cxx: &'static str,
}

const KNOWN: [Toolchain; 3] = [
    Toolchain { c: "gcc", cxx: "g++" },
    Toolchain { c: "clang-14", cxx: "clang++-14" },
    Toolchain { c: "clang-19", cxx: "clang++-19" },
];

/// All compilers that are installed.
pub(crate) fn toolchains() -> impl Iterator<Item = Toolchain> {
    KNOWN.into_iter().filter(|it| is_installed(it.c))
}

#[test]
fn both_families_are_here() {
    let names: Vec<&str> = toolchains().map(|toolchain| toolchain.c).collect();
    assert!(names.contains(&"gcc"), "these tests need gcc");
    assert!(names.iter().any(|name| name.starts_with("clang")), "these tests need a clang");
}
