//! Unrecorded synchronisation: instructions of inline assembly, and of libraries that were not built by
//! `norn cc`, that may order threads although no trace contains them; and calls of libc that move data
//! between threads.
//!
//! The code between two consecutive events of a thread is followed from the first one, into the functions
//! that it calls and back to its callers. An instruction counts if the second event is reached from it.

use std::{
    collections::{BTreeSet, VecDeque},
    path::Path,
};

use norn_binary::SyncInstruction;
use norn_frontend::{Direction, Gap, UnrecordedSync};
use norn_model::Location;

use crate::{
    modules::{Loaded, Modules},
    rust,
    symbols::RUNTIME,
};

/// Libraries of the C and C++ languages and of OpenMP, by the beginning of their file names. They
/// synchronise threads by functions that are recorded.
const LANGUAGE: [&str; 15] = [
    "ld-linux",
    "libc.so",
    "libc-",
    "libc++",
    "libdl",
    "libgcc_s",
    "libgomp",
    "libm.so",
    "libm-",
    "libnorn",
    "libomp",
    "libpthread",
    "libresolv",
    "librt",
    "libstdc++",
];

/// Whether a library synchronises threads by recorded functions alone.
fn is_language(path: &Path) -> bool {
    let name = path.file_name().map(|it| it.to_string_lossy());
    name.is_some_and(|name| LANGUAGE.iter().any(|it| name.starts_with(it)))
}

/// Whether any module may synchronise threads by instructions that no trace contains.
pub(crate) fn exists(modules: &Modules) -> bool {
    modules.loaded().any(may_synchronise)
}

fn may_synchronise(module: &Loaded) -> bool {
    let has_instructions =
        || module.binary().is_some_and(norn_binary::Module::has_sync_instructions);
    !is_language(module.path()) && (module.is_unrecorded() || has_instructions())
}

/// Unrecorded synchronisation between two consecutive events of a thread. An atomic operation or a fence
/// explains more than the wait for one.
pub(crate) fn between(modules: &Modules, gap: Gap<'_>) -> Option<UnrecordedSync> {
    let path = path_of(modules, gap)?;
    let leads_on = |it: &&Instruction| {
        if is_rust_library(modules, it.address) {
            return false;
        }
        let after = follow(modules, it.address, &it.callers);
        let repeats = || {
            let mut again = follow(modules, it.address + PAUSE, &[]).sync.into_iter();
            again.any(|again| again.address == it.address)
        };
        let arrives = gap.before == 0 || after.open || after.calls.contains(&gap.before);
        arrives && (!it.sync.waits || repeats())
    };
    let (waits, others): (Vec<_>, Vec<_>) = path.sync.iter().partition(|it| it.sync.waits);
    if let Some(found) = others.into_iter().chain(waits).chain(&path.foreign).find(leads_on) {
        let frames = modules.frames(found.address + 1).to_vec();
        return Some(UnrecordedSync { instruction: found.sync.name.clone(), frames });
    }
    // A call through a pointer may lead to a library that is not recorded.
    let libraries = || modules.loaded().filter(|it| may_synchronise(it) && it.is_unrecorded());
    let library = path.indirect.then(libraries)?.next()?;
    Some(UnrecordedSync { instruction: FOREIGN.to_owned(), frames: vec![library.location()] })
}

/// What is reached from the earlier event of a gap.
fn path_of(modules: &Modules, gap: Gap<'_>) -> Option<CodePath> {
    if gap.after != 0 {
        return Some(follow(modules, gap.after, gap.callers));
    }
    // The thread begins: its code is followed from the beginning of its outermost function.
    let sites = gap.before_callers.iter().rev().chain([&gap.before]);
    let outermost = sites.into_iter().find(|it| is_program(modules, **it))?;
    Some(follow(modules, modules.function_start(*outermost)?, &[]))
}

/// A call of libc between two events of a thread in program code that may have moved data to or from another
/// thread. A call may record what it reads before it moves that, and what it writes afterwards.
pub(crate) fn transfer(
    modules: &Modules,
    gap: Gap<'_>,
    direction: Direction,
) -> Option<UnrecordedSync> {
    let (moving, during) = match direction {
        Direction::Send => (norn_binary::Direction::Send, gap.after),
        Direction::Receive => (norn_binary::Direction::Receive, gap.before),
    };
    let moves = |name: &str| norn_binary::moves(name, moving);
    // Those of `syscall` that have events are recorded as what they do.
    let recorded = |it: &String| it != norn_binary::SYSTEM_CALL && moves(it);
    if let Some(name) = modules.called(during).filter(recorded) {
        return Some(UnrecordedSync { instruction: name, frames: modules.frames(during).to_vec() });
    }
    let path = path_of(modules, gap)?;
    let leads_on = |it: &&Call| {
        let Some((at, callers)) = it.chain.split_first() else { return true };
        let after = || follow(modules, *at, callers);
        gap.before == 0 || *at == gap.before || {
            let after = after();
            after.open || after.calls.contains(&gap.before)
        }
    };
    let found = path.transfers.iter().filter(|it| moves(&it.function)).find(leads_on)?;
    let frames = modules.frames(found.address + 1).to_vec();
    Some(UnrecordedSync { instruction: found.function.clone(), frames })
}

/// Whether an instruction is in compiled code of Rust's standard library, whose synchronisation the runtime
/// records or, where the library has data of its own, nothing depends on.
fn is_rust_library(modules: &Modules, address: u64) -> bool {
    modules.have_rust() && modules.frames(address + 1).last().is_some_and(rust::is_library)
}

/// What stands for the code of a library that was not built by `norn cc`: there, ordinary loads and
/// stores may be atomic operations.
const FOREIGN: &str = "library code";
/// The length of `pause`.
const PAUSE: u64 = 2;
/// Maximum number of functions of other modules that are followed.
const IMPORTS: usize = 64;

/// An instruction that is reached, with its address in the run.
struct Instruction {
    sync: SyncInstruction,
    address: u64,
    callers: Vec<u64>,
}

/// A call of a function of libc that moves data.
struct Call {
    function: String,
    address: u64,
    /// The return addresses of the call and of those that lead to it, innermost first.
    chain: Vec<u64>,
}

/// What is reached from an event without another one.
#[derive(Default)]
struct CodePath {
    sync: Vec<Instruction>,
    /// Functions of libraries that are not recorded.
    foreign: Vec<Instruction>,
    transfers: Vec<Call>,
    calls: BTreeSet<u64>,
    indirect: bool,
    /// Whether it may lead to places that the code does not determine.
    open: bool,
}

/// Follows the code from an address, in its function and in the callers to which that returns.
fn follow(modules: &Modules, from: u64, callers: &[u64]) -> CodePath {
    let mut path = CodePath::default();
    for depth in 0..=callers.len() {
        let at = if depth == 0 { from } else { callers[depth - 1] };
        if !is_program(modules, at) {
            path.open = true;
            continue;
        }
        if !step(modules, at, &callers[depth..], &mut path) {
            break;
        }
    }
    path
}

/// Whether code is neither a language's library nor the runtime, which record what they do.
pub(crate) fn is_program(modules: &Modules, pc: u64) -> bool {
    let is_runtime = |it: &Location| it.function.as_ref().is_some_and(|it| it.starts_with(RUNTIME));
    modules.module(pc).is_some_and(|it| !is_language(&it.path))
        && !modules.frames(pc).iter().any(is_runtime)
}

/// Follows one function and the functions that it calls, and says whether it returns.
fn step<'m>(modules: &'m Modules, at: u64, callers: &[u64], path: &mut CodePath) -> bool {
    let mut left = VecDeque::from([(at, callers.to_vec())]);
    let (mut returns, mut seen) = (None, BTreeSet::new());
    while let Some((at, callers)) = left.pop_front() {
        let Some((loaded, reach)) = modules.reach(at) else {
            path.open = true;
            continue;
        };
        returns.get_or_insert(reach.returns);
        path.indirect |= reach.indirect;
        path.open |= reach.indirect || !reach.imports.is_empty();
        path.calls.extend(reach.calls.iter().map(|it| loaded.in_run(*it)));
        path.sync.extend(reach.sync.iter().map(|(sync, through)| Instruction {
            address: loaded.in_run(sync.address),
            callers: through.iter().map(|it| loaded.in_run(*it)).chain(callers.clone()).collect(),
            sync: sync.clone(),
        }));
        path.transfers.extend(reach.transfers.iter().map(|(at, transfer)| {
            let chain = transfer.returns_to.iter().chain(&transfer.calls);
            let chain = chain.map(|it| loaded.in_run(*it));
            Call {
                function: transfer.name.to_string(),
                address: loaded.in_run(*at),
                chain: chain.chain(callers.clone()).collect(),
            }
        }));
        for (name, through) in &reach.imports {
            let exports = |it: &'m Loaded| Some((it, it.in_run(it.binary()?.exported(name)?)));
            let mut others = modules.loaded().filter(|it| !is_language(it.path()));
            let Some((other, function)) = others.find_map(exports) else { continue };
            if seen.len() >= IMPORTS || !seen.insert(function) {
                continue;
            }
            let through = through.iter().map(|it| loaded.in_run(*it));
            let callers: Vec<_> = through.chain(callers.clone()).collect();
            if other.is_unrecorded() {
                path.foreign.push(foreign(function, callers.clone()));
            }
            left.push_back((function, callers));
        }
    }
    returns.unwrap_or(true)
}

/// A function of a library that is not recorded.
fn foreign(address: u64, callers: Vec<u64>) -> Instruction {
    let sync = SyncInstruction { address, name: FOREIGN.to_owned(), waits: false };
    Instruction { sync, address, callers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_the_languages_synchronise_by_recorded_functions() {
        assert!(!is_language(Path::new("/usr/lib/libtbb.so.12")));
        assert!(is_language(Path::new("/usr/lib/libgomp.so.1")));
        assert!(is_language(Path::new("/usr/lib/libc.so.6")));
        assert!(is_language(Path::new("/usr/lib/libstdc++.so.6")));
        assert!(!is_language(Path::new("/src/program")));
    }
}
