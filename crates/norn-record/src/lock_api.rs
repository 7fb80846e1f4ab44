//! Finds the methods of locks of the crate `lock_api` in a program; see [`norn_abi::rust_std`].
//!
//! A type is left alone if any of its methods was inlined, unless all of its operations are known
//! ([`inlined_lock`]): some of them would be enclosed and others not, so that a lock would never seem to be released.

use std::collections::{BTreeMap, BTreeSet};

use norn_abi::{
    function::BEFORE,
    rust_std::{
        Redirect, Role, place,
        raw_lock::{READ_WRITE, SHARED, WRITERS_FIRST},
    },
};
use norn_binary::{Call, Module, TraitMethod, source_name, trait_method};

use crate::inlined_lock::{self, CONDVAR, KNOWN, PARKING_LOT_MUTEX, PARKING_LOT_RWLOCK};
use crate::rust_std::ATOMICS;

/// The methods of the traits: name, role and flags.
const METHODS: [(&str, Role, i32); 37] = [
    ("lock", Role::RawLock, 0),
    ("try_lock", Role::RawTryLock, 0),
    ("try_lock_for", Role::RawTryLock, 0),
    ("try_lock_until", Role::RawTryLock, 0),
    ("unlock", Role::RawUnlock, 0),
    ("unlock_fair", Role::RawUnlock, 0),
    ("bump", Role::RawOther, 0),
    ("lock_shared", Role::RawLock, SHARED | WRITERS_FIRST),
    ("try_lock_shared", Role::RawTryLock, SHARED),
    ("try_lock_shared_for", Role::RawTryLock, SHARED),
    ("try_lock_shared_until", Role::RawTryLock, SHARED),
    ("lock_shared_recursive", Role::RawLock, SHARED),
    ("try_lock_shared_recursive", Role::RawTryLock, SHARED),
    ("try_lock_shared_recursive_for", Role::RawTryLock, SHARED),
    ("try_lock_shared_recursive_until", Role::RawTryLock, SHARED),
    ("unlock_shared", Role::RawUnlock, SHARED),
    ("unlock_shared_fair", Role::RawUnlock, SHARED),
    ("bump_shared", Role::RawOther, 0),
    ("lock_exclusive", Role::RawLock, READ_WRITE | WRITERS_FIRST),
    ("try_lock_exclusive", Role::RawTryLock, READ_WRITE),
    ("try_lock_exclusive_for", Role::RawTryLock, READ_WRITE),
    ("try_lock_exclusive_until", Role::RawTryLock, READ_WRITE),
    ("unlock_exclusive", Role::RawUnlock, READ_WRITE),
    ("unlock_exclusive_fair", Role::RawUnlock, READ_WRITE),
    ("bump_exclusive", Role::RawOther, 0),
    ("downgrade", Role::RawDowngrade, 0),
    ("lock_upgradable", Role::RawLock, SHARED | WRITERS_FIRST),
    ("try_lock_upgradable", Role::RawTryLock, SHARED),
    ("try_lock_upgradable_for", Role::RawTryLock, SHARED),
    ("try_lock_upgradable_until", Role::RawTryLock, SHARED),
    ("unlock_upgradable", Role::RawUnlock, SHARED),
    ("unlock_upgradable_fair", Role::RawUnlock, SHARED),
    ("bump_upgradable", Role::RawOther, 0),
    ("upgrade", Role::RawUpgrade, READ_WRITE | WRITERS_FIRST),
    ("try_upgrade", Role::RawTryUpgrade, 0),
    ("try_upgrade_for", Role::RawTryUpgrade, 0),
    ("try_upgrade_until", Role::RawTryUpgrade, 0),
];

/// A writer that becomes a reader that can become a writer again.
const DOWNGRADE_TO_UPGRADABLE: &str = "downgrade_to_upgradable";

/// The traits' crate.
const TRAITS: &str = "lock_api::";
/// The locks whose readers wait while a writer waits. With others, a reader that waited for no reason could seem
/// to be in a deadlock.
const WRITERS_FIRST_LOCK: &str = PARKING_LOT_RWLOCK;
/// The functions of the condition variable of `parking_lot` that are enclosed where they were not inlined.
const CONDVAR_METHODS: [(&str, Role); 3] = [
    ("wait_until_internal", Role::ParkingLotWait),
    ("notify_one", Role::ParkingLotNotifyOne),
    ("notify_all", Role::ParkingLotNotifyAll),
];

/// The methods of locks in a module that the runtime encloses, and the operations of inlined ones that it replaces.
pub(crate) fn methods(module: &Module, calls: &[Call]) -> Vec<Redirect> {
    if !module.has_room(BEFORE) {
        return Vec::new();
    }
    let entries = module.entries(BEFORE as u64);
    let is_lock = |name: &str| ["lock_api", "parking_lot"].iter().any(|it| name.contains(it));
    let is_known = |name: &str| is_lock(name) || name.contains("dashmap");
    let entries = entries.into_iter().filter(|it| is_known(&it.linkage_name));
    let functions: Vec<_> = entries
        .map(|it| Function {
            address: it.address,
            name: source_name(&it.linkage_name),
            method: trait_method(&it.linkage_name).filter(|it| role(it).is_some()),
        })
        .collect();
    if functions.is_empty() {
        return Vec::new();
    }
    let locks = Locks { functions, inlined: inlined(module, calls) };
    let first = module.first_page();
    let row = |(address, (role, flags), place): (u64, (Role, i32), u16)| Redirect {
        at: address.wrapping_sub(first),
        role: role as u16,
        place,
        offset: flags,
    };
    let replaced = KNOWN.into_iter().flat_map(|it| locks.replaced(it));
    let mut rows: Vec<_> = locks.enclosed().chain(replaced).map(row).collect();
    rows.sort_by_key(|it| it.at);
    rows.dedup_by_key(|it| it.at);
    rows
}

/// What a module contains of locks.
struct Locks {
    functions: Vec<Function>,
    inlined: Vec<Inlined>,
}

/// A function with room for a call.
struct Function {
    address: u64,
    name: String,
    /// If it is a method of a lock.
    method: Option<TraitMethod>,
}

/// An atomic operation where functions were inlined.
struct Inlined {
    returns_to: u64,
    operation: String,
    /// The inlined functions, innermost first.
    functions: Vec<String>,
    /// If the operation was merged from several ones, so that it is in none of them any more: the functions that the one
    /// around it calls when operations of locks fail.
    near: Vec<String>,
}

impl Inlined {
    /// The method of a type that contains the operation.
    fn method(&self, of: &str) -> Option<&str> {
        let is_method = |name: &&str| match of {
            CONDVAR => CONDVAR_METHODS.iter().any(|it| it.0 == *name),
            _ => *name == DOWNGRADE_TO_UPGRADABLE || METHODS.iter().any(|it| it.0 == *name),
        };
        self.functions.iter().find_map(|it| in_type(it, of).filter(is_method))
    }

    fn role(&self, of: &str) -> Option<Role> {
        let Some(method) = self.method(of) else { return self.merged_role(of) };
        inlined_lock::operation(of, method, &self.functions, &self.operation)
    }

    fn merged_role(&self, of: &str) -> Option<Role> {
        let is_near = |name: &str| self.near.iter().any(|it| in_type(it, of) == Some(name));
        inlined_lock::merged(&self.operation, is_near)
    }

    /// Whether it belongs to a type.
    fn is_of(&self, of: &str) -> bool {
        self.method(of).is_some() || self.merged_role(of).is_some()
    }
}

/// The name of a function in a type.
fn in_type<'a>(function: &'a str, of: &str) -> Option<&'a str> {
    function.strip_prefix(of)?.strip_prefix("::")
}

impl Locks {
    fn inlined_in(&self, of: &str) -> impl Iterator<Item = &Inlined> {
        self.inlined.iter().filter(move |it| it.is_of(of))
    }

    /// Whether the operations of a type cannot all be enclosed or replaced.
    fn is_left_alone(&self, of: &str) -> bool {
        if self.inlined_in(of).next().is_none() {
            return false;
        }
        self.inlined_in(of).any(|it| it.role(of).is_none()) || self.slow(of).next().is_none()
    }

    /// The functions that methods of a type call when their operations fail.
    fn slow(&self, of: &str) -> impl Iterator<Item = (u64, (Role, i32), u16)> {
        let role = move |it: &Function| inlined_lock::function(of, in_type(&it.name, of)?);
        self.functions.iter().filter_map(move |it| Some((it.address, role(it)?, place::ENTRY)))
    }

    /// What is replaced of a type.
    fn replaced(&self, of: &str) -> Vec<(u64, (Role, i32), u16)> {
        if self.inlined_in(of).next().is_none() || !self.is_seen(of) {
            return Vec::new();
        }
        let call = |it: &Inlined| Some((it.returns_to, (it.role(of)?, 0), place::CALL));
        self.inlined_in(of).filter_map(call).chain(self.slow(of)).collect()
    }

    /// Without its mutex, a condition variable is left alone, too: the owner of the mutex
    /// after a wait would be unknown.
    fn is_seen(&self, of: &str) -> bool {
        !self.is_left_alone(of) && (of != CONDVAR || !self.is_left_alone(PARKING_LOT_MUTEX))
    }

    /// The methods that are enclosed.
    fn enclosed(&self) -> impl Iterator<Item = (u64, (Role, i32), u16)> {
        let has_condvar = self.is_seen(CONDVAR);
        let methods: Vec<_> = self.functions.iter().filter_map(|it| it.method.as_ref()).collect();
        let types: BTreeSet<_> = methods.into_iter().map(|it| it.implementor.as_str()).collect();
        let seen: BTreeSet<_> = types.into_iter().filter(|it| self.is_seen(it)).collect();
        self.functions.iter().filter_map(move |it| {
            let of_condvar = || {
                let name = in_type(&it.name, CONDVAR).filter(|_| has_condvar)?;
                Some((CONDVAR_METHODS.iter().find(|it| it.0 == name)?.1, 0))
            };
            let method = it.method.as_ref().filter(|it| seen.contains(it.implementor.as_str()));
            Some((it.address, method.and_then(role).or_else(of_condvar)?, place::ENTRY))
        })
    }
}

/// The role of a method, and its flags.
fn role(method: &TraitMethod) -> Option<(Role, i32)> {
    if !method.implemented.starts_with(TRAITS) {
        return None;
    }
    if method.name == DOWNGRADE_TO_UPGRADABLE {
        return Some((Role::RawDowngrade, 0));
    }
    let (_, role, flags) = *METHODS.iter().find(|it| it.0 == method.name)?;
    let has_precedence = method.implementor == WRITERS_FIRST_LOCK;
    Some((role, if has_precedence { flags } else { flags & !WRITERS_FIRST }))
}

/// The atomic operations of a program in inlined functions, and those that were merged.
fn inlined(module: &Module, calls: &[Call]) -> Vec<Inlined> {
    let slow = slow_calls(module, calls);
    let operation = |it: &Call| {
        let (returns_to, at) = (it.returns_to, it.returns_to - 1);
        let operation = it.target.as_deref()?.strip_prefix("__tsan_atomic")?.to_owned();
        let frames = module.frames(at);
        let innermost = frames.first().and_then(|it| it.function.as_deref()).unwrap_or("");
        let near = || slow.get(&module.symbol(at)?.address).cloned();
        let is_merged = !slow.is_empty() && !innermost.starts_with(ATOMICS);
        let near = if is_merged { near().unwrap_or_default() } else { Vec::new() };
        let inlined = frames.into_iter().filter(|it| it.inlined);
        let functions = inlined.filter_map(|it| it.function.map(|it| it.to_string())).collect();
        Some(Inlined { returns_to, operation, functions, near })
    };
    let is_known = |it: &Inlined| !it.functions.is_empty() || !it.near.is_empty();
    calls.iter().filter_map(operation).filter(is_known).collect()
}

/// By the address of a function: what it calls when operations of known locks fail.
fn slow_calls(module: &Module, calls: &[Call]) -> BTreeMap<u64, Vec<String>> {
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for call in calls {
        let Some(name) = call.target.as_deref().filter(|it| it.contains("_slow")) else { continue };
        let name = source_name(name);
        let is_known = KNOWN.iter().any(|of| in_type(&name, of).is_some());
        if let Some(symbol) = module.symbol(call.returns_to - 1)
            && is_known
            && inlined_lock::is_slow(&name)
        {
            found.entry(symbol.address).or_default().push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlined_method(functions: [&str; 2]) -> Locks {
        let inlined = Inlined {
            returns_to: 1,
            operation: "8_compare_exchange_val".to_owned(),
            functions: functions.map(str::to_owned).into(),
            near: Vec::new(),
        };
        let slow =
            Function { address: 2, name: format!("{PARKING_LOT_MUTEX}::lock_slow"), method: None };
        Locks { functions: vec![slow], inlined: vec![inlined] }
    }

    #[test]
    fn a_known_inlined_method_is_replaced() {
        let lock = format!("{PARKING_LOT_MUTEX}::lock");
        let locks = inlined_method(["core::sync::atomic::AtomicU8::compare_exchange_weak", &lock]);
        let expected =
            [(1, (Role::RawAttempt8, 0), place::CALL), (2, (Role::RawLockUntil, 0), place::ENTRY)];
        assert_eq!(locks.replaced(PARKING_LOT_MUTEX), expected);
    }

    #[test]
    fn a_type_is_left_alone_if_one_of_its_operations_is_unknown() {
        let [slow, lock] = ["lock_slow", "lock"].map(|it| format!("{PARKING_LOT_MUTEX}::{it}"));
        let locks = inlined_method([&slow, &lock]);
        assert!(locks.is_left_alone(PARKING_LOT_MUTEX) && !locks.is_seen(CONDVAR));
        assert!(locks.replaced(PARKING_LOT_MUTEX).is_empty());
        // Locks of other crates are never replaced.
        let locks = inlined_method(["bank::RawMutex::lock", "bank::main"]);
        assert!(locks.is_left_alone("bank::RawMutex"));
    }

    #[test]
    fn a_merged_release_is_known_by_what_is_called_nearby() {
        let of = "dashmap::lock::RawRwLock";
        let merged = |near: &str| Inlined {
            returns_to: 1,
            operation: "64_compare_exchange_val".to_owned(),
            functions: vec!["dashmap::DashMap::alter".to_owned()],
            near: vec![near.to_owned()],
        };
        let near = format!("{of}::unlock_exclusive_slow");
        assert_eq!(merged(&near).role(of), Some(Role::RawMerged64));
        assert_eq!(merged(&near).role(PARKING_LOT_RWLOCK), None);
        assert!(!merged(&format!("{of}::lock_exclusive_slow")).is_of(of));
    }

    fn method(implementor: &str, implemented: &str, name: &str) -> TraitMethod {
        TraitMethod {
            implementor: implementor.into(),
            implemented: implemented.into(),
            name: name.into(),
        }
    }

    #[test]
    fn readers_wait_for_writers_only_in_locks_that_are_known_for_it() {
        let read =
            |implementor| role(&method(implementor, "lock_api::rwlock::RawRwLock", "lock_shared"));
        assert_eq!(read(WRITERS_FIRST_LOCK), Some((Role::RawLock, SHARED | WRITERS_FIRST)));
        assert_eq!(read("dashmap::lock::RawRwLock"), Some((Role::RawLock, SHARED)));
    }

    #[test]
    fn methods_of_other_traits_are_none() {
        assert_eq!(role(&method("bank::Lock", "bank::Lockable", "lock")), None);
        assert_eq!(role(&method("bank::Lock", "lock_api::mutex::RawMutex", "is_locked")), None);
    }
}
