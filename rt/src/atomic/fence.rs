//! Fences, which order atomic operations on other objects.

use core::{
    arch::global_asm,
    ffi::c_int,
    sync::atomic::{Ordering, fence},
};

use norn_abi::Kind;

use super::export;
use crate::{control::memory, event, thread};

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe extern "C" fn thread_fence(order: c_int, pc: usize) {
    fence(Ordering::SeqCst);
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            event::put(slot, Kind::Fence, pc, order as usize, &[]);
            if memory::is_on() {
                memory::fence(slot, order);
            }
        }
    }
}

export!("__tsan_atomic_thread_fence", "rsi", thread_fence);

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: c_int) {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}
