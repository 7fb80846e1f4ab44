//! The environment. libc is not instrumented, and POSIX lets no thread read the environment while another one
//! changes it. So each function that changes it counts as a write of `environ`, and each that searches it as
//! a read, although libc may leave that variable as it is and exchange a text.

use core::ffi::c_int;

use norn_abi::{Kind, lane::Content};

use super::interpose;
use crate::{
    block::{touch, touched},
    control, real, thread,
};

/// Size of `environ`.
const SIZE: usize = size_of::<usize>();

fn variable() -> usize {
    &raw const real::environ as usize
}

/// Makes a call that changes the environment.
///
/// # Safety
/// As for the function of libc that `call` calls.
unsafe fn changes(pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        control::before(slot, Kind::RangeWrite, pc, variable());
        (*slot).lane.settle_any();
        // The texts that libc allocates belong to the environment, and are never freed.
        let result = thread::quietly(slot, call);
        touched(slot, Kind::RangeWrite, variable(), SIZE, pc, Content::Now);
        result
    }
}

/// Records that the environment is about to be searched.
///
/// # Safety
/// None but that of recording.
unsafe fn searches(pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { touch(slot, Kind::RangeRead, variable(), SIZE, pc, Content::Now) };
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getenv(name: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        searches(pc);
        real::getenv()(name)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn secure_getenv(name: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        searches(pc);
        real::secure_getenv()(name)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn setenv(name: usize, value: usize, replace: c_int, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { changes(pc, || real::setenv()(name, value, replace)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn unsetenv(name: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { changes(pc, || real::unsetenv()(name)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn putenv(text: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { changes(pc, || real::putenv()(text)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn clearenv(pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { changes(pc, || real::clearenv()()) }
}

interpose! {
    getenv(1) => getenv;
    secure_getenv(1) => secure_getenv;
    setenv(3) => setenv;
    unsetenv(1) => unsetenv;
    putenv(1) => putenv;
    clearenv(0) => clearenv;
}
