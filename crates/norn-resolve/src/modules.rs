//! The modules of a run: which files were mapped where, and what they say about code and globals.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use norn_binary::{CallSite, Frame, FramePart, Instrumented, Module, Variable};
use rustc_hash::FxHashMap;

/// A module as the trace knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Lowest address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Its file.
    pub path: PathBuf,
}

/// What could be learned of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleState {
    /// Functions, files and lines.
    Lines,
    /// Function names only: there is no debug information.
    Symbols,
    /// Exported names at most: it is stripped.
    Stripped,
    /// Nothing: the file is gone or is no module.
    Unreadable,
}

/// One line of `norn info`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSummary {
    /// Its file.
    pub path: PathBuf,
    /// Whether its memory accesses are recorded; unknown for stripped static programs.
    pub instrumented: Option<bool>,
    /// What could be learned of it.
    pub state: ModuleState,
}

#[derive(Debug)]
struct Loaded {
    mapped: Mapped,
    bias: u64,
    module: Option<Module>,
}

/// The modules of a run.
#[derive(Debug)]
pub struct Modules {
    loaded: Vec<Loaded>,
    frames: Mutex<FxHashMap<u64, Arc<[Frame]>>>,
    copies: Mutex<FxHashMap<(u64, u64), bool>>,
}

impl Modules {
    /// Opens the files of all modules. One that cannot be opened is unreadable, no error.
    pub fn open(mapped: impl IntoIterator<Item = Mapped>) -> Modules {
        let loaded = mapped.into_iter().map(load).collect();
        Modules { loaded, frames: Mutex::default(), copies: Mutex::default() }
    }

    /// Whether these are the modules of a run that mapped the same files at the same addresses.
    pub fn is_of(&self, mapped: &[Mapped]) -> bool {
        self.loaded.iter().map(|it| &it.mapped).eq(mapped)
    }

    /// What could be learned of each.
    pub fn summary(&self) -> Vec<ModuleSummary> {
        self.loaded.iter().map(summarise).collect()
    }

    /// The source of a site, innermost frame first. Sites are return addresses.
    pub fn frames(&self, pc: u64) -> Arc<[Frame]> {
        let mut frames = self.frames.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        frames.entry(pc).or_insert_with(|| self.look_up(pc).into()).clone()
    }

    /// The global variable at an address, as an access of `size` bytes sees it.
    pub fn variable(&self, addr: u64, size: u64) -> Option<Variable> {
        let (loaded, module) = self.module_at(addr)?;
        module.variable(addr.wrapping_sub(loaded.bias), size)
    }

    /// What is certain of a frame when the call is made that returns to `pc`.
    pub fn call_site(&self, pc: u64) -> Option<CallSite> {
        let (loaded, module) = self.module_at(pc)?;
        let site = module.call_site(pc.wrapping_sub(loaded.bias))?;
        Some(CallSite { function: site.function.wrapping_add(loaded.bias), ..site })
    }

    /// The local variable in a part of a frame.
    pub fn local(&self, asked: FramePart) -> Option<Variable> {
        let (loaded, module) = self.module_at(asked.function)?;
        let function = asked.function.wrapping_sub(loaded.bias);
        let call = asked.call.map(|it| it.wrapping_sub(loaded.bias));
        module.local(FramePart { function, call, ..asked })
    }

    /// Whether a write at one site and a read at the next announce one copy; see
    /// [`norn_binary::Module::is_copy`].
    pub fn is_copy(&self, write: u64, read: u64) -> bool {
        let mut copies = self.copies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *copies.entry((write, read)).or_insert_with(|| {
            self.module_at(write).is_some_and(|(loaded, module)| {
                module.is_copy(write.wrapping_sub(loaded.bias), read.wrapping_sub(loaded.bias))
            })
        })
    }

    /// The file that an address lies in.
    pub fn file(&self, addr: u64) -> Option<&Mapped> {
        self.at(addr).map(|it| &it.mapped)
    }

    fn look_up(&self, pc: u64) -> Vec<Frame> {
        let Some((loaded, module)) = self.module_at(pc) else { return Vec::new() };
        module.frames(pc.wrapping_sub(loaded.bias).wrapping_sub(1))
    }

    fn module_at(&self, addr: u64) -> Option<(&Loaded, &Module)> {
        let loaded = self.at(addr)?;
        Some((loaded, loaded.module.as_ref()?))
    }

    /// Later modules first: an address may have been another module's before.
    fn at(&self, addr: u64) -> Option<&Loaded> {
        self.loaded.iter().rev().find(|it| (it.mapped.start..it.mapped.end).contains(&addr))
    }
}

/// A file is mapped from its first segment on. Behind it lie its variables without initial
/// values, which are no part of the mapping.
fn load(mut mapped: Mapped) -> Loaded {
    let module = Module::open(&mapped.path).ok();
    let segments = module.as_ref().map_or(&[][..], Module::segments);
    let last = segments.iter().map(|it| it.address.saturating_add(it.memory_size)).max();
    let bias = mapped.start.wrapping_sub(module.as_ref().map_or(0, Module::first_page));
    mapped.end = mapped.end.max(bias.wrapping_add(last.unwrap_or(0)));
    Loaded { mapped, bias, module }
}

fn summarise(loaded: &Loaded) -> ModuleSummary {
    let path = loaded.mapped.path.clone();
    let Some(module) = &loaded.module else {
        return ModuleSummary { path, instrumented: None, state: ModuleState::Unreadable };
    };
    let instrumented = match module.instrumented() {
        Instrumented::Yes => Some(true),
        Instrumented::No => Some(false),
        Instrumented::Unknown => None,
    };
    let state = match (module.has_lines(), module.is_stripped()) {
        (true, _) => ModuleState::Lines,
        (false, false) => ModuleState::Symbols,
        (false, true) => ModuleState::Stripped,
    };
    ModuleSummary { path, instrumented, state }
}
