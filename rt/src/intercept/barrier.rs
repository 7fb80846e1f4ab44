//! Barriers.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot, libc_layout::barrier};

use super::{
    interpose,
    lock::{destroy, init},
};
use crate::{control, event, real, thread};

/// `PTHREAD_BARRIER_SERIAL_THREAD`, the result for one of the threads that leave a barrier.
const SERIAL: c_int = -1;

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn wait(barrier: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::pthread_barrier_wait()(barrier) };
        event::put(slot, Kind::BarrierEnter, pc, barrier, &[]);
        control::destroyed::check(slot, barrier, ObjectClass::Barrier, pc);
        let result = if control::was_on() && !is_shared(barrier) {
            arrive(slot, barrier, pc)
        } else {
            event::block(slot, Kind::BarrierEnter, barrier, pc);
            let result = control::outside(|| real::pthread_barrier_wait()(barrier));
            event::unblock(slot);
            result
        };
        event::put(slot, Kind::BarrierLeave, pc, barrier, &[u64::from(result == SERIAL)]);
        result
    }
}

/// Whether a barrier is shared between processes.
///
/// # Safety
/// `object` points to a `pthread_barrier_t`.
unsafe fn is_shared(object: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe { *(object as *const u32).add(barrier::SHARED) != 0 }
}

/// Waits at a barrier in a controlled run. Only the scheduler knows the waiting threads; libc's
/// barrier is not used.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `object` points to a
/// `pthread_barrier_t`.
unsafe fn arrive(slot: *mut ThreadSlot, object: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller; the layout was checked.
    unsafe {
        let all = *(object as *const u32).add(barrier::COUNT) as usize;
        match control::meet_others(slot, (Kind::BarrierEnter, object, pc), all) {
            true => SERIAL,
            false => 0,
        }
    }
}

init! {
    barrier_init(with: usize, count: u32) = pthread_barrier_init, ObjectClass::Barrier, count;
}
destroy! { barrier_destroy = pthread_barrier_destroy, ObjectClass::Barrier; }

interpose! {
    pthread_barrier_init(3) => barrier_init;
    pthread_barrier_destroy(1) => barrier_destroy;
    pthread_barrier_wait(1) => wait;
}
