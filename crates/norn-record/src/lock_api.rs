//! Finds the methods of locks of the crate `lock_api` in a program; see [`norn_abi::rust_std`].
//!
//! A type is left alone if any of its methods was inlined: some of its operations would be enclosed and others
//! not, so that a lock would never seem to be released.

use std::collections::BTreeSet;

use norn_abi::{
    function::BEFORE,
    rust_std::{
        Redirect, Role, place,
        raw_lock::{READ_WRITE, SHARED, WRITERS_FIRST},
    },
};
use norn_binary::{Call, Module, TraitMethod, source_name, trait_method};

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
const WRITERS_FIRST_LOCK: &str = "parking_lot::raw_rwlock::RawRwLock";
/// The mutex of `parking_lot`, and the condition variable that belongs to it.
const PARKING_LOT_MUTEX: &str = "parking_lot::raw_mutex::RawMutex";
const CONDVAR: [(&str, Role); 3] = [
    ("parking_lot::condvar::Condvar::wait_until_internal", Role::ParkingLotWait),
    ("parking_lot::condvar::Condvar::notify_one", Role::ParkingLotNotifyOne),
    ("parking_lot::condvar::Condvar::notify_all", Role::ParkingLotNotifyAll),
];

/// The methods of locks in a module that the runtime encloses.
pub(crate) fn methods(module: &Module, calls: &[Call]) -> Vec<Redirect> {
    if !module.has_room(BEFORE) {
        return Vec::new();
    }
    let entries = module.entries(BEFORE as u64);
    let is_lock = |name: &str| name.contains("lock_api") || name.contains("parking_lot");
    let entries: Vec<_> = entries.iter().filter(|it| is_lock(&it.linkage_name)).collect();
    let is_method = |it: &TraitMethod| role(it).is_some();
    let found = entries
        .iter()
        .filter_map(|it| Some((it.address, trait_method(&it.linkage_name).filter(is_method)?)));
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Vec::new();
    }
    let inlined = inlined(module, calls);
    let is_inlined = |name: &str| inlined.contains(name);
    let is_left_alone = |implementor: &str| {
        let mut names = METHODS.iter().map(|it| it.0);
        names.any(|it| is_inlined(&format!("{implementor}::{it}")))
    };
    let first = module.first_page();
    let row = |address: u64, (role, flags): (Role, i32)| Redirect {
        at: address.wrapping_sub(first),
        role: role as u16,
        place: place::ENTRY,
        offset: flags,
    };
    let methods = found.iter().filter(|it| !is_left_alone(&it.1.implementor));
    let mut rows: Vec<_> = methods.filter_map(|it| Some(row(it.0, role(&it.1)?))).collect();
    if !is_left_alone(PARKING_LOT_MUTEX) && !CONDVAR.iter().any(|it| is_inlined(it.0)) {
        rows.extend(entries.iter().filter_map(|it| {
            let name = source_name(&it.linkage_name);
            let role = CONDVAR.iter().find(|it| it.0 == name)?.1;
            Some(row(it.address, (role, 0)))
        }));
    }
    rows.sort_by_key(|it| it.at);
    rows.dedup_by_key(|it| it.at);
    rows
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

/// The functions that were inlined where the program performs atomic operations.
fn inlined(module: &Module, calls: &[Call]) -> BTreeSet<String> {
    let is_atomic =
        |it: &&Call| it.target.as_deref().is_some_and(|it| it.starts_with("__tsan_atomic"));
    let frames = calls.iter().filter(is_atomic).flat_map(|it| module.frames(it.returns_to - 1));
    frames.filter(|it| it.inlined).filter_map(|it| it.function.map(|it| it.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
