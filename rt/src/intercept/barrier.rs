//! Barriers.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot};

use super::{
    interpose,
    lock::{destroy, init},
};
use crate::{control, event, real, thread};

/// What the one gets that is chosen.
const SERIAL: c_int = -1;

unsafe extern "C-unwind" fn wait(barrier: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::pthread_barrier_wait()(barrier) };
        event::put(slot, Kind::BarrierEnter, pc, barrier, &[]);
        control::grave::check(slot, barrier, ObjectClass::Barrier, pc);
        let result = if control::was_on() && !is_shared(barrier) {
            arrive(slot, barrier, pc)
        } else {
            event::block(slot, Kind::BarrierEnter, barrier, pc);
            let result = real::pthread_barrier_wait()(barrier);
            event::unblock(slot);
            result
        };
        event::put(slot, Kind::BarrierLeave, pc, barrier, &[u64::from(result == SERIAL)]);
        result
    }
}

/// Whether a barrier is shared between processes; libc notes that in its fourth word.
unsafe fn is_shared(barrier: usize) -> bool {
    // SAFETY: the caller's barrier.
    unsafe { *(barrier as *const u32).add(3) != 0 }
}

/// Waits for the others while we decide which thread goes next: those who wait are known to the
/// scheduler alone. How many there must be, libc keeps in the third word.
unsafe fn arrive(slot: *mut ThreadSlot, barrier: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let all = *(barrier as *const u32).add(2) as usize;
        match control::meet_others(slot, (Kind::BarrierEnter, barrier, pc), all) {
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
