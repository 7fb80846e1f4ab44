//! The modules in which a schedule has points, and where in their code events can be.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use norn_binary::{Call, Frame, Module};
use norn_model::{Class, Point};

use crate::{Clip, PROGRAM, ReplayError, class};

/// The modules of a clip, by their labels.
#[derive(Debug)]
pub struct Codes(pub(crate) BTreeMap<String, Code>);

/// One module.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) path: PathBuf,
    /// Whether it is the very file with which the clip was made.
    pub(crate) same: bool,
    module: Module,
    /// Where events can be. Only looked for when a person's words must be understood: that takes
    /// a walk through all of the code.
    calls: OnceLock<Vec<(Call, Arc<[Frame]>)>>,
}

impl Codes {
    /// Opens the modules of a clip.
    pub fn open(clip: &Clip) -> Result<Codes, ReplayError> {
        let mut codes = BTreeMap::new();
        for (label, listed) in &clip.modules {
            let known = listed.path.as_ref().filter(|it| label != PROGRAM || it.exists());
            let path = match known {
                Some(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
                None => program(&clip.command, clip.directory.as_deref())?,
            };
            codes.insert(label.clone(), Code::open(path, listed.build.as_deref())?);
        }
        if !codes.contains_key(PROGRAM) {
            let path = program(&clip.command, clip.directory.as_deref())?;
            codes.insert(PROGRAM.to_owned(), Code::open(path, None)?);
        }
        Ok(Codes(codes))
    }
}

impl Code {
    fn open(path: PathBuf, build: Option<&str>) -> Result<Code, ReplayError> {
        let module = Module::open(&path)?;
        let same = build.is_some_and(|it| it == module.identity());
        Ok(Code { path, same, module, calls: OnceLock::new() })
    }

    fn calls(&self) -> &[(Call, Arc<[Frame]>)] {
        self.calls.get_or_init(|| {
            let all = self.module.calls();
            let instrumented = functions(&self.module, &all);
            let calls = all
                .into_iter()
                .filter(|it| !it.target.as_ref().is_some_and(|it| instrumented.contains(it)));
            let frames = |it: &Call| self.module.frames(it.returns_to - 1).into();
            calls.map(|it| (frames(&it), it)).map(|(frames, it)| (it, frames)).collect()
        })
    }

    /// Where events of a point can be: from the lowest page of the module.
    pub(crate) fn offsets(&self, point: &Point) -> Vec<u64> {
        let calls = self
            .calls()
            .iter()
            .filter(|(call, _)| class::may_be(call.target.as_deref(), point.class));
        let fitting = calls.filter(|(_, frames)| frames.iter().any(|frame| is_at(frame, point)));
        fitting.map(|(call, _)| call.returns_to - self.module.first_page()).collect()
    }

    /// The lines of a file on which there may be events of a class.
    pub(crate) fn lines(&self, file: &str, class: Class) -> BTreeSet<u32> {
        let calls =
            self.calls().iter().filter(|(call, _)| class::may_be(call.target.as_deref(), class));
        let frames = calls.flat_map(|(_, frames)| frames.iter());
        frames.filter(|it| is_in_file(it, file)).filter_map(|it| it.line).collect()
    }
}

/// The instrumented functions: a call of one of them is no event.
fn functions(module: &Module, calls: &[Call]) -> BTreeSet<Box<str>> {
    let entries = calls.iter().filter(|it| it.target.as_deref() == Some("__tsan_func_entry"));
    let symbols = entries.filter_map(|it| module.symbol(it.returns_to - 1));
    symbols.map(|it| it.linkage_name.as_ref().into()).collect()
}

fn is_at(frame: &Frame, point: &Point) -> bool {
    let line = point.line.as_ref();
    let function = point.function.as_deref();
    line.is_none_or(|it| is_in_file(frame, &it.file) && frame.line == Some(it.number))
        && function.is_none_or(|it| frame.function.as_deref() == Some(it))
}

/// Whether the path of a frame's file ends with these folders and this name.
fn is_in_file(frame: &Frame, file: &str) -> bool {
    frame.file.as_deref().is_some_and(|it| Path::new(it).ends_with(Path::new(file)))
}

/// The file of a command's program, as the system finds it.
pub fn program(command: &[String], directory: Option<&Path>) -> Result<PathBuf, ReplayError> {
    let name = command.first().map_or("", String::as_str);
    let missing = || ReplayError::NoProgram(name.to_owned());
    let found = if name.contains('/') {
        Some(directory.unwrap_or(Path::new(".")).join(name))
    } else {
        search(OsStr::new(name))
    };
    found.and_then(|it| it.canonicalize().ok()).ok_or_else(missing)
}

fn search(name: &OsStr) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let executable = |it: &PathBuf| {
        it.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(&path).map(|it| it.join(name)).find(executable)
}
