//! The modules in which a schedule has points, and the places of events in their code.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use norn_binary::Frame;
use norn_frontend::{FrontEndError, Guide, PROGRAM};
use norn_model::{Class, OsText, Point};

use crate::{
    error,
    files::{Files, ModuleFile},
    hook,
};

/// The modules of a schedule, by their labels.
#[derive(Debug)]
pub(crate) struct Codes(pub(crate) BTreeMap<String, Code>);

/// One module.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) path: PathBuf,
    /// Whether it is the build for which the schedule was made.
    pub(crate) same: bool,
    file: Arc<ModuleFile>,
}

impl Codes {
    /// Opens the modules of a schedule for a program.
    pub(crate) fn open(
        guide: &Guide,
        files: &Files,
        program: &Path,
    ) -> Result<Codes, FrontEndError> {
        let mut codes = BTreeMap::new();
        for (label, listed) in &guide.modules {
            let known = listed.path.as_ref().map(OsText::as_path);
            let known = known.filter(|it| label != PROGRAM || it.exists());
            let path = match known {
                Some(path) => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
                None => program.to_owned(),
            };
            codes.insert(label.clone(), Code::open(path, listed.build.as_deref(), files)?);
        }
        if !codes.contains_key(PROGRAM) {
            codes.insert(PROGRAM.to_owned(), Code::open(program.to_owned(), None, files)?);
        }
        Ok(Codes(codes))
    }
}

impl Code {
    fn open(path: PathBuf, build: Option<&str>, files: &Files) -> Result<Code, FrontEndError> {
        let file = files.open(&path).map_err(error::other)?;
        let same = build.is_some_and(|it| it == file.identity());
        Ok(Code { path, same, file })
    }

    /// The places of a point, relative to the lowest page of the module.
    pub(crate) fn offsets(&self, point: &Point) -> Vec<u64> {
        let calls = self
            .file
            .calls()
            .iter()
            .filter(|(call, _)| hook::may_be(call.target.as_deref(), point.class));
        let fitting = calls.filter(|(_, frames)| frames.iter().any(|frame| is_at(frame, point)));
        fitting.map(|(call, _)| call.returns_to - self.file.module.first_page()).collect()
    }

    /// The lines of a file on which there may be events of a class.
    pub(crate) fn lines(&self, file: &str, class: Class) -> BTreeSet<u32> {
        let calls = self
            .file
            .calls()
            .iter()
            .filter(|(call, _)| hook::may_be(call.target.as_deref(), class));
        let frames = calls.flat_map(|(_, frames)| frames.iter());
        frames.filter(|it| is_in_file(it, file)).filter_map(|it| it.line).collect()
    }
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

/// The file of a program, searched as the system does.
pub fn find_program(name: &OsStr, directory: Option<&Path>) -> Result<PathBuf, FrontEndError> {
    let found = if name.as_encoded_bytes().contains(&b'/') {
        Some(directory.unwrap_or(Path::new(".")).join(name))
    } else {
        search(name)
    };
    let missing = || FrontEndError::NoProgram(name.to_string_lossy().into_owned());
    found.and_then(|it| it.canonicalize().ok()).ok_or_else(missing)
}

fn search(name: &OsStr) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let executable = |it: &PathBuf| {
        it.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(&path).map(|it| it.join(name)).find(executable)
}
