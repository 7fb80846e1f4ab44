//! Finds the synchronisation of Rust's standard library in a program; see [`norn_abi::rust_std`].
//!
//! An atomic operation belongs to `std` if debug information shows that a function of `std` was inlined
//! there and the operation is its own: between the two there are only functions of `core::sync::atomic`.
//! Where the compiler has merged several releases of a lock into one, debug information has only the drop that contained them; then the function
//! that wakes the threads that wait is called nearby.
//! A call of a compiled function of `std` is known by the symbol. Calls that compiled code of `std` makes
//! itself are left alone, since its locks are not seen either.

use std::{cmp::Reverse, collections::BTreeSet, path::Path};

use norn_abi::{
    function::REDIRECTS,
    rust_std::{RANGES, Redirect, Role, place},
};
use norn_binary::{Call, CodeView, Frame, Module, TlsSegment, source_name};

use crate::lock_api;

/// The atomic operations: the function of `std`, the operation, and its role.
const OPERATIONS: [(&str, &str, Role); 18] = [
    ("sys::sync::mutex::futex::Mutex::lock", "32_compare_exchange_val", Role::MutexLock),
    ("sys::sync::mutex::futex::Mutex::try_lock", "32_compare_exchange_val", Role::MutexTryLock),
    ("sys::sync::mutex::futex::Mutex::unlock", "32_exchange", Role::MutexUnlock),
    ("sys::sync::rwlock::futex::RwLock::read", "32_load", Role::ReadLoad),
    ("sys::sync::rwlock::futex::RwLock::read", "32_compare_exchange_val", Role::ReadLock),
    ("sys::sync::rwlock::futex::RwLock::try_read", "32_load", Role::TryReadLoad),
    ("sys::sync::rwlock::futex::RwLock::try_read", "32_compare_exchange_val", Role::TryReadLock),
    ("sys::sync::rwlock::futex::RwLock::read_unlock", "32_fetch_sub", Role::ReadUnlock),
    ("sys::sync::rwlock::futex::RwLock::write", "32_compare_exchange_val", Role::WriteLock),
    ("sys::sync::rwlock::futex::RwLock::try_write", "32_load", Role::TryWriteLoad),
    ("sys::sync::rwlock::futex::RwLock::try_write", "32_compare_exchange_val", Role::TryWriteLock),
    ("sys::sync::rwlock::futex::RwLock::write_unlock", "32_fetch_sub", Role::WriteUnlock),
    ("sys::sync::rwlock::futex::RwLock::downgrade", "32_fetch_add", Role::Downgrade),
    ("sys::sync::once::futex::Once::is_completed", "32_load", Role::OnceCompleted),
    ("sys::sync::thread_parking::futex::Parker::unpark", "32_exchange", Role::Unpark),
    (SCOPE, "64_load", Role::ScopeLoad),
    ("sync::poison::Flag::get", "8_load", Role::PoisonLoad),
    ("panicking::panic_count::count_is_zero", "64_load", Role::PanicCountLoad),
];

/// The functions of `std` that the user's code calls. The first ones are compiled into it where the compiler
/// does not inline them.
const FUNCTIONS: [(&str, Role); 29] = [
    ("sys::sync::mutex::futex::Mutex::lock", Role::MutexLockCall),
    ("sys::sync::mutex::futex::Mutex::try_lock", Role::MutexTryLockCall),
    ("sys::sync::mutex::futex::Mutex::unlock", Role::MutexUnlockCall),
    ("sys::sync::rwlock::futex::RwLock::read", Role::ReadCall),
    ("sys::sync::rwlock::futex::RwLock::try_read", Role::TryReadCall),
    ("sys::sync::rwlock::futex::RwLock::read_unlock", Role::ReadUnlockCall),
    ("sys::sync::rwlock::futex::RwLock::write", Role::WriteCall),
    ("sys::sync::rwlock::futex::RwLock::try_write", Role::TryWriteCall),
    ("sys::sync::rwlock::futex::RwLock::write_unlock", Role::WriteUnlockCall),
    ("sys::sync::rwlock::futex::RwLock::downgrade", Role::DowngradeCall),
    ("sys::sync::once::futex::Once::is_completed", Role::OnceCompletedCall),
    ("sys::sync::thread_parking::futex::Parker::unpark", Role::UnparkCall),
    ("sync::poison::Flag::get", Role::PoisonCall),
    ("sys::sync::condvar::futex::Condvar::wait", Role::CondvarWait),
    ("sys::sync::condvar::futex::Condvar::wait_timeout", Role::CondvarWaitTimeout),
    ("sys::sync::condvar::futex::Condvar::notify_one", Role::CondvarNotifyOne),
    ("sys::sync::condvar::futex::Condvar::notify_all", Role::CondvarNotifyAll),
    ("sync::poison::condvar::Condvar::notify_one", Role::CondvarNotifyOne),
    ("sync::poison::condvar::Condvar::notify_all", Role::CondvarNotifyAll),
    ("sync::nonpoison::condvar::Condvar::notify_one", Role::CondvarNotifyOne),
    ("sync::nonpoison::condvar::Condvar::notify_all", Role::CondvarNotifyAll),
    ("sys::sync::once::futex::Once::call", Role::OnceCall),
    ("sys::sync::once::futex::Once::wait", Role::OnceWait),
    (PARK, Role::Park),
    (PARK_TIMEOUT, Role::ParkTimeout),
    (THREAD_PARK, Role::ThreadPark),
    (THREAD_PARK_TIMEOUT, Role::ThreadParkTimeout),
    ("sync::barrier::Barrier::wait", Role::BarrierWait),
    (SCOPE_END, Role::ScopeEnd),
];

/// What a release of a lock calls if threads wait for it.
const MUTEX_WAKE: &str = "sys::sync::mutex::futex::Mutex::wake";
const RWLOCK_WAKE: &str = "sys::sync::rwlock::futex::RwLock::wake_writer_or_readers";
/// The functions that drop a value.
const DROPS: [&str; 2] = ["core::ptr::drop_in_place", "core::mem::drop"];
/// The module with the operations of atomic variables.
pub(crate) const ATOMICS: &str = "core::sync::atomic::";
const SCOPE: &str = "thread::scoped::scope";
const THREAD_PARK: &str = "thread::thread::Thread::park";
const THREAD_PARK_TIMEOUT: &str = "thread::thread::Thread::park_timeout";
const PARK: &str = "thread::functions::park";
const PARK_TIMEOUT: &str = "thread::functions::park_timeout";
/// The functions in which a thread parks. Each of them takes its token by an operation on the word.
const PARKING: [&str; 4] = [THREAD_PARK, THREAD_PARK_TIMEOUT, PARK, PARK_TIMEOUT];
const SCOPE_END: &str = "thread::scoped::ScopeData::decrement_num_running_threads";
/// The thread-local variable with the handle of the current thread.
const CURRENT_THREAD: &str = "thread::current::CURRENT";

/// The calls in a file that the runtime redirects. None if it has no instrumented code, or cannot be
/// read.
pub(crate) fn redirects(path: &Path) -> Vec<Redirect> {
    Module::open(path).map(|it| search(&it)).unwrap_or_default()
}

fn search(module: &Module) -> Vec<Redirect> {
    let first = module.first_page();
    let calls = module.calls();
    let instrumented = instrumented_functions(module, &calls);
    let row = |at: u64, role: Role, place| Redirect {
        at: at.wrapping_sub(first),
        role: role as u16,
        place,
        offset: 0,
    };
    let wakers = Wakers::new(module, &calls);
    let call = |it: &Call| {
        let role = role(module, &instrumented, it).or_else(|| wakers.merged_role(module, it))?;
        Some(row(it.returns_to, role, place::CALL))
    };
    let mut found: Vec<_> = calls.iter().filter_map(call).collect();
    // The slots come last: what a call through one of them calls is read from the slot.
    let slots = module.own_slots().into_iter();
    found.extend(slots.filter_map(|(at, name)| Some(row(at, function_role(&name)?, place::SLOT))));
    let methods = lock_api::methods(module, &calls);
    found.truncate(REDIRECTS - 3 - RANGES - methods.len());
    found.extend(methods);
    found.extend(compiled(module, &instrumented));
    found.extend(parker(module));
    found.extend(scope_count(module));
    found.extend(current_thread(module));
    found
}

/// The addresses of the functions that call hooks.
fn instrumented_functions(module: &Module, calls: &[Call]) -> BTreeSet<u64> {
    let entries = calls.iter().filter(|it| it.target.as_deref() == Some("__tsan_func_entry"));
    entries.filter_map(|it| Some(module.symbol(it.returns_to - 1)?.address)).collect()
}

fn role(module: &Module, instrumented: &BTreeSet<u64>, call: &Call) -> Option<Role> {
    let target = call.target.as_deref()?;
    let at = call.returns_to - 1;
    if let Some(operation) = target.strip_prefix("__tsan_atomic") {
        let frames = module.frames(at);
        let function = requester(&frames)?;
        let mut known = OPERATIONS.iter();
        return known.find(|it| it.0 == function && it.1 == operation).map(|it| it.2);
    }
    let role = function_role(target).or_else(|| operation_role(module, target, at))?;
    instrumented.contains(&module.symbol(at)?.address).then_some(role)
}

/// The functions that wake threads which wait for a lock.
struct Wakers {
    /// Addresses of the functions that wake those that wait for a mutex.
    mutex: BTreeSet<u64>,
    /// The same for a read-write lock.
    rwlock: BTreeSet<u64>,
}

impl Wakers {
    fn new(module: &Module, calls: &[Call]) -> Wakers {
        let calling = |function: &str| {
            let is_one = |it: &&Call| {
                let target = it.target.as_deref();
                target.is_some_and(|it| path_in_std(&source_name(it)) == Some(function))
            };
            let found = calls.iter().filter(is_one);
            found.filter_map(|it| Some(module.symbol(it.returns_to - 1)?.address)).collect()
        };
        Wakers { mutex: calling(MUTEX_WAKE), rwlock: calling(RWLOCK_WAKE) }
    }

    /// The role of an operation that may be the release of a lock, merged from several ones: it is in a drop, and
    /// not in an operation of an atomic variable any more.
    fn merged_role(&self, module: &Module, call: &Call) -> Option<Role> {
        let (functions, role) = match call.target.as_deref()? {
            "__tsan_atomic32_exchange" => (&self.mutex, Role::MergedExchange),
            "__tsan_atomic32_fetch_sub" => (&self.rwlock, Role::MergedSubtraction),
            _ => return None,
        };
        let at = call.returns_to - 1;
        let frames = module.frames(at);
        let is_drop = |it: &Frame| it.function.as_deref().is_some_and(|it| DROPS.contains(&it));
        let is_waker = || functions.contains(&module.symbol(at)?.address).then_some(role);
        frames.first().filter(|it| is_drop(it)).and_then(|_| is_waker())
    }
}

/// The role of a call of a function of `core` that performs an atomic operation.
fn operation_role(module: &Module, target: &str, at: u64) -> Option<Role> {
    let called = source_name(target);
    let name = called.strip_prefix(ATOMICS)?.rsplit("::").next()?;
    let operation = match name.strip_prefix("atomic_").unwrap_or(name) {
        "load" => "_load",
        "swap" => "_exchange",
        "add" | "fetch_add" => "_fetch_add",
        "sub" | "fetch_sub" => "_fetch_sub",
        "compare_exchange" | "compare_exchange_weak" => "_compare_exchange_val",
        _ => return None,
    };
    let frames = module.frames(at);
    let function = requester(&frames)?;
    let bits = width(target, name).unwrap_or("");
    let is_same = |it: &str| it.starts_with(bits) && it.ends_with(operation);
    let role = OPERATIONS.iter().find(|it| it.0 == function && is_same(it.1))?.2;
    Some(match role {
        Role::MutexLock => Role::MutexLockResult,
        Role::MutexTryLock => Role::MutexTryLockResult,
        Role::ReadLock => Role::ReadLockResult,
        Role::TryReadLock => Role::TryReadLockResult,
        Role::WriteLock => Role::WriteLockResult,
        Role::TryWriteLock => Role::TryWriteLockResult,
        other => other,
    })
}

/// The width in bits of what a function of `core` operates on: its first generic argument, which
/// follows its name in the linkage name.
fn width(linkage: &str, name: &str) -> Option<&'static str> {
    let (_, rest) = linkage.rsplit_once(name)?;
    match rest.bytes().next()? {
        b'a' | b'b' | b'h' => Some("8"),
        b's' | b't' => Some("16"),
        b'l' | b'm' => Some("32"),
        b'i' | b'j' | b'x' | b'y' => Some("64"),
        _ => None,
    }
}

/// The role of a function, by its linkage name.
fn function_role(linkage: &str) -> Option<Role> {
    let name = source_name(linkage);
    let path = path_in_std(&name)?;
    FUNCTIONS.iter().find(|it| it.0 == path).map(|it| it.1)
}

/// The function of `std` that requests an atomic operation, as a path in `std`.
fn requester(frames: &[Frame]) -> Option<&str> {
    let mut functions = frames.iter().filter_map(|it| it.function.as_deref());
    let is_operation = |it: &&str| it.starts_with(ATOMICS);
    path_in_std(functions.find(|it| !is_operation(it))?)
}

/// The path of a function in `std`.
fn path_in_std(function: &str) -> Option<&str> {
    function.strip_prefix("std::")
}

/// The largest ranges of functions of Rust without hooks: the compiled libraries.
fn compiled(module: &Module, instrumented: &BTreeSet<u64>) -> Vec<Redirect> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut is_open = false;
    module.with_code(|code| {
        for function in code.functions() {
            let is_rust = function.name.starts_with("_R") || function.name.starts_with("_ZN");
            if !is_rust
                || instrumented.contains(&function.address)
                || code.is_runtime(function.address)
            {
                is_open = false;
                continue;
            }
            let end = function.address.saturating_add(function.size);
            match ranges.last_mut().filter(|_| is_open) {
                Some(range) => range.1 = end.max(range.1),
                None => ranges.push((function.address, end)),
            }
            is_open = true;
        }
    });
    ranges.sort_by_key(|(start, end)| (Reverse(end - start), *start));
    let first = module.first_page();
    let row = |(start, end): (u64, u64)| Redirect {
        at: start.wrapping_sub(first),
        role: Role::Compiled as u16,
        place: place::RANGE,
        offset: i32::try_from(end - start).unwrap_or(i32::MAX),
    };
    ranges.into_iter().take(RANGES).map(row).collect()
}

/// The offset of the word that a thread parks on from its handle. A program has only the functions that it calls.
fn parker(module: &Module) -> Option<Redirect> {
    let offset =
        |function| module.with_code(|code| locked_operand(code, function, size_of::<u32>()));
    Some(fact(Role::Parker, PARKING.into_iter().find_map(offset)?))
}

/// The offset of the number of threads in the data of a scope.
fn scope_count(module: &Module) -> Option<Redirect> {
    Some(fact(
        Role::ScopeCount,
        module.with_code(|code| locked_operand(code, SCOPE_END, size_of::<usize>()))?,
    ))
}

fn fact(role: Role, offset: i32) -> Redirect {
    Redirect { at: 0, role: role as u16, place: place::NONE, offset }
}

/// The offset of the current thread's handle from the thread pointer: in an executable, thread-local
/// variables end there.
fn current_thread(module: &Module) -> Option<Redirect> {
    let symbol = module
        .thread_local_symbols()
        .into_iter()
        .find(|it| path_in_std(&it.name) == Some(CURRENT_THREAD))?;
    let TlsSegment { memory_size, alignment, .. } = module.tls()?;
    let block = memory_size.checked_next_multiple_of(alignment.max(1))?;
    let offset = i64::try_from(symbol.address).ok()?.checked_sub(i64::try_from(block).ok()?)?;
    Some(fact(Role::CurrentThread, i32::try_from(offset).ok()?))
}

/// The displacement of the first operand of `size` bytes with a `lock` prefix in a function of `std`.
fn locked_operand(code: &CodeView<'_>, function: &str, size: usize) -> Option<i32> {
    let is_named = |name: &str| path_in_std(&source_name(name)) == Some(function);
    let function = code.functions().find(|it| is_named(it.name))?;
    let len = usize::try_from(function.size).ok()?;
    let bytes = code.bytes(function.address)?.get(..len)?;
    norn_binary::first_locked_displacement(bytes, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_in_the_linkage_name() {
        let load = |of| format!("_RINvNtNtCsgE_4core4sync6atomic11atomic_load{of}ECs24_4bank");
        assert_eq!(width(&load('j'), "atomic_load"), Some("64"));
        assert_eq!(width(&load('h'), "atomic_load"), Some("8"));
        assert_eq!(width("_RNvMNtCsgE_4core4sync6Atomic4loadCs24_4bank", "load"), None);
    }

    #[test]
    fn the_requester_is_behind_the_functions_of_core() {
        let frame = |name: &str| Frame { function: Some(name.into()), ..Frame::default() };
        let chain = [
            frame("core::sync::atomic::atomic_compare_exchange"),
            frame("core::sync::atomic::Atomic::compare_exchange"),
            frame("std::sys::sync::mutex::futex::Mutex::lock"),
            frame("std::sync::poison::mutex::Mutex::lock"),
            frame("bank::deposit"),
        ];
        assert_eq!(requester(&chain), Some("sys::sync::mutex::futex::Mutex::lock"));
        assert_eq!(requester(&[chain[0].clone(), chain[4].clone(), chain[2].clone()]), None);
    }
}
