//! Opened files of modules. Reading the debug information of a program takes longer than a run of
//! it, so each file is opened once, as long as it does not change.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use norn_binary::{BinaryError, Module};
use rustc_hash::FxHashMap;

/// Opened files.
#[derive(Debug, Default)]
pub(crate) struct Files(Mutex<FxHashMap<PathBuf, Opened>>);

#[derive(Debug)]
struct Opened {
    version: Version,
    module: Arc<Module>,
    identity: Option<Arc<str>>,
}

/// Distinguishes versions of one file.
type Version = Option<(SystemTime, u64)>;

impl Files {
    /// Opens a file, unless it is open already.
    pub(crate) fn open(&self, path: &Path) -> Result<Arc<Module>, BinaryError> {
        self.with(path, |it| Arc::clone(&it.module))
    }

    /// Identifies the build of a module.
    pub(crate) fn identity(&self, path: &Path) -> Result<Arc<str>, BinaryError> {
        self.with(path, |it| {
            Arc::clone(it.identity.get_or_insert_with(|| it.module.identity().into()))
        })
    }

    fn with<T>(&self, path: &Path, get: impl FnOnce(&mut Opened) -> T) -> Result<T, BinaryError> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let version = version(path);
        if let Some(opened) = files.get_mut(path).filter(|it| it.version == version) {
            return Ok(get(opened));
        }
        let module = Arc::new(Module::open(path)?);
        let mut opened = Opened { version, module, identity: None };
        let got = get(&mut opened);
        files.insert(path.to_owned(), opened);
        Ok(got)
    }
}

fn version(path: &Path) -> Version {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
