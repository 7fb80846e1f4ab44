//! Releases of locks that the compiler has merged.
//!
//! If a value contains a guard in one of several variants, as the result of `Mutex::lock` does, its drop releases the lock in
//! each of them. Optimisation makes one operation of these, and debug information does not say any more that it belongs to
//! `unlock`. The recorder finds such operations by where they are; whether one releases a lock is decided here, by its operand
//! and the value that it is about to change. Any other operation goes on to the hook.

use norn_abi::rust_std::Role;

use super::{inlined_lock, mutex, redirect::ORIGINAL, rwlock, rwlock_state::WRITE_LOCKED};

/// Where the hook is that the program called, in bytes from [`ORIGINAL`].
const EXCHANGE: usize = Role::MergedExchange as usize * size_of::<usize>();
const SUBTRACTION: usize = Role::MergedSubtraction as usize * size_of::<usize>();
const SHARED: usize = Role::RawMergedShared64 as usize * size_of::<usize>();

/// In place of an exchange: a release stores 0 where 1 or 2 was.
///
/// # Safety
/// As for the hook.
#[unsafe(naked)]
pub unsafe extern "C" fn exchange() {
    core::arch::naked_asm!(
        "test esi, esi",
        "jnz 2f",
        "mov eax, dword ptr [rdi]",
        "dec eax",
        "cmp eax, 1",
        "jbe {unlock}",
        "2: jmp qword ptr [rip + {original} + {at}]",
        unlock = sym mutex::unlock,
        original = sym ORIGINAL,
        at = const EXCHANGE,
    )
}

/// In place of a subtraction: a release subtracts what a reader or a writer has added.
///
/// # Safety
/// As for the hook.
#[unsafe(naked)]
pub unsafe extern "C" fn subtraction() {
    core::arch::naked_asm!(
        "cmp esi, 1",
        "je {read_unlock}",
        "cmp esi, {write_locked}",
        "je {write_unlock}",
        "jmp qword ptr [rip + {original} + {at}]",
        read_unlock = sym rwlock::read_unlock,
        write_unlock = sym rwlock::write_unlock,
        write_locked = const WRITE_LOCKED,
        original = sym ORIGINAL,
        at = const SUBTRACTION,
    )
}

/// In place of a subtraction near the release of a shared lock of `lock_api`: these count readers by more than 1, because
/// the lowest bits are flags, and counters of references count by 1.
///
/// # Safety
/// As for the hook.
#[unsafe(naked)]
pub unsafe extern "C" fn shared() {
    core::arch::naked_asm!(
        "cmp rsi, 1",
        "jne {give}",
        "jmp qword ptr [rip + {original} + {at}]",
        give = sym inlined_lock::give_shared64,
        original = sym ORIGINAL,
        at = const SHARED,
    )
}
