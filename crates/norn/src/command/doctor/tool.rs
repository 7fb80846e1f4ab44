//! Programs that norn runs: compilers and gdb.

use std::process::Command;

use super::{Check, Level};

/// A compiler that norn can use.
struct Compiler {
    program: &'static str,
    /// The oldest version that works.
    oldest: u32,
    /// The language that it compiles.
    language: Language,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
}

const COMPILERS: [Compiler; 4] = [
    Compiler { program: "gcc", oldest: 12, language: Language::C },
    Compiler { program: "g++", oldest: 12, language: Language::Cxx },
    Compiler { program: "clang", oldest: 14, language: Language::C },
    Compiler { program: "clang++", oldest: 14, language: Language::Cxx },
];

pub(super) fn checks() -> Vec<Check> {
    let found = COMPILERS.map(|it| {
        let version = version(it.program);
        (it, version)
    });
    let usable = |language: Language| {
        let mut fitting = found.iter().filter(|(it, _)| it.language == language);
        fitting.any(|(it, version)| version.as_ref().is_some_and(|that| is_new(that, it.oldest)))
    };
    let mut checks: Vec<_> = found
        .iter()
        .map(|(compiler, version)| {
            compiler_check(compiler, version.as_deref(), usable(compiler.language))
        })
        .collect();
    checks.push(gdb());
    checks
}

fn check(name: &'static str, found: impl Into<String>) -> Check {
    Check::ok("tools", name, found)
}

/// `has_other`: whether some compiler of the language is usable, so that this one need not be.
fn compiler_check(compiler: &Compiler, version: Option<&str>, has_other: bool) -> Check {
    let Compiler { program, oldest, language } = compiler;
    let (what, level) = match language {
        Language::C => ("C", Level::Problem),
        Language::Cxx => ("C++", Level::Warning),
    };
    let hint = format!("to compile {what}, install gcc 12 or clang 14, or a newer one");
    match version {
        Some(version) if is_new(version, *oldest) => check(program, version),
        Some(version) => {
            let check = check(program, format!("{version} is too old"));
            let hint = format!("norn needs {program} {oldest} or newer");
            check.bad(if has_other { Level::Warning } else { level }, hint)
        }
        None if has_other => check(program, "not installed, and not needed"),
        None => check(program, "not installed").bad(level, hint),
    }
}

fn gdb() -> Check {
    match version("gdb") {
        Some(version) => check("gdb", version),
        None => check("gdb", "not installed")
            .bad(Level::Warning, "`norn replay --gdb` needs it; all else works without"),
    }
}

/// The version of a program, from the first line that it prints.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    number(text.lines().next()?).map(str::to_owned)
}

/// The last word that is a version: distributions put their own in parentheses before it.
fn number(line: &str) -> Option<&str> {
    let is_version = |it: &&str| it.starts_with(|it: char| it.is_ascii_digit()) && it.contains('.');
    line.split_whitespace().rfind(is_version)
}

fn is_new(version: &str, oldest: u32) -> bool {
    let major = version.split('.').next().and_then(|it| it.parse::<u32>().ok());
    major.is_some_and(|it| it >= oldest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed() {
        assert_eq!(number("gcc (Debian 12.2.0-14+deb12u1) 12.2.0"), Some("12.2.0"));
        assert_eq!(number("Debian clang version 14.0.6"), Some("14.0.6"));
        assert_eq!(number("GNU gdb (Debian 13.1-3) 13.1"), Some("13.1"));
        assert_eq!(number("no version here"), None);
        assert!(is_new("12.2.0", 12) && !is_new("11.4.0", 12));
    }

    #[test]
    fn one_compiler_is_enough() {
        let [gcc, gxx, clang, _] = &COMPILERS;
        assert_eq!(compiler_check(gcc, Some("12.2.0"), true).level, Level::Ok);
        assert_eq!(compiler_check(clang, None, true).level, Level::Ok);
        assert_eq!(compiler_check(clang, Some("11.0.1"), true).level, Level::Warning);
        assert_eq!(compiler_check(gcc, None, false).level, Level::Problem);
        assert_eq!(compiler_check(gxx, None, false).level, Level::Warning);
    }
}
