//! Symbolizes traces of native programs.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    sync::Arc,
};

use norn_abi::{ObjectClass, libc_layout};
use norn_frontend::{
    Direction, Gap, Local, ModuleSummary, ObjectType, OnStack, Operation, Owner, Pointee, Symbols,
    UnrecordedSync, Variable,
};
use norn_model::{Condition, Location, Object, PotentialFailure};
use norn_trace::{Module, Trace};

use crate::{
    code::find_program, files::Files, local::Locals, modules::Modules, object_type, rust,
    unrecorded,
};

/// The prefix of the names of the runtime's functions.
pub(crate) const RUNTIME: &str = "norn_rt::";
/// The modules of the runtime whose variables stand for what a library has, such as the memory of `strtok`.
const NAMED: &str = "::named::";
/// The prefixes of the names of the C++ library's functions, demangled and mangled, and of those of
/// libc that call `main`.
const LIBRARY: [&str; 7] =
    ["std::", "__gnu_cxx::", "_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "__libc_start_"];
/// The directories of the system's libraries and headers.
const SYSTEM: [&str; 4] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/include/"];

/// The symbols of one trace. Traces of runs that mapped the same files share the modules.
#[derive(Debug)]
pub(crate) struct NativeSymbols {
    files: Arc<Files>,
    modules: Arc<Modules>,
    locals: Locals,
    program: Option<PathBuf>,
}

impl NativeSymbols {
    pub(crate) fn new(trace: &Trace, files: Arc<Files>, modules: Arc<Modules>) -> NativeSymbols {
        let run = trace.run();
        let name = run.command.first().map_or(OsStr::new(""), AsRef::as_ref);
        let program = find_program(name, Some(run.directory.as_path())).ok();
        NativeSymbols { files, modules, locals: Locals::default(), program }
    }
}

impl Symbols for NativeSymbols {
    fn frames(&self, pc: u64) -> Arc<[Location]> {
        self.modules.frames(pc)
    }

    fn module(&self, addr: u64) -> Option<&Module> {
        self.modules.module(addr)
    }

    fn owner(&self, frame: &Location) -> Owner {
        owner(frame)
    }

    fn is_atomic_operation(&self, frame: &Location) -> bool {
        let is_one = |it: &str| is_atomic_operation(it) || rust::is_atomic_operation(it);
        frame.function.as_deref().is_some_and(is_one)
    }

    fn is_volatile_operation(&self, frame: &Location) -> bool {
        frame.function.as_deref().is_some_and(rust::is_volatile_operation)
    }

    fn member_operator(&self) -> &'static str {
        if self.modules.have_rust() { "." } else { "->" }
    }

    fn is_of_language(&self, frame: &Location) -> bool {
        rust::is_of_language(frame)
    }

    fn is_synchronisation(&self, frame: &Location) -> bool {
        rust::is_synchronisation(frame)
    }

    fn is_in_library(&self, addr: u64) -> bool {
        self.modules.is_unrecorded(addr)
    }

    fn is_folded(&self, frame: &Location) -> bool {
        rust::is_library(frame) || self.modules.have_rust() && rust::is_entry(frame)
    }

    fn variable(&self, addr: u64, size: u64) -> Option<Variable> {
        self.modules.variable(addr, size).map(neutral)
    }

    fn accessed_objects(&self, stack: &[u64], operation: Operation) -> Vec<Pointee> {
        object_type::accessed(&self.modules, stack, operation)
    }

    fn pointer_target(&self, addr: u64) -> Option<ObjectType> {
        object_type::pointer_target(&self.modules, addr)
    }

    fn part_of(&self, of: &ObjectType, count: u64, offset: u64, size: u64) -> Variable {
        object_type::part_of(&self.modules, of, count, (offset, size))
    }

    fn local(&self, trace: &Trace, on: OnStack, addr: u64, size: u64) -> Local {
        self.locals.at((trace, &self.modules), on, addr, size)
    }

    fn object_size(&self, class: Object) -> u64 {
        if self.modules.have_rust() {
            return rust::OBJECT_SIZE;
        }
        libc_layout::size(match class {
            Object::Mutex => ObjectClass::Mutex,
            Object::Spin => ObjectClass::Spin,
            Object::RwLock => ObjectClass::RwLock,
            Object::Cond => ObjectClass::Cond,
            Object::Barrier => ObjectClass::Barrier,
            Object::Semaphore => ObjectClass::Semaphore,
            Object::Key => ObjectClass::Key,
            Object::Descriptor => ObjectClass::Descriptor,
        })
    }

    fn is_copy(&self, write: u64, read: u64) -> bool {
        self.modules.is_copy(write, read)
    }

    fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    fn build(&self, module: &Path) -> Option<String> {
        self.files.open(module).ok().map(|it| it.identity().to_owned())
    }

    fn modules(&self) -> Vec<ModuleSummary> {
        self.modules.summary()
    }

    fn has_unrecorded_sync(&self) -> bool {
        unrecorded::exists(&self.modules)
    }

    fn unrecorded_sync(&self, gap: Gap<'_>) -> Option<UnrecordedSync> {
        unrecorded::between(&self.modules, gap)
    }

    fn is_program_code(&self, site: u64) -> bool {
        unrecorded::is_program(&self.modules, site)
    }

    fn unrecorded_transfer(&self, gap: Gap<'_>, direction: Direction) -> Option<UnrecordedSync> {
        unrecorded::transfer(&self.modules, gap, direction)
    }

    fn potential_failures(&self, distance: u32) -> Arc<[PotentialFailure]> {
        self.modules.potential_failures(distance)
    }

    fn failure_condition(&self, failure: &PotentialFailure, distance: u32) -> Option<Condition> {
        self.modules.failure_condition(failure, distance)
    }
}

/// A variable in the form of the front-end interface.
pub(crate) fn neutral(variable: norn_binary::Variable) -> Variable {
    let norn_binary::Variable { name, offset, value_type, .. } = variable;
    let named = name.strip_prefix(RUNTIME).and_then(|it| it.split_once(NAMED));
    let name = named.map(|(_, it)| it.replace('_', " ")).unwrap_or(name);
    Variable { name, offset, value_type }
}

/// The owner of a frame: determined by its files, and by the function name only if no file is known.
fn owner(frame: &Location) -> Owner {
    let function = frame.function.as_deref().unwrap_or("");
    let paths = [frame.module.as_deref(), frame.file.as_deref()];
    let named = || function == "_start" || LIBRARY.iter().any(|it| function.starts_with(it));
    if function.starts_with(RUNTIME) {
        Owner::Runtime
    } else if paths.into_iter().flatten().any(is_system)
        || rust::is_library(frame)
        || (frame.file.is_none() && named())
    {
        Owner::Library
    } else {
        Owner::Program
    }
}

/// Whether a function is an operation of an atomic variable: a member of `std::atomic` and its bases in
/// libstdc++ and libc++, or a free function such as `std::atomic_load`. Waiting for a value and
/// notifying are more than one operation.
fn is_atomic_operation(function: &str) -> bool {
    let name = function.strip_prefix("std::").unwrap_or("");
    let name = name.strip_prefix("__1::").unwrap_or(name);
    let is_atomic = ["atomic", "__atomic_", "__cxx_atomic_"].iter().any(|it| name.starts_with(it));
    let more = [
        "::wait",
        "::notify_",
        "__atomic_wait",
        "__atomic_notify",
        "__atomic_semaphore",
        "__atomic_spin",
    ];
    is_atomic && !more.iter().any(|it| function.contains(it))
}

/// Whether a file belongs to the system or to the C++ library.
pub(crate) fn is_system(path: &str) -> bool {
    SYSTEM.iter().any(|it| path.starts_with(it)) || path.contains("/include/c++/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: Option<&str>, module: &str) -> Location {
        Location {
            function: Some(function.to_owned()),
            file: file.map(str::to_owned),
            module: Some(module.to_owned()),
            ..Location::default()
        }
    }

    #[test]
    fn operations_of_atomic_variables_are_known_by_name() {
        let operations = [
            "std::__atomic_base<int>::load",
            "std::atomic<Config*>::compare_exchange_strong",
            "std::atomic_flag::test_and_set",
            "std::__atomic_impl::fetch_add<int>",
            "std::__1::__cxx_atomic_load<int>",
            "std::atomic_load_explicit<int>",
        ];
        assert!(operations.into_iter().all(is_atomic_operation));
        let others = [
            "std::__atomic_base<int>::wait",
            "std::__atomic_base<int>::wait::{lambda()#1}::operator()",
            "std::__atomic_semaphore::_S_do_try_acquire",
            "std::__detail::__waiter_pool_base::_M_enter_wait",
            "std::shared_ptr<Config>::~shared_ptr",
            "load",
        ];
        assert!(!others.into_iter().any(is_atomic_operation));
    }

    #[test]
    fn files_and_names_determine_the_owner() {
        let own = |function, file| owner(&frame(function, file, "/src/prog"));
        assert_eq!(own("main", Some("/src/a.c")), Owner::Program);
        assert_eq!(own("std::hash<Key>::operator()", Some("/src/key.h")), Owner::Program);
        assert_eq!(own("std::thread::join", None), Owner::Library);
        assert_eq!(own("_M_invoke", Some("/usr/include/c++/12/thread")), Owner::Library);
        assert_eq!(own("norn_rt::thread::start", None), Owner::Runtime);
        assert_eq!(own("worker", None), Owner::Program);
        assert_eq!(owner(&frame("qsort", None, "/usr/lib/libc.so.6")), Owner::Library);
    }
}
