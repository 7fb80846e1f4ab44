//! The atomic operations of well-known locks of the crate `lock_api` where the compiler inlined their methods.
//!
//! These locks are built alike: a method performs one or two atomic operations, and calls a function with a name that ends in
//! `_slow` if they fail. The runtime lets the operations fail and encloses the functions, or performs the operations
//! in its own way; see `rt/src/rust_std/inlined_lock.rs`. An operation that is not in these tables means that the
//! lock is of another version, or that such a function was inlined as well: then all of the lock is left alone.

use norn_abi::rust_std::{
    Role,
    raw_lock::{READ_WRITE, SHARED, WRITERS_FIRST},
};

/// The mutex of `parking_lot`, and the condition variable that belongs to it.
pub(crate) const PARKING_LOT_MUTEX: &str = "parking_lot::raw_mutex::RawMutex";
pub(crate) const CONDVAR: &str = "parking_lot::condvar::Condvar";
pub(crate) const PARKING_LOT_RWLOCK: &str = "parking_lot::raw_rwlock::RawRwLock";
const DASHMAP_RWLOCK: &str = "dashmap::lock::RawRwLock";
/// The types in the tables.
pub(crate) const KNOWN: [&str; 4] =
    [PARKING_LOT_MUTEX, PARKING_LOT_RWLOCK, DASHMAP_RWLOCK, CONDVAR];

/// The end of the names of functions that methods call when their operations fail.
const SLOW: &str = "_slow";

/// Operations of a type: the methods, the operation, and its role.
type Operations = &'static [(&'static [&'static str], &'static str, Role)];
/// Functions of a type: the name, the role and its flags.
type Functions = &'static [(&'static str, Role, i32)];

const MUTEX_OPERATIONS: Operations = &[
    (&["lock", "try_lock_for", "try_lock_until"], "8_compare_exchange_val", Role::RawAttempt8),
    (&["try_lock"], "8_load", Role::RawTryLoad8),
    (&["try_lock"], "8_compare_exchange_val", Role::RawTry8),
    (&["unlock", "unlock_fair"], "8_compare_exchange_val", Role::RawGive8),
    (&["bump"], "8_load", Role::RawLoad8),
];
const MUTEX_FUNCTIONS: Functions = &[
    ("lock_slow", Role::RawLockUntil, 0),
    ("unlock_slow", Role::RawGiven, 0),
    ("bump_slow", Role::RawOther, 0),
];

/// The methods that read the state first, and give up at once if a writer has the lock.
const READING: &[&str] = &[
    "lock_shared",
    "try_lock_shared",
    "try_lock_shared_for",
    "try_lock_shared_until",
    "lock_shared_recursive",
    "try_lock_shared_recursive",
    "try_lock_shared_recursive_for",
    "try_lock_shared_recursive_until",
    "lock_upgradable",
    "try_lock_upgradable",
    "try_lock_upgradable_for",
    "try_lock_upgradable_until",
    "unlock_upgradable",
    "unlock_upgradable_fair",
];
const WRITING: &[&str] = &["lock_exclusive", "try_lock_exclusive_for", "try_lock_exclusive_until"];

const RWLOCK_OPERATIONS: Operations = &[
    (READING, "64_load", Role::RawAttemptLoad64),
    (READING, "64_compare_exchange_val", Role::RawAttempt64),
    (WRITING, "64_compare_exchange_val", Role::RawAttempt64),
    (&["try_lock_exclusive"], "64_compare_exchange_val", Role::RawTry64),
    (&["unlock_exclusive", "unlock_exclusive_fair"], "64_compare_exchange_val", Role::RawGive64),
    (&["unlock_shared", "unlock_shared_fair"], "64_fetch_sub", Role::RawGiveShared64),
    (&["bump_shared", "bump_exclusive", "bump_upgradable"], "64_load", Role::RawLoad64),
];
const RWLOCK_FUNCTIONS: Functions = &[
    ("lock_exclusive_slow", Role::RawLockUntil, READ_WRITE | WRITERS_FIRST),
    ("unlock_exclusive_slow", Role::RawGiven, READ_WRITE),
    ("lock_shared_slow", Role::RawLockSharedUntil, SHARED | WRITERS_FIRST),
    ("try_lock_shared_slow", Role::RawTryLock, SHARED),
    ("unlock_shared_slow", Role::RawOther, 0),
    ("lock_upgradable_slow", Role::RawLockUntil, SHARED | WRITERS_FIRST),
    ("try_lock_upgradable_slow", Role::RawTryLock, SHARED),
    ("unlock_upgradable_slow", Role::RawUnlock, SHARED),
    ("bump_shared_slow", Role::RawOther, 0),
    ("bump_exclusive_slow", Role::RawOther, 0),
    ("bump_upgradable_slow", Role::RawOther, 0),
];
/// Those of `dashmap` have no time limit.
const DASHMAP_FUNCTIONS: Functions = &[
    ("lock_exclusive_slow", Role::RawLock, READ_WRITE),
    ("unlock_exclusive_slow", Role::RawGiven, READ_WRITE),
    ("lock_shared_slow", Role::RawLock, SHARED),
    ("try_lock_shared_slow", Role::RawTryLock, SHARED),
    ("unlock_shared_slow", Role::RawOther, 0),
];

const CONDVAR_OPERATIONS: Operations = &[
    (&["notify_one"], "64_load", Role::ParkingLotNotifyOneLoad),
    (&["notify_all"], "64_load", Role::ParkingLotNotifyAllLoad),
];
const CONDVAR_FUNCTIONS: Functions = &[
    ("notify_one_slow", Role::ParkingLotNotifyOneSlow, 0),
    ("notify_all_slow", Role::ParkingLotNotifyAllSlow, 0),
];

fn tables(of: &str) -> (Operations, Functions) {
    match of {
        PARKING_LOT_MUTEX => (MUTEX_OPERATIONS, MUTEX_FUNCTIONS),
        PARKING_LOT_RWLOCK => (RWLOCK_OPERATIONS, RWLOCK_FUNCTIONS),
        DASHMAP_RWLOCK => (RWLOCK_OPERATIONS, DASHMAP_FUNCTIONS),
        CONDVAR => (CONDVAR_OPERATIONS, CONDVAR_FUNCTIONS),
        _ => (&[], &[]),
    }
}

/// The role of an atomic operation of a type. `functions` are those that were inlined there, innermost first, and
/// `method` is the type's method among them.
pub(crate) fn operation(
    of: &str,
    method: &str,
    functions: &[String],
    operation: &str,
) -> Option<Role> {
    if functions.iter().any(|it| is_slow(it)) {
        return None;
    }
    let mut rows = tables(of).0.iter();
    rows.find(|it| it.0.contains(&method) && it.1 == operation).map(|it| it.2)
}

/// The operations that release a lock, the functions that they call if threads wait, and the role of an operation that was
/// merged from several of them.
const RELEASES: [(&str, &str, Role); 3] = [
    ("8_compare_exchange_val", "unlock_slow", Role::RawMerged8),
    ("64_compare_exchange_val", "unlock_exclusive_slow", Role::RawMerged64),
    ("64_fetch_sub", "unlock_shared_slow", Role::RawMergedShared64),
];

/// The role of an atomic operation that the compiler has merged from several ones of a type, so that debug information names
/// none of them. `is_called` says whether the function around it calls a function of the type.
pub(crate) fn merged(operation: &str, is_called: impl Fn(&str) -> bool) -> Option<Role> {
    RELEASES.iter().find(|it| it.0 == operation && is_called(it.1)).map(|it| it.2)
}

/// Whether a function is one that methods call when their operations fail.
pub(crate) fn is_slow(function: &str) -> bool {
    function.ends_with(SLOW)
}

/// The role of a function of a type, and its flags.
pub(crate) fn function(of: &str, name: &str) -> Option<(Role, i32)> {
    tables(of).1.iter().find(|it| it.0 == name).map(|it| (it.1, it.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_known_by_its_type_and_method() {
        let role = |of, method| {
            let functions =
                ["core::sync::atomic::AtomicU8::load".to_owned(), format!("{of}::{method}")];
            operation(of, method, &functions, "8_load")
        };
        assert_eq!(role(PARKING_LOT_MUTEX, "try_lock"), Some(Role::RawTryLoad8));
        assert_eq!(role(PARKING_LOT_MUTEX, "lock"), None);
        assert_eq!(role("bank::Lock", "try_lock"), None);
    }

    #[test]
    fn operations_of_functions_that_should_be_calls_are_unknown() {
        let functions = ["lock_slow", "lock"].map(|it| format!("{PARKING_LOT_MUTEX}::{it}"));
        let role =
            |functions| operation(PARKING_LOT_MUTEX, "lock", functions, "8_compare_exchange_val");
        assert_eq!(role(&functions), None);
        assert_eq!(role(&functions[1..]), Some(Role::RawAttempt8));
    }
}
