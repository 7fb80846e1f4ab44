//! The front end for native programs: ELF files that were built with `norn cc`.
//!
//! [`Native`] starts them with the runtime of Norn inside ([`norn_record`]), [translates](plan) plans
//! into the tables that the runtime reads, and [symbolizes](symbols) traces with the symbols and the
//! debug information of the files ([`norn_binary`]).

mod activation;
mod code;
mod error;
mod files;
mod hook;
mod local;
mod modules;
mod object_type;
mod plan;
mod rust;
mod symbols;
mod thread_names;
mod unrecorded;

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use norn_frontend::{FrontEnd, FrontEndError, Launch, Recording, Symbols};
use norn_trace::Trace;

pub use code::find_program;
use files::Files;
use modules::Modules;
use symbols::NativeSymbols;

/// The front end for native programs.
#[derive(Debug, Default)]
pub struct Native {
    files: Arc<Files>,
    /// The modules of the last trace: those of the next are usually the same.
    modules: Mutex<Option<Arc<Modules>>>,
}

impl Native {
    /// A front end that keeps what it finds out about programs in a folder.
    pub fn with_cache(folder: PathBuf) -> Native {
        Native { files: Arc::new(Files::with_cache(folder)), ..Native::default() }
    }
}

/// A build of a program, as it is on disk now.
#[derive(Debug)]
pub struct ProgramBuild {
    file: Arc<files::ModuleFile>,
}

impl ProgramBuild {
    /// Opens the program that a command starts; none if it cannot be read.
    pub fn open(name: &OsStr, directory: Option<&Path>) -> Option<ProgramBuild> {
        let path = find_program(name, directory).ok()?;
        Some(ProgramBuild { file: Files::default().open(&path).ok()? })
    }

    /// Identifies the build.
    pub fn identity(&self) -> &str {
        self.file.identity()
    }

    /// The source file with a name from which some of its code was compiled; none if there are several.
    pub fn source(&self, name: &str) -> Option<PathBuf> {
        let files = self.file.calls().iter().flat_map(|it| it.1.iter());
        let files = files.filter_map(|it| it.file.as_deref().map(Path::new));
        let named: BTreeSet<_> = files.filter(|it| it.ends_with(name)).collect();
        named.first().filter(|_| named.len() == 1).map(|it| it.to_path_buf())
    }
}

impl FrontEnd for Native {
    fn run(&self, launch: &Launch) -> Result<Recording, FrontEndError> {
        let translate = |it| plan::translate(it, launch, &self.files);
        let control = launch.plan.as_ref().map(translate).transpose()?;
        norn_record::record(launch, control.as_ref()).map_err(error::other)
    }

    fn symbols(&self, trace: &Trace) -> Box<dyn Symbols> {
        let mut last = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let same = last.as_ref().filter(|it| it.are_of(trace.modules(), &self.files)).cloned();
        let modules = same.unwrap_or_else(|| Arc::new(Modules::open(trace.modules(), &self.files)));
        *last = Some(Arc::clone(&modules));
        Box::new(NativeSymbols::new(trace, Arc::clone(&self.files), modules))
    }
}
