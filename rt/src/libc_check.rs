//! Checks once, when the process starts, whether libc's objects have the expected layout.
//!
//! A controlled run depends on owners, counts and clocks that only libc's objects contain. With an
//! unknown layout these would be guesses, so such a process is not controlled. It is not recorded
//! either, because its run would be mistaken for a controlled one. A run that is only recorded
//! needs the layout only to detect an `unlock` that will fail.

use core::{
    ffi::{CStr, c_char},
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::{
    control::strategy,
    libc_layout::{Functions, UnknownLayout, check},
};

use crate::{arena, real, sys};

static KNOWN: AtomicBool = AtomicBool::new(false);

/// Whether the layouts are known.
#[inline(always)]
pub fn is_known() -> bool {
    KNOWN.load(Ordering::Relaxed)
}

/// Checks the layouts. Returns whether this process may be recorded. The arena must be open.
pub fn accept() -> bool {
    let functions = Functions {
        mutex_init: real::pthread_mutex_init(),
        mutex_lock: real::pthread_mutex_lock(),
        mutex_unlock: real::pthread_mutex_unlock(),
        mutex_destroy: real::pthread_mutex_destroy(),
        rwlock_init: real::pthread_rwlock_init(),
        rwlock_rdlock: real::pthread_rwlock_rdlock(),
        rwlock_wrlock: real::pthread_rwlock_wrlock(),
        rwlock_unlock: real::pthread_rwlock_unlock(),
        cond_init: real::pthread_cond_init(),
        cond_destroy: real::pthread_cond_destroy(),
        barrier_init: real::pthread_barrier_init(),
        barrier_destroy: real::pthread_barrier_destroy(),
        semaphore_init: real::sem_init(),
        semaphore_destroy: real::sem_destroy(),
        once: real::pthread_once(),
    };
    // SAFETY: the functions are those of libc.
    match unsafe { check(&functions, sys::thread_id()) } {
        Ok(()) => {
            KNOWN.store(true, Ordering::Relaxed);
            true
        }
        Err(unknown) => {
            let controlled = arena::plan().strategy != strategy::NONE;
            explain(unknown, controlled);
            !controlled
        }
    }
}

/// Reports which layout is unknown, and the consequence.
fn explain(unknown: UnknownLayout, controlled: bool) {
    sys::say("norn: unknown layout of ");
    sys::say(unknown.object);
    sys::say(" in libc ");
    // SAFETY: libc returns a constant C string.
    let version = unsafe { CStr::from_ptr(gnu_get_libc_version()) };
    sys::say(version.to_str().unwrap_or("of unknown version"));
    sys::say(if controlled {
        ": this run cannot be controlled, and is not recorded\n"
    } else {
        ": an unlock by another thread than the owner is recorded as if it succeeded\n"
    });
}

unsafe extern "C" {
    fn gnu_get_libc_version() -> *const c_char;
}
