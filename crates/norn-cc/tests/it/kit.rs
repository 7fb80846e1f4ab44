//! A directory to compile in, and a stub runtime that counts the hooks.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use object::{Object as _, ObjectSymbol as _};
use tempfile::TempDir;

use crate::toolchain::Toolchain;

/// The path of the wrapper program.
const ALONE: &str = env!("CARGO_BIN_EXE_norn-cc-alone");

/// A directory in which to compile with one compiler.
#[derive(Debug)]
pub(crate) struct Kit {
    directory: TempDir,
    toolchain: Toolchain,
    image: Option<PathBuf>,
}

/// The output and exit status of a process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The exit status; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
}

impl Kit {
    /// Uses the stub runtime that counts hooks.
    pub(crate) fn new(toolchain: Toolchain) -> Self {
        Self::build(toolchain, Some(stub_image().to_owned()))
    }

    /// Uses Norn's own runtime.
    pub(crate) fn embedded(toolchain: Toolchain) -> Self {
        Self::build(toolchain, None)
    }

    fn build(toolchain: Toolchain, image: Option<PathBuf>) -> Self {
        // Spaces in paths must work, and commas in the path of the cache.
        let directory = tempfile::Builder::new().prefix("norn cc").tempdir().unwrap();
        fs::create_dir(directory.path().join("bin")).unwrap();
        for name in ["norn-cc", "norn-c++"] {
            symlink(ALONE, directory.path().join("bin").join(name)).unwrap();
        }
        Self { directory, toolchain, image }
    }

    /// The path of a file in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file and creates its parent directories.
    pub(crate) fn file(&self, name: &str, text: &str) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Runs a shell script in which `$CC` and `$CXX` are the wrapper. It must succeed.
    pub(crate) fn sh(&self, script: &str) -> Ran {
        let ran = self.try_sh(script);
        assert_eq!(
            ran.code,
            Some(0),
            "{}: {script}\n{}{}",
            self.toolchain.c,
            ran.stdout,
            ran.stderr
        );
        ran
    }

    /// Runs a shell script that may fail.
    pub(crate) fn try_sh(&self, script: &str) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(self.directory.path());
        shell.env("CC", "norn-cc").env("CXX", "norn-c++").env("LC_ALL", "C");
        shell.env("REAL_CC", self.toolchain.c).env("REAL_CXX", self.toolchain.cxx);
        shell.env("NORN_CC", self.toolchain.c).env("NORN_CXX", self.toolchain.cxx);
        shell.env("NORN_TEST_CACHE", self.path("a, cache"));
        shell.env("CCACHE_DIR", self.path("ccache"));
        shell.env("PATH", self.path_variable());
        match &self.image {
            Some(image) => shell.env("NORN_TEST_IMAGE", image),
            None => shell.env_remove("NORN_TEST_IMAGE"),
        };
        Ran::from(shell.output().unwrap())
    }

    /// Builds without any diagnostic, then runs `./program`, which must contain Norn's runtime.
    pub(crate) fn build_and_run(&self, script: &str) -> Ran {
        let built = self.sh(script);
        assert_eq!(built.stderr, "", "{}: {script}", self.toolchain.c);
        assert_no_libtsan(&self.path("program"));
        self.sh("./program")
    }

    fn path_variable(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", self.path("bin").display())
    }
}

impl Ran {
    /// The value of one of the stub's counters.
    pub(crate) fn count(&self, counter: &str) -> u32 {
        let mut words = self.stderr.split_ascii_whitespace().rev();
        let value = words.find_map(|word| word.strip_prefix(counter)?.strip_prefix('='));
        value
            .unwrap_or_else(|| panic!("the runtime did not report {counter}: {self:?}"))
            .parse()
            .unwrap()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self { stdout, stderr, code: output.status.code() }
    }
}

/// Asserts that ThreadSanitizer's own runtime is neither linked nor a dynamic dependency.
pub(crate) fn assert_no_libtsan(program: &Path) {
    let data = fs::read(program).unwrap();
    assert!(!data.windows(7).any(|bytes| bytes == b"libtsan"), "{} has libtsan", program.display());
    for name in symbols(program) {
        // Functions of the library itself; its public entry points are the runtime's, too.
        let foreign = ["_ZN6__tsan", "_ZN11__sanitizer", "__interceptor_", "___interceptor_"];
        assert!(!foreign.iter().any(|start| name.starts_with(start)), "{name} is not ours");
    }
}

/// The names of all symbols of a file, dynamic or not.
pub(crate) fn symbols(file: &Path) -> Vec<String> {
    let data = fs::read(file).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let symbols = file.symbols().chain(file.dynamic_symbols());
    symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// The symbols that a file exports to libraries loaded later.
pub(crate) fn exported(file: &Path) -> Vec<String> {
    let data = fs::read(file).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let symbols = file.dynamic_symbols().filter(object::ObjectSymbol::is_definition);
    symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
}

/// The stub runtime that counts hooks, compiled once for all tests.
fn stub_image() -> &'static Path {
    static IMAGE: OnceLock<TempDir> = OnceLock::new();
    IMAGE.get_or_init(compile_stub).path()
}

fn compile_stub() -> TempDir {
    let image = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/stub.c");
    for (define, object) in [("-DNORN_DYNAMIC", "dynamic.o"), ("-DNORN_STATIC", "static.o")] {
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-fPIC", define, "-c"])
            .arg(&source)
            .arg("-o")
            .arg(image.path().join(object));
        assert!(gcc.status().unwrap().success());
    }
    let defined = |name: &String| name.starts_with("__tsan_") || name == "pthread_mutex_lock";
    let names = symbols(&image.path().join("dynamic.o")).into_iter().filter(defined);
    fs::write(image.path().join("exported.txt"), names.collect::<Vec<_>>().join("\n")).unwrap();
    fs::write(image.path().join("wrapped.txt"), "pthread_mutex_lock\n").unwrap();
    image
}
