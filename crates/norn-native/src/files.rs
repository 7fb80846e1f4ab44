//! Opened files of modules. Reading the debug information of a program takes longer than a run of
//! it, so each file is opened once, as long as it does not change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::SystemTime,
};

use norn_binary::{BinaryError, Call, Frame, Module};
use norn_sites::{Cache, DISTANCE, FailureSites, Options};
use rustc_hash::FxHashMap;

/// Opened files.
#[derive(Debug, Default)]
pub(crate) struct Files {
    opened: Mutex<FxHashMap<PathBuf, (Version, Arc<ModuleFile>)>>,
    /// Where failure sites are kept.
    cache: Option<Cache>,
}

/// Distinguishes versions of one file.
type Version = Option<(SystemTime, u64)>;

/// The file of a module.
#[derive(Debug)]
pub(crate) struct ModuleFile {
    pub(crate) module: Module,
    identity: OnceLock<String>,
    calls: OnceLock<Vec<EventCall>>,
    /// By distance.
    failure_sites: Mutex<BTreeMap<u32, Arc<FailureSites>>>,
    cache: Option<Cache>,
}

/// A call that can be an event, and its source, innermost frame first.
pub(crate) type EventCall = (Call, Arc<[Frame]>);

impl Files {
    /// Keeps failure sites in a folder.
    pub(crate) fn with_cache(folder: PathBuf) -> Files {
        Files { cache: Some(Cache::new(folder)), ..Files::default() }
    }

    /// Opens a file, unless it is open already.
    pub(crate) fn open(&self, path: &Path) -> Result<Arc<ModuleFile>, BinaryError> {
        let mut files = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let version = version(path);
        if let Some((_, file)) = files.get(path).filter(|it| it.0 == version) {
            return Ok(Arc::clone(file));
        }
        let module = Module::open(path)?;
        let (identity, calls, failure_sites) = (OnceLock::new(), OnceLock::new(), Mutex::default());
        let cache = self.cache.clone();
        let file = Arc::new(ModuleFile { module, identity, calls, failure_sites, cache });
        files.insert(path.to_owned(), (version, Arc::clone(&file)));
        Ok(file)
    }
}

fn version(path: &Path) -> Version {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl ModuleFile {
    /// Identifies the build.
    pub(crate) fn identity(&self) -> &str {
        self.identity.get_or_init(|| self.module.identity())
    }

    /// The failure sites that shared reads decide, with module-relative addresses. A search with the usual
    /// distance serves shorter ones, too.
    pub(crate) fn failure_sites(&self, distance: u32) -> Arc<FailureSites> {
        let options = Options { distance: distance.max(DISTANCE), ..Options::default() };
        let find = || match &self.cache {
            Some(cache) => cache.failure_sites(&self.module, &options),
            None => FailureSites::find(&self.module, &options),
        };
        let mut known = self.failure_sites.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(options.distance).or_insert_with(|| Arc::new(find())))
    }

    /// The calls that can be events. Finding them takes a disassembly of all code.
    pub(crate) fn calls(&self) -> &[EventCall] {
        self.calls.get_or_init(|| {
            let all = self.module.calls();
            let instrumented = instrumented_functions(&self.module, &all);
            // A call of an instrumented function is not an event.
            let is_event =
                |it: &Call| it.target.as_ref().is_none_or(|it| !instrumented.contains(it));
            let frames = |it: &Call| self.module.frames(it.returns_to - 1).into();
            let events = all.into_iter().filter(is_event);
            events.map(|it| (frames(&it), it)).map(|(frames, it)| (it, frames)).collect()
        })
    }
}

fn instrumented_functions(module: &Module, calls: &[Call]) -> BTreeSet<Box<str>> {
    let entries = calls.iter().filter(|it| it.target.as_deref() == Some("__tsan_func_entry"));
    let symbols = entries.filter_map(|it| module.symbol(it.returns_to - 1));
    symbols.map(|it| it.linkage_name.as_ref().into()).collect()
}
