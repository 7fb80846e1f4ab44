//! `pthread_once` and `call_once`. The real function decides which thread initialises; it is given
//! an initialiser of the runtime, which records the events and calls the program's initialiser.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot, libc_layout::once::RUNNING};

use super::interpose;
use crate::{
    control::{self, NEVER},
    event, real, thread,
};

type Function = unsafe extern "C-unwind" fn();

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn once(object: usize, function: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { around(object, function, pc, |function| real::pthread_once()(object, function)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn call(object: usize, function: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        around(object, function, pc, |function| {
            real::call_once()(object, function);
            0
        });
    }
}

/// # Safety
/// `object` points to a `pthread_once_t`, and `real` calls the real function for it.
unsafe fn around(
    object: usize,
    function: usize,
    pc: usize,
    real: impl FnOnce(usize) -> c_int,
) -> c_int {
    // SAFETY: the slot is the current thread's. Calls may nest, so the slot's fields are restored.
    unsafe {
        let Some(slot) = thread::recorded() else { return real(function) };
        control::before(slot, Kind::OnceDone, pc, object);
        while control::is_on() && is_running(object) {
            control::block(slot, Kind::OnceDone, object, pc, NEVER);
        }
        let own = thread::own(slot);
        let outer = ((*own).once, (*own).once_pc, (*own).once_object);
        ((*own).once, (*own).once_pc, (*own).once_object) = (function, pc, object);
        let result = real(initialise as *const () as usize);
        if (*own).once_object != 0 {
            event::note(slot, Kind::OnceDone, pc, object, &[]);
        }
        control::release(Kind::OnceDone, object);
        ((*own).once, (*own).once_pc, (*own).once_object) = outer;
        result
    }
}

/// Whether a thread is executing the initialiser.
///
/// # Safety
/// `object` points to a `pthread_once_t`.
unsafe fn is_running(object: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe { (*(object as *const AtomicU32)).load(Ordering::Acquire) & RUNNING != 0 }
}

/// # Safety
/// Called by the real function inside `around`, on the same thread.
unsafe extern "C-unwind" fn initialise() {
    let slot: *mut ThreadSlot = crate::tls::current();
    // SAFETY: called by the real function, inside `around`, on the same thread.
    unsafe {
        let own = thread::own(slot);
        let (function, pc, object) = ((*own).once, (*own).once_pc, (*own).once_object);
        event::note(slot, Kind::OnceBegin, pc, object, &[]);
        let outer = core::mem::replace(&mut (*own).once_sp, thread::stack_pointer());
        core::mem::transmute::<usize, Function>(function)();
        (*own).once_sp = outer;
        event::put(slot, Kind::OnceEnd, pc, object, &[1]);
        (*own).once_object = 0;
    }
}

interpose! {
    pthread_once(2) => once;
    call_once(2) => call;
}
