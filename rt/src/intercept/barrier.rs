//! Barriers.

use core::ffi::c_int;

use norn_abi::{Kind, ObjectClass};

use super::{
    interpose,
    lock::{destroy, init},
};
use crate::{real, thread};

/// What the one gets that is chosen.
const SERIAL: c_int = -1;

unsafe extern "C-unwind" fn wait(barrier: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::pthread_barrier_wait()(barrier) };
        thread::event(slot, Kind::BarrierEnter, pc, barrier, &[]);
        thread::block(slot, Kind::BarrierEnter, barrier, pc);
        let result = real::pthread_barrier_wait()(barrier);
        thread::unblock(slot);
        thread::event(slot, Kind::BarrierLeave, pc, barrier, &[u64::from(result == SERIAL)]);
        result
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
