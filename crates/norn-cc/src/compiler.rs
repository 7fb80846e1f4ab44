//! Chooses the compiler to run and determines its family.
//!
//! The families accept the same flags for most purposes, but not for Norn's, so every command
//! line depends on the family. The name usually determines it (`x86_64-linux-gnu-g++-12`),
//! otherwise the target of a symbolic link (`cc`). Only as a last resort is the compiler run with
//! `--version`: a build calls the wrapper thousands of times, and each query costs a process.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    CcError,
    program::{Found, is_launcher, search},
};

/// The language that a compiler driver assumes for files whose name does not determine one, and
/// whose libraries it links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C: `norn cc`.
    C,
    /// C++: `norn c++`.
    Cxx,
}

/// The two kinds of compiler that Norn works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// GNU C and C++, version 12 or later.
    Gcc,
    /// LLVM's C and C++, version 14 or later.
    Clang,
}

/// The input of [`Compiler::choose`], which uses no other information about the environment.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The compiler that the user asks for: the value of `NORN_CC` or `NORN_CXX`. It is either the
    /// path of a program or a list of words: launchers such as `ccache`, a compiler and its flags.
    pub command: Option<OsString>,
    /// The value of `PATH`.
    pub path: OsString,
    /// The path of Norn's own program, which is never chosen under any name.
    pub myself: PathBuf,
}

/// A compiler to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    program: Vec<OsString>,
    family: Family,
}

impl Compiler {
    /// Chooses the compiler that the user asks for, or the first of the usual ones on the `PATH`.
    pub fn choose(language: Language, settings: &Settings) -> Result<Self, CcError> {
        let words = match settings.command.as_deref().map(words).filter(|words| !words.is_empty()) {
            Some(words) => words,
            None => vec![default_program(language, settings)?],
        };
        let at = words.iter().position(|word| !is_launcher(Path::new(word))).unwrap_or(0);
        let (launchers, rest) = words.split_at(at);
        let compiler = resolve(&rest[0], language, settings)?;
        let mut program = Vec::with_capacity(words.len());
        for launcher in launchers {
            program.push(resolve(launcher, language, settings)?.into_os_string());
        }
        program.push(compiler.clone().into_os_string());
        program.extend_from_slice(&rest[1..]);
        Ok(Self { program, family: family(compiler, language)? })
    }

    /// A compiler whose command and family are already known.
    pub fn new(program: Vec<OsString>, family: Family) -> Self {
        Self { program, family }
    }

    /// The command that runs it: launchers, the compiler, flags that the user asks for.
    pub fn program(&self) -> &[OsString] {
        &self.program
    }

    /// Whether it links the C++ library by default: the names of such compilers contain `++`.
    pub(crate) fn links_cxx(&self) -> bool {
        let name = |word| Path::new(word).file_name().unwrap_or_default();
        let is_cxx = |word| name(word).as_encoded_bytes().windows(2).any(|pair| pair == b"++");
        self.program.iter().any(is_cxx)
    }

    /// Whether it is a gcc or a clang.
    pub fn family(&self) -> Family {
        self.family
    }
}

impl Language {
    /// The environment variable with which a user selects the compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Self::C => "NORN_CC",
            Self::Cxx => "NORN_CXX",
        }
    }

    fn usual_names(self) -> &'static [&'static str] {
        match self {
            Self::C => &["cc", "gcc", "clang"],
            Self::Cxx => &["c++", "g++", "clang++"],
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C",
            Self::Cxx => "C++",
        })
    }
}

/// A command that is the path of an existing file is one word even if the path contains spaces;
/// any other command is split at white space.
fn words(command: &OsStr) -> Vec<OsString> {
    if Path::new(command).is_file() {
        return vec![command.to_owned()];
    }
    let words = command.as_bytes().split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty()).map(|word| OsStr::from_bytes(word).to_owned()).collect()
}

fn default_program(language: Language, settings: &Settings) -> Result<OsString, CcError> {
    let tried = language.usual_names();
    tried
        .iter()
        .find_map(|name| match search(OsStr::new(name), settings) {
            Found::Program(path) => Some(path.into_os_string()),
            Found::Itself(_) | Found::Nothing => None,
        })
        .ok_or(CcError::NoCompiler { language, tried })
}

fn resolve(word: &OsStr, language: Language, settings: &Settings) -> Result<PathBuf, CcError> {
    match search(word, settings) {
        Found::Program(path) => Ok(path),
        Found::Itself(program) => Err(CcError::Itself { language, program }),
        Found::Nothing => {
            Err(CcError::NotFound { language, program: word.to_string_lossy().into_owned() })
        }
    }
}

fn family(compiler: PathBuf, language: Language) -> Result<Family, CcError> {
    if let Some(family) = family_of_name(&compiler) {
        return Ok(family);
    }
    if let Some(family) = compiler.canonicalize().ok().and_then(|path| family_of_name(&path)) {
        return Ok(family);
    }
    let version = version(&compiler);
    family_of_version(&version).ok_or_else(|| CcError::UnknownFamily {
        language,
        program: compiler,
        version: version.lines().next().unwrap_or_default().to_owned(),
    })
}

/// `clang++` ends in `g++`, so the test for clang comes first.
fn family_of_name(program: &Path) -> Option<Family> {
    let name = program.file_name()?.to_string_lossy();
    if name.contains("clang") {
        Some(Family::Clang)
    } else if name.contains("gcc") || name.contains("g++") {
        Some(Family::Gcc)
    } else {
        None
    }
}

fn family_of_version(version: &str) -> Option<Family> {
    if version.contains("clang") {
        Some(Family::Clang)
    } else if version.contains("Free Software Foundation") {
        Some(Family::Gcc)
    } else {
        None
    }
}

/// The output of `--version`; empty if the compiler cannot be run.
fn version(compiler: &Path) -> String {
    Command::new(compiler)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}
