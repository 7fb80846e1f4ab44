//! `thread::scope`: the threads of a scope count down when they are done, and the scope waits until the
//! number is 0. The count is decremented in compiled code of `std`.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

use norn_abi::{Kind, rust_std::Role};

use super::{
    park::inside,
    redirect::{entries, original},
};
use crate::{event, thread};

/// # Safety
/// As for `ScopeData::decrement_num_running_threads` of `std`.
unsafe extern "C-unwind" fn do_end(scope: usize, panics: usize, pc: usize) {
    type End = unsafe extern "C-unwind" fn(usize, usize);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        if let Some(slot) = thread::recorded() {
            let count = scope + original(Role::ScopeCount);
            event::put(slot, Kind::HappensBefore, pc, count, &[]);
        }
        let real = core::mem::transmute::<usize, End>(original(Role::ScopeEnd));
        inside(pc, || real(scope, panics));
    }
}

/// # Safety
/// `count` is the number of threads that a scope waits for.
unsafe extern "C" fn do_load(count: &AtomicU64, _: c_int, pc: usize) -> u64 {
    let running = count.load(Ordering::Acquire);
    if running == 0
        && let Some(slot) = thread::recorded()
    {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::HappensAfter, pc, count.as_ptr() as usize, &[]) };
    }
    running
}

entries! {
    end(2) => do_end;
    load(2) => do_load;
}
