//! The choice of the compiler.

use std::{ffi::OsString, fs, os::unix::fs::symlink, path::PathBuf, process::Command};

use norn_cc::{CcError, Compiler, Family, Language, Settings, disguise, language_of};
use tempfile::TempDir;

/// Two directories on a `PATH`, with programs that answer `--version`.
#[derive(Debug)]
struct Machine {
    directory: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(machine.path("first")).unwrap();
        fs::create_dir(machine.path("second")).unwrap();
        machine.program("norn", "norn 1.0")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A shell writes the file. If this process wrote it, the child of a test that forks at the
    /// same time would inherit the open descriptor, and `execve` of a file that is open for
    /// writing fails with `ETXTBSY`.
    fn program(self, name: &str, version: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "printf '%s' \"$1\" > \"$0\" && chmod 755 \"$0\""]);
        shell.arg(self.path(name)).arg(format!("#!/bin/sh\necho '{version}'\n"));
        assert!(shell.status().unwrap().success());
        self
    }

    fn link(self, name: &str, target: &str) -> Self {
        symlink(self.path(target), self.path(name)).unwrap();
        self
    }

    fn choose(&self, language: Language, command: Option<&str>) -> Result<Compiler, CcError> {
        let path = std::env::join_paths([self.path("first"), self.path("second")]).unwrap();
        let command = command.map(OsString::from);
        Compiler::choose(language, &Settings { command, path, myself: self.path("norn") })
    }

    fn disguise(&self) -> Vec<String> {
        let path = std::env::join_paths([self.path("first"), self.path("second")]).unwrap();
        let settings = Settings { command: None, path, myself: self.path("norn") };
        let folder = disguise(&self.path("cache"), &settings).unwrap();
        let links = fs::read_dir(folder).unwrap().map(|it| it.unwrap());
        let to_norn = |it: &fs::DirEntry| fs::read_link(it.path()).unwrap() == self.path("norn");
        let mut names: Vec<_> = links
            .inspect(|it| assert!(to_norn(it)))
            .map(|it| it.file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    /// The chosen compiler or the error, without the name of the directory.
    fn check(&self, language: Language, command: Option<&str>) -> String {
        let text = match self.choose(language, command) {
            Ok(compiler) => format!("{:?} {:?}", compiler.family(), compiler.program()),
            Err(error) => error.to_string(),
        };
        text.replace(&self.directory.path().display().to_string(), "$M")
    }
}

#[test]
fn the_first_usual_one_that_is_not_norn() {
    let machine = Machine::new().link("first/cc", "norn").link("first/gcc", "norn");
    insta::assert_snapshot!(machine.check(Language::C, None), @r"
        found no C compiler: none of cc, gcc, clang is on the PATH
        hint: install gcc or clang, or name one with NORN_CC
        ");
    let machine = machine.program("second/clang", "").program("second/clang++", "");
    insta::assert_snapshot!(machine.check(Language::C, None), @r#"Clang ["$M/second/clang"]"#);
    insta::assert_snapshot!(machine.check(Language::Cxx, None), @r#"Clang ["$M/second/clang++"]"#);
    let machine = machine.program("second/gcc-12", "").link("second/cc", "second/gcc-12");
    insta::assert_snapshot!(machine.check(Language::C, None), @r#"Gcc ["$M/second/cc"]"#);
}

#[test]
fn links_of_launchers_are_skipped() {
    let machine = Machine::new().program("second/ccache", "ccache").program("second/gcc", "");
    let machine = machine.link("first/cc", "second/ccache").link("first/gcc", "second/ccache");
    insta::assert_snapshot!(machine.check(Language::C, None), @r#"Gcc ["$M/second/gcc"]"#);
    insta::assert_snapshot!(machine.check(Language::C, Some(" ccache  gcc -m64")), @r#"Gcc ["$M/second/ccache", "$M/second/gcc", "-m64"]"#);
}

#[test]
fn the_family_is_queried_if_no_name_determines_it() {
    let gnu = "cc 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.";
    let machine = Machine::new().program("first/cc", gnu).program("first/icx", "ICX clang based");
    let machine = machine.program("first/tcc", "tcc version 0.9");
    assert_eq!(machine.choose(Language::C, None).unwrap().family(), Family::Gcc);
    assert_eq!(machine.choose(Language::C, Some("icx")).unwrap().family(), Family::Clang);
    insta::assert_snapshot!(machine.check(Language::C, Some("tcc")), @r#"
        cannot tell whether `$M/first/tcc` is a gcc or a clang; its --version begins with "tcc version 0.9"
        hint: Norn works with gcc 12 or later and clang 14 or later; name one with NORN_CC
        "#);
}

#[test]
fn the_requested_compiler_must_exist_and_not_be_norn() {
    let machine = Machine::new().link("first/gcc", "norn").program("second/my gcc", "");
    insta::assert_snapshot!(machine.check(Language::Cxx, Some("g++-99")), @r"
        the program `g++-99` that NORN_CXX names is not there, or may not be executed
        hint: NORN_CXX takes a command such as `gcc-12`, `/opt/llvm/bin/clang` or `ccache gcc`
        ");
    insta::assert_snapshot!(machine.check(Language::C, Some("gcc")), @r"
        NORN_CC names `$M/first/gcc`, which is Norn itself
        hint: it must name the compiler that Norn shall run, such as `gcc` or `clang`
        ");
    let with_blank = machine.path("second/my gcc");
    insta::assert_snapshot!(machine.check(Language::C, with_blank.to_str()), @r#"Gcc ["$M/second/my gcc"]"#);
    insta::assert_snapshot!(machine.check(Language::C, Some("  ")), @r"
        found no C compiler: none of cc, gcc, clang is on the PATH
        hint: install gcc or clang, or name one with NORN_CC
        ");
}

#[test]
fn names_of_compilers_and_of_others() {
    for name in ["cc", "gcc", "gcc-12", "clang", "clang-14", "x86_64-linux-gnu-gcc-12"] {
        assert_eq!(language_of(name.as_ref()), Some(Language::C), "{name}");
    }
    for name in ["c++", "g++", "g++-12", "clang++-14", "x86_64-pc-linux-gnu-c++"] {
        assert_eq!(language_of(name.as_ref()), Some(Language::Cxx), "{name}");
    }
    for name in
        ["norn", "ccache", "gcc-ar-12", "gcc-nm", "c99-gcc", "musl-gcc", "aarch64-linux-gnu-gcc"]
    {
        assert_eq!(language_of(name.as_ref()), None, "{name}");
    }
}

#[test]
fn a_link_for_each_compiler_on_the_path() {
    let machine = Machine::new().program("first/gcc-12", "").program("second/g++", "");
    let machine = machine.program("second/ccache", "").link("second/cc", "second/ccache");
    let machine = machine.program("second/gcc-ar", "").link("second/clang", "norn");
    assert_eq!(machine.disguise(), ["g++", "gcc-12"]);
    let machine = machine.program("second/clang-14", "");
    assert_eq!(machine.disguise(), ["clang-14", "g++", "gcc-12"]);
}
