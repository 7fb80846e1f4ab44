//! The programs in `subjects/`, and what their heads announce.
//!
//! Every subject with a bug has a fixed twin beside it, `name_fixed.c`. The head of the subject says
//! what must be found: `// Finds: atomicity on balance; assertion` is a class, words of which one is in
//! the name of an accessed variable, and a consequence. Subjects that were not written for hunts only
//! announce the consequence of the bug: `// Consequence: assertion, the balance is wrong`. The consequence
//! `different output` is that the program prints something else, and does not fail. Options that
//! a subject must be compiled with are in its head, too: `// Flags: -std=c++20`. A twin may include its
//! subject with `FIXED` defined; in Rust, with `// Flags: --cfg fixed`.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Folders with subjects that are hunted.
pub const HUNTED: [&str; 16] = [
    "hunt",
    "deadlock",
    "order",
    "channel",
    "signal",
    "libc",
    "control",
    "memory",
    "progress",
    "cxx20",
    "openmp",
    "misuse",
    "descriptor",
    "annotation",
    "failures",
    "rust",
];

/// Folders with programs that no constant of the product was fitted to, except to those of the first one:
/// they are for choosing, and the others only measure the result.
pub const VALIDATION: [&str; 2] = ["validation/choose", "validation/final"];

/// Folders whose subjects depend on what the compiler makes of them, and are hunted with clang, too.
pub const HUNTED_WITH_CLANG: [&str; 2] = ["cxx20", "openmp"];

/// The compilers of GNU.
pub const GCC: Build = Build { cc: "gcc", cxx: "g++", level: "-O1" };
/// The compilers of LLVM.
pub const CLANG: Build = Build { cc: "clang-14", cxx: "clang++-14", level: "-O1" };

/// The suffix of the name of a fixed twin.
const TWIN: &str = "_fixed";

/// How a subject is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    /// The compiler for C.
    pub cc: &'static str,
    /// The compiler for C++.
    pub cxx: &'static str,
    /// The level of optimization.
    pub level: &'static str,
}

impl Build {
    /// The same compilers at another level of optimization.
    #[must_use]
    pub fn at(self, level: &'static str) -> Build {
        Build { level, ..self }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.cc, self.level)
    }
}

/// A subject, or a fixed twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// `hunt/account`.
    pub name: String,
    /// Its source.
    pub source: PathBuf,
    /// What must be found; nothing in a twin.
    pub announced: Option<Announced>,
}

/// What must be found in a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The class, and words of which one is in the name of a variable. Missing for subjects that only
    /// announce a consequence.
    pub bug: Option<(String, Vec<String>)>,
    /// The consequence of the bug.
    pub consequence: String,
}

impl Subject {
    /// All subjects of a folder, each followed by its twin, by name.
    pub fn all(folder: &str) -> Vec<Subject> {
        let entries = fs::read_dir(subjects().join(folder)).unwrap();
        let mut sources: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
        sources.sort();
        let mut subjects = Vec::new();
        for source in sources {
            let Some(twin) = twin(&source).filter(|it| it.exists()) else { continue };
            let announced = Announced::read(&fs::read_to_string(&source).unwrap());
            let announced =
                announced.unwrap_or_else(|| panic!("{} announces nothing", source.display()));
            subjects.push(Subject::new(folder, source, Some(announced)));
            subjects.push(Subject::new(folder, twin, None));
        }
        assert!(!subjects.is_empty(), "no subjects in `{folder}`");
        subjects
    }

    fn new(folder: &str, source: PathBuf, announced: Option<Announced>) -> Subject {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        Subject { name: format!("{folder}/{stem}"), source, announced }
    }

    /// The folder of the subject, as in [`HUNTED`].
    pub fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |it| it.0)
    }

    /// The name of the subject that this is or is the twin of, without its folder.
    pub fn base_name(&self) -> &str {
        let stem = self.name.rsplit('/').next().unwrap_or_default();
        stem.strip_suffix(TWIN).unwrap_or(stem)
    }

    /// How it is usually compiled: Rust as `cargo test` does, without optimization.
    pub fn usual_build(&self) -> Build {
        if self.folder() == "rust" { GCC.at("-O0") } else { GCC }
    }

    /// The clip beside its source that makes it fail (`fail`) or not (`pass`).
    pub fn clip(&self, which: &str) -> PathBuf {
        self.source.with_extension(format!("{which}.json"))
    }

    /// The command that compiles it to `program`; `norn` begins a command line of the tool. A part that
    /// must not be instrumented, `name_lib.c`, is compiled by the plain compiler first, into a library
    /// beside the program.
    pub fn compile(&self, norn: Command, program: &Path, build: Build) -> Command {
        let mut command = norn;
        if self.source.extension().is_some_and(|it| it == "rs") {
            command.args(["rustc", "--edition=2024", "-Cdebug-assertions=on"]);
            // The last level counts: a subject may have its own.
            command.arg(build.level.replace("-O", "-Copt-level=")).args(flags(&self.source));
            command.arg(&self.source).arg("-o").arg(program);
            return command;
        }
        let is_cxx = self.source.extension().is_some_and(|it| it == "cc");
        command.arg(if is_cxx { "c++" } else { "cc" }).args(["-g", build.level, "-pthread"]);
        command.args(flags(&self.source));
        command.env("NORN_CC", build.cc).env("NORN_CXX", build.cxx);
        command.arg(&self.source).arg("-o").arg(program);
        let part = self.source.with_file_name(format!("{}_lib.c", self.base_name()));
        if part.exists() {
            let library = program.with_extension("so");
            let mut plain = Command::new(build.cc);
            plain.args(["-g", "-shared", "-fPIC", "-pthread"]).arg(part).arg("-o").arg(&library);
            assert!(plain.status().unwrap().success(), "{plain:?}");
            command.arg(library);
        }
        command
    }
}

impl Announced {
    /// Reads the head of a subject.
    pub fn read(text: &str) -> Option<Announced> {
        let head = |word: &str| text.lines().find_map(|it| it.strip_prefix(word));
        if let Some(line) = head("// Finds: ") {
            let (what, consequence) = line.split_once("; ")?;
            let (class, variables) = what.split_once(" on ")?;
            let variables = variables.split(", ").map(str::to_owned).collect();
            let bug = Some((class.to_owned(), variables));
            return Some(Announced { bug, consequence: consequence.to_owned() });
        }
        let line = head("// Consequence: ")?;
        let consequence = line.split([',', ';', '(', '.']).next().unwrap_or(line).trim().to_owned();
        Some(Announced { bug: None, consequence })
    }

    /// Whether the program must fail. If not, its output varies, which is no failure in itself.
    pub fn is_failure(&self) -> bool {
        self.consequence != "different output"
    }

    /// Whether a consequence in a report is the announced one. A program that hangs may do so by
    /// waiting or by spinning.
    pub fn is_consequence(&self, consequence: &Value) -> bool {
        let name = consequence.as_object().and_then(|it| it.keys().next().map(String::as_str));
        let name = name.or(consequence.as_str()).unwrap_or("?");
        match &*self.consequence {
            "crash" => name == "signal",
            "hang" => ["deadlock", "livelock"].contains(&name),
            "uncaught exception" => name == "exception",
            "double free" => consequence["memory"] == "double-free",
            "use after free" => consequence["memory"] == "use-after-free",
            announced => name == announced,
        }
    }
}

/// The options that the head of a source requires.
fn flags(source: &Path) -> Vec<String> {
    let text = fs::read_to_string(source).unwrap();
    let line = text.lines().find_map(|it| it.strip_prefix("// Flags: "));
    line.into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect()
}

/// The folder of all subjects.
pub fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects")
}

/// The path of the fixed twin of a source.
fn twin(source: &Path) -> Option<PathBuf> {
    let extension = source.extension().and_then(|it| it.to_str());
    let extension = extension.filter(|it| ["c", "cc", "rs"].contains(it))?;
    let stem = source.file_stem()?.to_str()?;
    Some(source.with_file_name(format!("{stem}{TWIN}.{extension}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn heads_are_parsed() {
        let announced = Announced::read("// A.\n// Finds: atomic-set on x, y; deadlock\n").unwrap();
        let bug = ("atomic-set".to_owned(), vec!["x".to_owned(), "y".to_owned()]);
        assert_eq!(announced, Announced { bug: Some(bug), consequence: "deadlock".to_owned() });
        let announced = Announced::read("// Consequence: double free, at the end.\n").unwrap();
        assert_eq!(announced, Announced { bug: None, consequence: "double free".to_owned() });
        assert_eq!(Announced::read("int x;"), None);
    }

    #[test]
    fn consequences_are_compared_by_kind() {
        let is = |announced: &str, consequence: Value| {
            let announced = Announced { bug: None, consequence: announced.to_owned() };
            announced.is_consequence(&consequence)
        };
        assert!(is("assertion", json!({"assertion": "x"})));
        assert!(is("hang", json!("livelock")));
        assert!(is("double free", json!({"memory": "double-free"})));
        assert!(!is("double free", json!({"memory": "bad-free"})));
        assert!(!is("deadlock", json!("none")));
    }

    #[test]
    fn every_hunted_subject_has_a_twin() {
        for folder in HUNTED.into_iter().chain(VALIDATION) {
            let subjects = Subject::all(folder);
            for pair in subjects.chunks(2) {
                assert_eq!(pair[1].name, format!("{}{TWIN}", pair[0].name));
                assert!(pair[0].announced.is_some() && pair[1].announced.is_none());
            }
            let twins = fs::read_dir(super::subjects().join(folder)).unwrap().filter(|it| {
                let name = it.as_ref().unwrap().file_name().into_string().unwrap();
                name.split('.').next().unwrap().ends_with(TWIN)
            });
            assert_eq!(twins.count() * 2, subjects.len(), "a twin of nothing in {folder}");
        }
    }
}
