//! Types of Rust's standard library that only wrap the user's data, or are one thing to the user.
//!
//! The value in `static BANK: Mutex<Bank>` is `BANK.data.value` to the compiler, and `BANK` to the user. Such
//! types have no named members here, so that paths lead through them: `BANK.accounts[1]`.

use crate::{
    name,
    types::Member,
    unit::{DieId, Units},
};

/// The names of these types, without generic arguments. Those of atomic variables and cells begin with
/// one of them.
const WRAPPERS: [&str; 22] = [
    "Option",
    "Result",
    "UnsafeCell",
    "SyncUnsafeCell",
    "Cell",
    "Atomic",
    "Mutex",
    "RwLock",
    "Condvar",
    "Once",
    "OnceLock",
    "LazyLock",
    "Barrier",
    "Flag",
    "Parker",
    "MaybeUninit",
    "ManuallyDrop",
    "MaybeDangling",
    "ArcInner",
    "Futex",
    "CachePadded",
    "AtomicBool",
];

/// The members of pointers to slices and to objects with a virtual table: the pointer, and what belongs to it.
const WIDE: [[&str; 2]; 2] = [["data_ptr", "length"], ["pointer", "vtable"]];

/// Removes the names of members if a record is such a type.
pub(crate) fn unwrap(units: &Units<'_>, record: DieId, members: &mut [Member]) {
    if is_wrapper(units, record) {
        for member in members {
            member.name = None;
        }
    } else if let [pointer, rest] = members
        && WIDE.contains(
            &[pointer.name.as_deref(), rest.name.as_deref()].map(Option::unwrap_or_default),
        )
    {
        pointer.name = None;
    }
}

fn is_wrapper(units: &Units<'_>, record: DieId) -> bool {
    let Some(name) = name::plain(units, record) else { return false };
    let name = name.split('<').next().unwrap_or(&name);
    if !WRAPPERS.contains(&name) && !is_atomic(name) {
        return false;
    }
    let scopes = units.scopes(units.declaration(record));
    let Some(outermost) = scopes.first() else { return false };
    let outermost = name::plain(units, DieId { offset: outermost.offset, ..record });
    outermost.is_some_and(|it| matches!(it.as_str(), "core" | "alloc" | "std"))
}

/// Older versions have a type for each width: `AtomicU32`.
fn is_atomic(name: &str) -> bool {
    let width = name.strip_prefix("Atomic").unwrap_or("");
    width.starts_with(['U', 'I', 'P'])
}
