//! The modules of a run: the files that were mapped, with their symbols.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use norn_binary::{CallSite, Frame, FramePart, Instrumented, Reach, Variable};
use norn_frontend::{ModuleState, ModuleSummary, ObjectType};
use norn_model::{Condition, CriticalRead, Location, PotentialFailure};
use norn_trace::Module;
use rustc_hash::FxHashMap;

use crate::{
    files::{Files, ModuleFile},
    object_type::{self, Types},
};

/// The alignment of libc's descriptors of threads.
const LEAST_ALIGNMENT: u64 = 64;

/// A module of a run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The mapping in the trace.
    listed: Module,
    /// The mapping extended by the uninitialized variables behind it.
    mapped: Module,
    bias: u64,
    file: Option<Arc<ModuleFile>>,
    unrecorded: OnceLock<bool>,
}

impl Loaded {
    pub(crate) fn path(&self) -> &Path {
        &self.listed.path
    }

    pub(crate) fn binary(&self) -> Option<&norn_binary::Module> {
        self.file.as_ref().map(|it| &it.module)
    }

    /// The address in the module of an address in the run.
    pub(crate) fn in_module(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }

    /// The address in the run of an address in the module.
    pub(crate) fn in_run(&self, address: u64) -> u64 {
        address.wrapping_add(self.bias)
    }

    /// Whether its accesses are not recorded.
    pub(crate) fn is_unrecorded(&self) -> bool {
        let decide = || self.binary().is_some_and(|it| it.instrumented() == Instrumented::No);
        *self.unrecorded.get_or_init(decide)
    }

    /// The module as the place of something that is somewhere in it.
    pub(crate) fn location(&self) -> Location {
        Location {
            module: Some(self.listed.path.to_string_lossy().into_owned()),
            ..Location::default()
        }
    }
}

/// The modules of a run.
#[derive(Debug)]
pub(crate) struct Modules {
    loaded: Vec<Loaded>,
    frames: Mutex<FxHashMap<u64, Arc<[Location]>>>,
    copies: Mutex<FxHashMap<(u64, u64), bool>>,
    reaches: Mutex<FxHashMap<u64, Arc<Reach>>>,
    /// By distance.
    potential_failures: Mutex<BTreeMap<u32, Arc<[PotentialFailure]>>>,
    types: Mutex<Types>,
    rust: OnceLock<bool>,
}

impl Modules {
    /// Opens the files of all modules. A file that cannot be opened is not an error: its module is
    /// unreadable.
    pub(crate) fn open(listed: &[Module], files: &Files) -> Modules {
        let loaded = listed.iter().map(|it| load(it, files)).collect();
        Modules {
            loaded,
            frames: Mutex::default(),
            copies: Mutex::default(),
            reaches: Mutex::default(),
            potential_failures: Mutex::default(),
            types: Mutex::default(),
            rust: OnceLock::new(),
        }
    }

    /// Whether the program has Rust's standard library.
    pub(crate) fn have_rust(&self) -> bool {
        let has = |it: &Loaded| it.binary().is_some_and(norn_binary::Module::has_rust_library);
        *self.rust.get_or_init(|| self.loaded.iter().any(has))
    }

    /// Whether these are the modules of a run that mapped the same files, unchanged, at the same
    /// addresses.
    pub(crate) fn are_of(&self, listed: &[Module], files: &Files) -> bool {
        let same = |(loaded, listed): (&Loaded, &Module)| {
            let Module { start, end, path, .. } = &loaded.listed;
            let unchanged = match (&loaded.file, files.open(path)) {
                (Some(file), Ok(now)) => Arc::ptr_eq(file, &now),
                (file, now) => file.is_none() && now.is_err(),
            };
            (start, end, path) == (&listed.start, &listed.end, &listed.path) && unchanged
        };
        self.loaded.len() == listed.len() && self.loaded.iter().zip(listed).all(same)
    }

    /// A summary of each module.
    pub(crate) fn summary(&self) -> Vec<ModuleSummary> {
        self.loaded.iter().map(summarize).collect()
    }

    /// The source of a site, innermost frame first. Sites are return addresses.
    pub(crate) fn frames(&self, pc: u64) -> Arc<[Location]> {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.entry(pc).or_insert_with(|| self.look_up(pc).into()).clone()
    }

    /// The global variable at an address, as an access of `size` bytes sees it.
    pub(crate) fn variable(&self, addr: u64, size: u64) -> Option<Variable> {
        let (loaded, module) = self.module_at(addr)?;
        module.variable(addr.wrapping_sub(loaded.bias), size)
    }

    /// The thread-local variable of the program at an address in the stack of a thread, which ends at `end`. libc puts
    /// its descriptor of the thread at the end of the stack, and the thread-local block of the program below that. For
    /// debuggers it says how long the descriptor is.
    pub(crate) fn thread_local(&self, addr: u64, size: u64, end: u64) -> Option<Variable> {
        let program = self.loaded.first()?.binary()?;
        let tls = program.tls()?;
        let length = |it: &Loaded| it.binary()?.constant("_thread_db_sizeof_pthread");
        let length = u64::from(self.loaded.iter().find_map(length)?);
        let alignment = tls.alignment.max(1);
        let descriptor = end.checked_sub(length)?;
        let descriptor = descriptor - descriptor % alignment.max(LEAST_ALIGNMENT);
        let block = descriptor.checked_sub(tls.memory_size.checked_next_multiple_of(alignment)?)?;
        let offset = addr.checked_sub(block).filter(|it| *it < tls.memory_size)?;
        program.tls_variable(offset, size)
    }

    /// The frame layout that is certain at the call that returns to `pc`.
    pub(crate) fn call_site(&self, pc: u64) -> Option<CallSite> {
        let (loaded, module) = self.module_at(pc)?;
        let site = module.call_site(pc.wrapping_sub(loaded.bias))?;
        Some(CallSite { function: site.function.wrapping_add(loaded.bias), ..site })
    }

    /// The local variable in a part of a frame.
    pub(crate) fn local(&self, asked: FramePart) -> Option<Variable> {
        let (loaded, module) = self.module_at(asked.function)?;
        let function = asked.function.wrapping_sub(loaded.bias);
        let call = asked.call.map(|it| it.wrapping_sub(loaded.bias));
        module.local(FramePart { function, call, ..asked })
    }

    /// The type of what the pointer in a part of a frame points to.
    pub(crate) fn local_target(&self, asked: FramePart) -> Option<ObjectType> {
        let (number, loaded) = self.numbered(asked.function)?;
        let (function, call) = (loaded.in_module(asked.function), asked.call);
        let call = call.map(|it| it.wrapping_sub(loaded.bias));
        let target = loaded.binary()?.local_target(FramePart { function, call, ..asked })?;
        object_type::numbered(self, number, &target)
    }

    /// Whether a write at one site and a read at the next announce one copy; see
    /// [`norn_binary::Module::is_copy`].
    pub(crate) fn is_copy(&self, write: u64, read: u64) -> bool {
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        *copies.entry((write, read)).or_insert_with(|| {
            self.module_at(write).is_some_and(|(loaded, module)| {
                module.is_copy(write.wrapping_sub(loaded.bias), read.wrapping_sub(loaded.bias))
            })
        })
    }

    /// The beginning of the function that contains a return address.
    pub(crate) fn function_start(&self, pc: u64) -> Option<u64> {
        let (loaded, module) = self.module_at(pc)?;
        let symbol = module.symbol(pc.wrapping_sub(loaded.bias).wrapping_sub(1))?;
        Some(loaded.in_run(symbol.address))
    }

    /// All modules.
    pub(crate) fn loaded(&self) -> impl Iterator<Item = &Loaded> {
        self.loaded.iter()
    }

    /// What the code at an address reaches without a recorded access.
    pub(crate) fn reach(&self, pc: u64) -> Option<(&Loaded, Arc<Reach>)> {
        let (loaded, module) = self.module_at(pc)?;
        let mut reaches = self.reaches.lock().unwrap_or_else(PoisonError::into_inner);
        let reach = || Arc::new(module.reach(pc.wrapping_sub(loaded.bias)));
        Some((loaded, Arc::clone(reaches.entry(pc).or_insert_with(reach))))
    }

    /// The name of the function that the call with this return address calls.
    pub(crate) fn called(&self, pc: u64) -> Option<String> {
        let (loaded, module) = self.module_at(pc)?;
        module.called(pc.wrapping_sub(loaded.bias))
    }

    /// The failure sites of all instrumented modules, by ascending address in the run.
    pub(crate) fn potential_failures(&self, distance: u32) -> Arc<[PotentialFailure]> {
        let find = || {
            let all = self.loaded.iter().flat_map(|it| potential_failures(it, distance));
            let mut all: Vec<_> = all.collect();
            all.sort_by_key(|it| (it.pc, it.kind));
            all.into()
        };
        let mut known = self.potential_failures.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(distance).or_insert_with(find))
    }

    /// When a failure site fails, if that is known.
    pub(crate) fn failure_condition(
        &self,
        failure: &PotentialFailure,
        distance: u32,
    ) -> Option<Condition> {
        let loaded = self.at(failure.pc)?;
        let key = (failure.pc.wrapping_sub(loaded.bias), failure.kind);
        let sites = loaded.file.as_ref()?.failure_sites(distance);
        let condition = sites.conditions.get(&key)?.clone();
        Some(condition.moved(&|site| loaded.in_run(site)))
    }

    /// The module that contains an address.
    pub(crate) fn module(&self, addr: u64) -> Option<&Module> {
        self.at(addr).map(|it| &it.mapped)
    }

    /// The types of objects that were found so far.
    pub(crate) fn types(&self) -> MutexGuard<'_, Types> {
        self.types.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The module that contains an address, by its number.
    pub(crate) fn numbered(&self, addr: u64) -> Option<(usize, &Loaded)> {
        let within = |it: &(usize, &Loaded)| (it.1.mapped.start..it.1.mapped.end).contains(&addr);
        self.loaded.iter().enumerate().rev().find(within)
    }

    /// A module by its number.
    pub(crate) fn binary_of(&self, number: usize) -> Option<&norn_binary::Module> {
        self.loaded.get(number)?.binary()
    }

    fn look_up(&self, pc: u64) -> Vec<Location> {
        let Some((loaded, module)) = self.module_at(pc) else { return Vec::new() };
        let frames = module.frames(pc.wrapping_sub(loaded.bias).wrapping_sub(1));
        frames.iter().map(|it| location(it, &loaded.mapped)).collect()
    }

    /// Whether an address is in a module whose accesses are not recorded.
    pub(crate) fn is_unrecorded(&self, addr: u64) -> bool {
        self.at(addr).is_some_and(Loaded::is_unrecorded)
    }

    fn module_at(&self, addr: u64) -> Option<(&Loaded, &norn_binary::Module)> {
        let loaded = self.at(addr)?;
        Some((loaded, &loaded.file.as_ref()?.module))
    }

    /// Searches later modules first: an unloaded module may have had the same addresses before.
    fn at(&self, addr: u64) -> Option<&Loaded> {
        self.loaded.iter().rev().find(|it| (it.mapped.start..it.mapped.end).contains(&addr))
    }
}

/// The failure sites of a module, with the addresses of the run.
fn potential_failures(loaded: &Loaded, distance: u32) -> Vec<PotentialFailure> {
    let Some(file) = loaded.file.as_ref().filter(|_| !loaded.is_unrecorded()) else {
        return Vec::new();
    };
    let read = |it: &CriticalRead| CriticalRead {
        pc: loaded.in_run(it.pc),
        distance: it.distance,
        chain: it.chain.iter().map(|it| loaded.in_run(*it)).collect(),
    };
    let site = |it: &PotentialFailure| PotentialFailure {
        kind: it.kind,
        pc: loaded.in_run(it.pc),
        reads: it.reads.iter().map(read).collect(),
    };
    file.failure_sites(distance).sites.iter().map(site).collect()
}

fn location(frame: &Frame, module: &Module) -> Location {
    Location {
        function: frame.function.as_deref().map(str::to_owned),
        file: frame.file.as_deref().map(str::to_owned),
        line: frame.line,
        column: frame.column,
        module: Some(module.path.to_string_lossy().into_owned()),
        offset: None,
    }
}

/// Opens the file of a module. The file is mapped from its first segment on. Uninitialized variables
/// lie behind it and are not part of the mapping.
fn load(listed: &Module, files: &Files) -> Loaded {
    let file = files.open(&listed.path).ok();
    let segments = file.as_ref().map_or(&[][..], |it| it.module.segments());
    let last = segments.iter().map(|it| it.address.saturating_add(it.memory_size)).max();
    let bias = listed.start.wrapping_sub(file.as_ref().map_or(0, |it| it.module.first_page()));
    let end = listed.end.max(bias.wrapping_add(last.unwrap_or(0)));
    let mapped = Module { end, ..listed.clone() };
    Loaded { listed: listed.clone(), mapped, bias, file, unrecorded: OnceLock::new() }
}

fn summarize(loaded: &Loaded) -> ModuleSummary {
    let path = loaded.mapped.path.clone();
    let Some(ModuleFile { module, .. }) = loaded.file.as_deref() else {
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
