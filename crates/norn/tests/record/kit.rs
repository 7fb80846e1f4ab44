//! Builds subjects, runs them in three ways and reads their traces.
//!
//! A subject is run three times: built by the plain compiler, built by Norn and run alone, and
//! recorded. Its output and its end must be the same each time, so every test also shows
//! that recording changes nothing.

use std::{
    cell::OnceCell,
    ffi::{OsStr, OsString},
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    rc::Rc,
};

use norn_e2e::{process, subject as subject_list};
pub(crate) use norn_e2e::{
    process::{Ran, finish, kill, run, start},
    tool::{installed, is_installed, untested},
};
use serde_json::Value;
use tempfile::TempDir;

use crate::event::{Event, lines};

/// The program under test.
pub(crate) const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// A subject and how to build and run it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    source: String,
    compiler: Option<&'static str>,
    flags: Vec<&'static str>,
    arguments: Vec<OsString>,
    options: Vec<OsString>,
    compared: bool,
}

/// A recorded run: its trace and the folder in which it ran.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) ran: Ran,
    pub(crate) folder: TempDir,
    first: OnceCell<Rc<[Event]>>,
}

/// Builds, runs and records a subject of `subjects/record`, with nothing special.
pub(crate) fn record(source: &str) -> Recorded {
    subject(source).record()
}

/// A subject of `subjects/record`.
pub(crate) fn subject(source: &str) -> Subject {
    Subject {
        source: source.to_owned(),
        compiler: None,
        flags: Vec::new(),
        arguments: Vec::new(),
        options: Vec::new(),
        compared: true,
    }
}

impl Subject {
    /// Another compiler than gcc, named by its command for C.
    pub(crate) fn compiler(mut self, compiler: &'static str) -> Self {
        self.compiler = Some(compiler);
        self
    }

    /// More flags for the compiler.
    pub(crate) fn flags(mut self, flags: &[&'static str]) -> Self {
        self.flags.extend(flags);
        self
    }

    /// Arguments for the subject. It runs in a fresh folder, so that relative paths are its own.
    pub(crate) fn arguments<S: AsRef<OsStr>>(mut self, arguments: &[S]) -> Self {
        self.arguments.extend(arguments.iter().map(|it| it.as_ref().to_owned()));
        self
    }

    /// Options for `norn record`.
    pub(crate) fn options<S: AsRef<OsStr>>(mut self, options: &[S]) -> Self {
        self.options.extend(options.iter().map(|it| it.as_ref().to_owned()));
        self
    }

    /// The runs are not compared by the kit, but by the test.
    pub(crate) fn not_compared(mut self) -> Self {
        self.compared = false;
        self
    }

    /// Runs it in all three ways and compares.
    pub(crate) fn record(&self) -> Recorded {
        let program = self.build();
        let folder = tempfile::tempdir().unwrap();
        let ran = run(self.recorder(&program, folder.path()));
        if self.compared {
            let native = self.run_native();
            let idle = self.run_alone(&program);
            assert_eq!(native, idle, "{}: native, built by norn but not recorded", self.source);
            assert_eq!(native, ran, "{}: native, recorded", self.source);
        }
        Recorded::new(ran, folder)
    }

    /// The command that records it, in a folder that will hold the trace as well.
    pub(crate) fn recorder(&self, program: &Path, folder: &Path) -> Command {
        let mut command = norn(["record", "-o"]);
        command.arg(folder.join("trace")).args(&self.options);
        command.arg("--").arg(program).args(&self.arguments).current_dir(folder);
        command
    }

    /// Runs the program that the plain compiler builds.
    pub(crate) fn run_native(&self) -> Ran {
        let program = self.compile("native", Command::new(self.command()));
        self.run_alone(&program)
    }

    /// Runs a program with its arguments in a fresh folder.
    pub(crate) fn run_alone(&self, program: &Path) -> Ran {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command.args(&self.arguments).current_dir(folder.path()).env_remove("NORN_ARENA");
        run(command)
    }

    /// The program as Norn builds it.
    pub(crate) fn build(&self) -> PathBuf {
        let (word, variable) = if self.is_cxx() { ("c++", "NORN_CXX") } else { ("cc", "NORN_CC") };
        let mut command = norn([word, "-DHOOKED"]);
        command.env(variable, self.command());
        self.compile("norn", command)
    }

    fn is_cxx(&self) -> bool {
        Path::new(&self.source).extension().is_some_and(|it| it == "cc")
    }

    fn command(&self) -> String {
        match (self.compiler.unwrap_or("gcc"), self.is_cxx()) {
            (c, false) => c.to_owned(),
            ("gcc", true) => "g++".to_owned(),
            (clang, true) => clang.replace("clang", "clang++"),
        }
    }

    /// Compiles once for all tests. An outdated program is replaced atomically, and only once: a program that changes
    /// between its recording and the look-up of its names has no names.
    fn compile(&self, how: &str, mut compiler: Command) -> PathBuf {
        let source = subjects().join(&self.source);
        let command = self.command();
        let words = [&[how, &command, &self.source], &*self.flags].concat();
        let program = place("programs").join(words.join(" ").replace('/', "_"));
        let lock = File::create(program.with_added_extension("lock")).unwrap();
        lock.lock().unwrap();
        if !is_newer(&program, &source) || !is_newer(&program, Path::new(NORN)) {
            let aside =
                tempfile::Builder::new().tempfile_in(place("programs")).unwrap().into_temp_path();
            let new = aside.with_extension("out");
            compiler.args(["-g", "-pthread"]).args(&self.flags).arg(&source).arg("-o").arg(&new);
            let ran = run(compiler);
            assert!(ran.status.success(), "{words:?} does not compile:\n{}", ran.stderr);
            fs::rename(new, &program).unwrap();
        }
        program
    }
}

impl Recorded {
    pub(crate) fn new(ran: Ran, folder: TempDir) -> Self {
        Recorded { ran, folder, first: OnceCell::new() }
    }

    /// The trace's folder.
    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// The events of the first process, read once.
    pub(crate) fn events(&self) -> Rc<[Event]> {
        self.first.get_or_init(|| self.events_of(0).into()).clone()
    }

    /// The events of one process.
    pub(crate) fn events_of(&self, process: u32) -> Vec<Event> {
        let number = process.to_string();
        let ran = self.norn(&["dump", "--format", "json", "--process", &number]);
        assert!(ran.status.success(), "norn dump failed: {}", ran.stderr);
        ran.stdout.lines().map(Event::parse).collect()
    }

    /// The events of the first process, with their call stacks.
    pub(crate) fn events_with_stacks(&self) -> Vec<Event> {
        let ran = self.norn(&["dump", "--format", "json", "--stacks"]);
        assert!(ran.status.success(), "norn dump failed: {}", ran.stderr);
        ran.stdout.lines().map(Event::parse).collect()
    }

    /// The output of `norn info` for a process.
    pub(crate) fn info_of(&self, process: u32) -> Value {
        let number = process.to_string();
        let ran = self.norn(&["info", "--format", "json", "--process", &number]);
        assert!(ran.status.success(), "norn info failed: {}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    }

    /// The output of `norn info` for the first process.
    pub(crate) fn info(&self) -> Value {
        self.info_of(0)
    }

    /// A command of norn with the trace as its last argument.
    pub(crate) fn norn(&self, words: &[&str]) -> Ran {
        let mut command = norn(words);
        command.arg(self.trace());
        run(command)
    }

    /// The synchronisation of one thread, a line for each event.
    pub(crate) fn sync(&self, thread: &str) -> String {
        let events = self.events();
        lines(events.iter().filter(|it| it.thread == thread && it.is_own_sync()))
    }

    /// The events on variables of these names, a line for each event.
    pub(crate) fn on(&self, objects: &[&str]) -> String {
        let events = self.events();
        lines(events.iter().filter(|it| objects.contains(&it.variable())))
    }

    /// The values written to a variable, in the order of the trace.
    pub(crate) fn written(&self, object: &str) -> Vec<u128> {
        written(&self.events(), object)
    }
}

/// The values written to a variable, in the order of the events.
pub(crate) fn written(events: &[Event], object: &str) -> Vec<u128> {
    values(events, "write", object)
}

/// The values of all accesses of one kind to a variable.
pub(crate) fn values(events: &[Event], op: &str, object: &str) -> Vec<u128> {
    let fitting = events.iter().filter(|it| it.op == op && it.variable() == object);
    fitting.map(|it| it.value.unwrap_or_else(|| panic!("no value: {it:?}")).0).collect()
}

/// Compares lines, regardless of their indentation in the test.
#[track_caller]
pub(crate) fn check(actual: &str, expected: &str) {
    let tidy = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    let (actual, expected) = (tidy(actual), tidy(expected));
    assert!(actual == expected, "expected:\n{expected}\n\nrecorded:\n{actual}\n");
}

/// A command of norn. Its runtime is unpacked among the files of these tests.
pub(crate) fn norn<S: AsRef<OsStr>>(words: impl IntoIterator<Item = S>) -> Command {
    process::norn(Path::new(NORN), Path::new(env!("CARGO_TARGET_TMPDIR")), words)
}

/// The folder of the subjects.
pub(crate) fn subjects() -> PathBuf {
    subject_list::subjects().join("record")
}

/// A folder that stays from test to test.
fn place(name: &str) -> PathBuf {
    process::folder(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("record"), name)
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|it| it.modified()).ok();
    changed(file).is_some_and(|it| Some(it) > changed(than))
}
