//! The functions of OpenMP that programs call by name. What is not listed here does not depend on the
//! team of the calling thread, and is left to the library.

use core::ffi::c_int;

use norn_abi::arena::ThreadSlot;

use super::replace;
use crate::{
    omp::{self, Context, Member, lock},
    real, thread,
};

/// The current thread's slot and OpenMP state, and the call site of the construct.
///
/// # Safety
/// Called on behalf of a construct, by [`replace`].
pub unsafe fn here() -> Option<(*mut ThreadSlot, *mut Member, usize)> {
    let slot = thread::recorded()?;
    // SAFETY: the slot is the current thread's.
    unsafe { Some((slot, &raw mut *omp::member(slot)?, (*thread::own(slot)).call_pc)) }
}

/// # Safety
/// As for [`here`].
unsafe fn context() -> Option<Context> {
    // SAFETY: guaranteed by the caller; the member is the current thread's.
    unsafe { here().map(|(_, member, _)| (*member).now) }
}

/// Number of threads of a region for which the program requests `wanted`; 0 if it requests none.
///
/// # Safety
/// The member is the current thread's.
pub unsafe fn team_size(member: *mut Member, wanted: u32) -> u32 {
    static REAL: real::Symbol = real::Symbol::new("omp_get_max_threads\0");
    // SAFETY: guaranteed by the caller; the symbol has this type.
    unsafe {
        let wanted = match core::mem::take(&mut (*member).wanted) {
            0 => wanted,
            requested => requested,
        };
        if wanted != 0 || (*member).now.is_parallel() || REAL.get() == 0 {
            return wanted.max(1);
        }
        let most = core::mem::transmute::<usize, unsafe extern "C" fn() -> c_int>(REAL.get())();
        u32::try_from(most).unwrap_or(1).max(1)
    }
}

/// Defines functions that tell something about the current thread's region.
macro_rules! tell {
    ($($name:ident($($arg:ident)?) = |$now:ident| $value:expr;)*) => { $(
        /// # Safety
        /// As for the function of the library in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: c_int)?) -> c_int {
            // SAFETY: guaranteed by the caller.
            let Some($now) = (unsafe { context() }) else { return 0 };
            ($value) as c_int
        }
    )* };
}

tell! {
    thread_num() = |now| now.number;
    num_threads() = |now| now.size();
    in_parallel() = |now| now.is_parallel();
    level() = |now| now.level;
    active_level() = |now| now.is_parallel();
    ancestor_num(level) = |now| match level {
        0 => 0,
        level if level < 0 || level as u32 > now.level => -1,
        _ => now.number as c_int,
    };
    level_size(level) = |now| match level {
        0 => 1,
        level if level < 0 || level as u32 > now.level => -1,
        _ => now.size() as c_int,
    };
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn init(object: usize) {
    // SAFETY: guaranteed by the caller: a lock has four bytes, a nestable one eight.
    unsafe { lock::init(object) };
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn init_hint(object: usize, _hint: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe { init(object) };
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn destroy(_object: usize) {}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn set(object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::acquire(slot, object, pc);
        }
    }
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn unset(object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::release(slot, object, pc);
        }
    }
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn test(object: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, _, pc)) = here() else { return 0 };
        c_int::from(lock::try_acquire(slot, object, pc))
    }
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn set_nest(object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::acquire_again(slot, object, pc);
        }
    }
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn unset_nest(object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::release_again(slot, object, pc);
        }
    }
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn test_nest(object: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, _, pc)) = here() else { return 0 };
        lock::try_acquire_again(slot, object, pc) as c_int
    }
}

replace! {
    omp_get_thread_num => thread_num;
    omp_get_num_threads => num_threads;
    omp_in_parallel => in_parallel;
    omp_get_level => level;
    omp_get_active_level => active_level;
    omp_get_ancestor_thread_num => ancestor_num;
    omp_get_team_size => level_size;
    omp_init_lock => init;
    omp_init_lock_with_hint => init_hint;
    omp_destroy_lock => destroy;
    omp_set_lock => set;
    omp_unset_lock => unset;
    omp_test_lock => test;
    omp_init_nest_lock => init_nest;
    omp_init_nest_lock_with_hint => init_nest_hint;
    omp_destroy_nest_lock => destroy;
    omp_set_nest_lock => set_nest;
    omp_unset_nest_lock => unset_nest;
    omp_test_nest_lock => test_nest;
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn init_nest(object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { lock::init_nest(object) };
}

/// # Safety
/// As for the function of the library in whose place it is called.
unsafe extern "C-unwind" fn init_nest_hint(object: usize, _hint: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe { lock::init_nest(object) };
}
