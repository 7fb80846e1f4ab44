//! Compiles a program as `norn cc` does, with several compilers and levels of optimisation, and names its
//! lines by their comments.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use norn_binary::Module;
use norn_cargo::{BOOTSTRAP, hook_flags};
use norn_e2e::tool::installed;
use norn_model::{PotentialFailure, PotentialFailureKind};
use norn_sites::{Conditions, FailureSites, Options};

/// A read: its line, by the comment there, and its distance.
pub(crate) type Read = (String, u32);

/// A program that was compiled in one way.
pub(crate) struct Compiled {
    flags: String,
    pub(crate) sites: Vec<PotentialFailure>,
    conditions: Conditions,
    places: Vec<Place>,
}

/// The function and the line of an address.
struct Place {
    pc: u64,
    function: String,
    comment: String,
}

const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];
/// Position-independent code and other code have different tables.
const MODELS: [&[&str]; 2] = [&["-fPIC", "-shared"], &["-fno-pie", "-no-pie"]];

/// The C program, compiled in all ways, once for all tests.
pub(crate) fn c() -> &'static [Compiled] {
    static C: OnceLock<Vec<Compiled>> = OnceLock::new();
    C.get_or_init(|| matrix("sites.c", &installed(["gcc", "clang-14"])))
}

/// The C++ program.
pub(crate) fn cxx() -> &'static [Compiled] {
    static CXX: OnceLock<Vec<Compiled>> = OnceLock::new();
    CXX.get_or_init(|| matrix("sites.cc", &installed(["g++", "clang++-14"])))
}

/// The Rust program, with the hooks of `norn rustc`.
pub(crate) fn rust() -> &'static [Compiled] {
    static RUST: OnceLock<Vec<Compiled>> = OnceLock::new();
    RUST.get_or_init(|| LEVELS.iter().map(|it| compile_rust("sites.rs", it)).collect())
}

fn compile_rust(program: &str, level: &str) -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("program");
    let mut command = Command::new("rustc");
    command.env(BOOTSTRAP.0, BOOTSTRAP.1).args(hook_flags(Path::new("cc")));
    // A library may lack the hooks. Overflow is checked at all levels, as in a debug build.
    command.args(["--edition=2024", "--crate-type=cdylib", "-Coverflow-checks=on"]);
    command.arg(level.replace("-O", "-Copt-level="));
    run(command.arg("-o").arg(&output).arg(source(program)));
    analyse(&output, program, format!("rustc {level}"))
}

fn matrix(program: &str, compilers: &[&str]) -> Vec<Compiled> {
    let mut all = Vec::new();
    for compiler in compilers {
        for level in LEVELS {
            all.extend(MODELS.iter().map(|it| compile(program, compiler, level, it)));
        }
    }
    all
}

/// Compiles a program in one way, into a folder.
pub(crate) fn one(folder: &Path, program: &str) -> PathBuf {
    let compiler = installed(["gcc", "clang-14"])[0];
    compile_file(folder, program, (compiler, "-O1"), MODELS[0])
}

fn compile_file(
    folder: &Path,
    program: &str,
    (compiler, level): (&str, &str),
    model: &[&str],
) -> PathBuf {
    let output = folder.join("program");
    let mut command = Command::new(compiler);
    command.args(["-g", "-fsanitize=thread", level]).args(model);
    if compiler.starts_with("clang") {
        command.args([
            "-fno-sanitize-link-runtime",
            "-mllvm",
            "-tsan-instrument-read-before-write=1",
        ]);
        command.args(["-mllvm", "-tsan-distinguish-volatile=1"]);
    } else {
        command.args(["--param=tsan-distinguish-volatile=1", "-Wno-tsan"]);
    }
    let hooks = folder.join("hooks.o");
    run(Command::new(compiler)
        .args(["-c", "-fPIC", "-x", "c", "-o"])
        .arg(&hooks)
        .arg(source("hooks.c")));
    run(command.arg("-o").arg(&output).arg(source(program)).arg(&hooks));
    output
}

fn compile(program: &str, compiler: &str, level: &str, model: &[&str]) -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    let output = compile_file(folder.path(), program, (compiler, level), model);
    analyse(&output, program, format!("{compiler} {level} {}", model[0]))
}

/// The failure sites of a compiled program.
fn analyse(output: &Path, program: &str, flags: String) -> Compiled {
    let module = Module::open(output).unwrap();
    let FailureSites { sites, conditions } = FailureSites::find(&module, &Options::default());
    let text = fs::read_to_string(source(program)).unwrap();
    let reads = sites.iter().flat_map(|it| it.reads.iter().map(|it| it.pc));
    let pcs = sites.iter().map(|it| it.pc).chain(reads);
    let places = pcs.map(|pc| place(&module, pc, &text)).collect();
    Compiled { flags, sites, conditions, places }
}

fn run(command: &mut Command) {
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {errors}");
}

fn place(module: &Module, pc: u64, text: &str) -> Place {
    // Functions of headers, as for atomic variables in C++, may be inlined.
    let frames = module.frames(pc - 1);
    let frame = frames.last().cloned().unwrap_or_default();
    let line = frame.line.and_then(|it| text.lines().nth(it as usize - 1)).unwrap_or_default();
    let comment = line.rsplit_once("// ").map_or(line, |it| it.1);
    let function = frame.function.as_deref().unwrap_or_default().to_owned();
    Place { pc, function, comment: comment.trim().to_owned() }
}

fn source(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program)
}

impl Compiled {
    /// The reads of the failure sites in a line.
    pub(crate) fn reads(&self, kind: PotentialFailureKind, comment: &str) -> Vec<Read> {
        self.reads_of(kind, |it| it.comment == comment)
    }

    /// The reads of the failure sites in a function.
    pub(crate) fn reads_in(&self, kind: PotentialFailureKind, function: &str) -> Vec<Read> {
        self.reads_of(kind, |it| it.function == function)
    }

    /// The reads of all failure sites of a kind.
    pub(crate) fn all_reads(&self, kind: PotentialFailureKind) -> Vec<Read> {
        self.reads_of(kind, |_| true)
    }

    fn reads_of(&self, kind: PotentialFailureKind, is_there: impl Fn(&Place) -> bool) -> Vec<Read> {
        let sites = self.sites.iter().filter(|it| it.kind == kind && is_there(self.place(it.pc)));
        let reads = sites.flat_map(|it| &it.reads);
        reads.map(|it| (self.place(it.pc).comment.clone(), it.distance)).collect()
    }

    /// Whether the failure sites in a line fail if the reads in lines saw these values.
    pub(crate) fn fails(
        &self,
        kind: PotentialFailureKind,
        comment: &str,
        seen: &[(&str, u64)],
    ) -> Vec<Option<bool>> {
        let read = |pc: u64| {
            let place = self.places.iter().find(|it| it.pc == pc)?;
            seen.iter().find(|it| it.0 == place.comment).map(|it| it.1)
        };
        let there = |pc: u64| self.places.iter().any(|it| it.pc == pc && it.comment == comment);
        let conditions = self.conditions.iter().filter(|it| it.0.1 == kind && there(it.0.0));
        conditions.map(|it| it.1.evaluate(&read)).collect()
    }

    fn place(&self, pc: u64) -> &Place {
        self.places.iter().find(|it| it.pc == pc).unwrap()
    }

    /// Whether the compiler did not optimise.
    pub(crate) fn is_unoptimised(&self) -> bool {
        self.flags.contains("-O0")
    }

    /// Expects reads in all these lines.
    #[track_caller]
    pub(crate) fn has(&self, reads: &[Read], comments: &[&str]) {
        for comment in comments {
            let found = reads.iter().any(|it| it.0 == *comment);
            assert!(found, "{self}: no read in `{comment}`: {reads:?}");
        }
    }

    /// Expects no reads in these lines.
    #[track_caller]
    pub(crate) fn lacks(&self, reads: &[Read], comments: &[&str]) {
        for comment in comments {
            let found = reads.iter().any(|it| it.0 == *comment);
            assert!(!found, "{self}: a read in `{comment}`: {reads:?}");
        }
    }
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.flags)
    }
}
