//! Optional tools that tests use where they are installed.
//!
//! A developer's machine may lack them: the test then reports what it did not test. Where `CI` is set, a
//! missing tool fails the test instead, because that output is not read there.

use std::{
    env,
    io::{self, Write as _},
    process::Command,
};

/// Whether a program is on the `PATH`. If it is not, that is reported as [`untested`].
#[track_caller]
pub fn is_installed(program: &str) -> bool {
    let found = is_on_path(program);
    if !found {
        untested(&format!("{program} is not installed"));
    }
    found
}

/// Those of some programs that are installed; each missing one is reported as [`untested`].
#[track_caller]
pub fn installed<const N: usize>(programs: [&'static str; N]) -> Vec<&'static str> {
    let mut found = Vec::new();
    for program in programs {
        if is_installed(program) {
            found.push(program);
        }
    }
    found
}

/// Whether a compiler can link programs that use OpenMP. If it cannot, that is reported as [`untested`].
#[track_caller]
pub fn has_openmp(compiler: &str) -> bool {
    if !is_installed(compiler) {
        return false;
    }
    let library = ["-fopenmp", "-shared", "-x", "c", "/dev/null", "-o", "/dev/null"];
    let linked = Command::new(compiler).args(library).output();
    let found = linked.is_ok_and(|it| it.status.success());
    if !found {
        untested(&format!("{compiler} has no library for OpenMP"));
    }
    found
}

/// Reports that something cannot be tested here: an error in continuous integration, a line on standard
/// error, past the capture of the test runner, everywhere else.
#[track_caller]
pub fn untested(reason: &str) {
    assert!(env::var_os("CI").is_none(), "{reason}, and continuous integration tests everything");
    let _ = writeln!(io::stderr(), "not tested: {reason}");
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_searched_on_the_path() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("no-program-has-this-name"));
    }
}
