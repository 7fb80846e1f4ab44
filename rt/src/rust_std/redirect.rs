//! Redirects calls in the program's code.
//!
//! A call of a hook, or of a function of `std`, is an instruction with the distance to its target. The
//! runtime is linked into the same executable, so its own functions are in reach, and only the distance
//! changes. Functions are also called through slots with their addresses, which compilers load in advance;
//! then the address in the slot changes. We chose this over a lookup of the site in each hook of an atomic operation, which would slow
//! all of them down, and over the first instructions of `std`'s functions, which would have to be moved.

use core::{
    arch::asm,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use norn_abi::{
    function::{REDIRECTS, about},
    rust_std::{ROLES, Redirect, Role, place},
};

use super::{
    barrier, compiled, condvar, inlined_lock, lock_api, merged, method, mutex, once, park,
    parking_lot, rwlock, scope,
};
use crate::{arena, function, sys};

/// By role: the function of `std` that the first redirected call had as its target, or the offset.
pub(super) static ORIGINAL: [AtomicUsize; ROLES] = [const { AtomicUsize::new(0) }; ROLES];

core::arch::global_asm!(".weak norn_rust_std");

/// Whether the program contains Rust's standard library: `norn rustc` defines a symbol then.
pub fn is_used() -> bool {
    let symbol: usize;
    // SAFETY: reads the address of the symbol, which is 0 if it is not defined.
    unsafe {
        asm!(
            "mov {}, qword ptr [rip + norn_rust_std@GOTPCREL]",
            out(reg) symbol,
            options(nostack, preserves_flags, readonly),
        );
    }
    symbol != 0
}

/// Redirects the calls of the program.
///
/// # Safety
/// The program is mapped at `start`, no thread executes its code now except this one, and the caller
/// holds the lock of the module list.
pub unsafe fn install(start: usize, path: &[u8]) {
    // A forked process has the redirected code of its parent.
    static DONE: AtomicBool = AtomicBool::new(false);
    if !arena::is_open() || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: guaranteed by the caller. The answer has at most as many rows as fit.
    unsafe {
        function::ask(start, path, about::RUST_STD, |inquiry, count| {
            let rows = inquiry.functions.as_ptr().cast::<Redirect>();
            for at in 0..count.min(REDIRECTS) {
                let row = &*rows.add(at);
                if !apply(start, row) {
                    inquiry.refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
}

/// # Safety
/// As for [`install`].
unsafe fn apply(start: usize, row: &Redirect) -> bool {
    let Some(original) = ORIGINAL.get(row.role as usize) else { return false };
    let (at, replacement) = (start + row.at as usize, replacement(row.role));
    // SAFETY: guaranteed by the caller.
    let before = unsafe {
        match (row.place, replacement) {
            (place::CALL, Some(replacement)) => redirect(at, replacement),
            (place::SLOT, Some(replacement)) => replace_slot(at, replacement),
            (place::ENTRY, Some(replacement)) => method::enclose(at, replacement, row.offset),
            (place::RANGE, _) => compiled::add(at, row.offset as usize),
            _ => Some(row.offset as isize as usize),
        }
    };
    if let Some(before) = before {
        original.store(before, Ordering::Relaxed);
    }
    before.is_some()
}

/// Changes the address in a slot, and returns the one that it had. The loader has filled in all slots,
/// and may have made them read-only; they stay writable.
///
/// # Safety
/// As for [`install`].
unsafe fn replace_slot(slot: usize, target: usize) -> Option<usize> {
    let page = slot & !sys::PAGE_MASK;
    if !sys::protect(page, sys::PAGE_MASK + 1, sys::DATA) {
        return None;
    }
    // SAFETY: the recorder has found the slot in the file.
    Some(unsafe { (slot as *mut usize).replace(target) })
}

/// Changes the target of the call that returns to `back`, and returns the target that it had.
///
/// # Safety
/// As for [`install`].
unsafe fn redirect(back: usize, target: usize) -> Option<usize> {
    // SAFETY: the recorder has found a call here, in the file.
    unsafe {
        let distance = i32::try_from(target.wrapping_sub(back) as isize).ok()?;
        let operand = (back - 4) as *mut i32;
        let before = operand.read_unaligned() as isize as usize;
        let (opcode, indirect) = (*((back - 5) as *const u8), *((back - 6) as *const [u8; 2]));
        let original = match opcode {
            CALL => back.wrapping_add(before),
            _ if indirect == CALL_THROUGH_MEMORY => *(back.wrapping_add(before) as *const usize),
            _ => return None,
        };
        let first = (back - 6) & !sys::PAGE_MASK;
        if !sys::protect(first, back - first, sys::WRITABLE_CODE) {
            return None;
        }
        operand.write_unaligned(distance);
        if opcode != CALL {
            ((back - 6) as *mut [u8; 2]).write_unaligned([ADDRESS_SIZE, CALL]);
        }
        sys::protect(first, back - first, sys::CODE);
        Some(original)
    }
}

const CALL: u8 = 0xe8;
const CALL_THROUGH_MEMORY: [u8; 2] = [0xff, 0x15];
/// A prefix without effect on a call, which makes it as long as one through memory. Linkers do the same.
const ADDRESS_SIZE: u8 = 0x67;

/// The function of `std` that a role's call had as its target; for the others, the offset.
pub fn original(role: Role) -> usize {
    ORIGINAL[role as usize].load(Ordering::Relaxed)
}

/// The function of the runtime for a role.
fn replacement(role: u16) -> Option<usize> {
    const {
        assert!(Role::CurrentThread as usize == REPLACEMENTS.len());
    }
    let replacement = REPLACEMENTS.get(role as usize)?;
    Some(*replacement as *const () as usize)
}

type Function = unsafe extern "C" fn();

/// By role.
const REPLACEMENTS: [Function; 82] = [
    mutex::lock,
    mutex::try_lock,
    mutex::unlock,
    rwlock::read_load,
    rwlock::read,
    rwlock::try_read_load,
    rwlock::try_read,
    rwlock::read_unlock,
    rwlock::write,
    rwlock::try_write_load,
    rwlock::try_write,
    rwlock::write_unlock,
    rwlock::downgrade,
    once::completed,
    park::unpark,
    scope::load,
    mutex::poison_load,
    mutex::panic_count_load,
    mutex::lock_result,
    mutex::try_lock_result,
    rwlock::read_result,
    rwlock::try_read_result,
    rwlock::write_result,
    rwlock::try_write_result,
    mutex::lock_call,
    mutex::try_lock_call,
    mutex::unlock_call,
    rwlock::read_call,
    rwlock::try_read_call,
    rwlock::read_unlock_call,
    rwlock::write_call,
    rwlock::try_write_call,
    rwlock::write_unlock_call,
    rwlock::downgrade_call,
    once::completed_call,
    park::unpark_call,
    mutex::poison_load,
    condvar::wait,
    condvar::wait_timeout,
    condvar::notify_one,
    condvar::notify_all,
    once::call,
    once::wait,
    park::park,
    park::park_timeout,
    park::thread_park,
    park::thread_park_timeout,
    barrier::wait,
    scope::end,
    lock_api::lock,
    lock_api::try_lock,
    lock_api::unlock,
    lock_api::downgrade,
    lock_api::upgrade,
    lock_api::try_upgrade,
    lock_api::other,
    parking_lot::wait,
    parking_lot::notify_one,
    parking_lot::notify_all,
    inlined_lock::attempt8,
    inlined_lock::attempt64,
    inlined_lock::attempt_load64,
    inlined_lock::try_load8,
    inlined_lock::try8,
    inlined_lock::try64,
    inlined_lock::give8,
    inlined_lock::give64,
    inlined_lock::give_shared64,
    inlined_lock::load8,
    inlined_lock::load64,
    inlined_lock::lock_until,
    inlined_lock::lock_shared_until,
    inlined_lock::given,
    inlined_lock::notify_one_load,
    inlined_lock::notify_all_load,
    inlined_lock::notify_one_slow,
    inlined_lock::notify_all_slow,
    merged::exchange,
    merged::subtraction,
    inlined_lock::merged8,
    inlined_lock::merged64,
    merged::shared,
];

/// A `Result<u32, u32>` as Rust returns it, in two registers.
#[repr(C)]
pub struct Outcome {
    is_error: u64,
    value: u64,
}

impl Outcome {
    /// The result of a compare-exchange.
    pub fn new(expected: u32, seen: u32) -> Outcome {
        Outcome { is_error: u64::from(seen != expected), value: u64::from(seen) }
    }
}

/// `name => function;`: a compare-exchange whose result is an [`Outcome`].
macro_rules! results {
    ($($name:ident => $function:ident($object:ty);)*) => { $(
        /// # Safety
        /// As for the compare-exchange.
        unsafe extern "C" fn $name(
            object: &$object,
            expected: u32,
            new: u32,
            order: c_int,
            failure: c_int,
            pc: usize,
        ) -> $crate::rust_std::redirect::Outcome {
            // SAFETY: guaranteed by the caller.
            let seen = unsafe { $function(object, expected, new, order, failure, pc) };
            $crate::rust_std::redirect::Outcome::new(expected, seen)
        }
    )* };
}
pub(super) use results;

/// `name(n) => function;`: an entry that passes its return address to `function` as an additional
/// argument, after `n` others.
macro_rules! entries {
    ($($name:ident($count:tt) => $function:path;)*) => { $(
        /// # Safety
        /// As for the function that it jumps to.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $crate::capture::capture!(),
                concat!("mov ", $crate::intercept::register!($count), ", qword ptr [rsp]"),
                "jmp {function}",
                function = sym $function,
            )
        }
    )* };
}
pub(super) use entries;
