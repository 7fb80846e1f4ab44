//! `thread::scope`: the threads of a scope count down when they are done, and the scope waits until the
//! number is 0. The count is decremented in compiled code of `std`. Each thread sends one item when it is
//! done, and the scope receives them all: schedules must not let it go on before.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

use norn_abi::{Kind, receipt, rust_std::Role};

use super::{
    park::inside,
    redirect::{entries, original},
};
use crate::{
    channel::{self, Sending},
    control::{self, NEVER},
    event, thread,
};

/// More items than a scope can have threads.
const ALL: u64 = 1 << 32;

/// # Safety
/// As for `ScopeData::decrement_num_running_threads` of `std`.
unsafe extern "C-unwind" fn do_end(scope: usize, panics: usize, pc: usize) {
    type End = unsafe extern "C-unwind" fn(usize, usize);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let done = channel::of_futex(scope + original(Role::ScopeCount));
        let sending = thread::recorded().map(|slot| Sending::new(slot, done, pc));
        let real = core::mem::transmute::<usize, End>(original(Role::ScopeEnd));
        inside(pc, || real(scope, panics));
        if let Some(sending) = sending {
            sending.done(Some(1), 0);
            control::release(Kind::Futex, scope + original(Role::ScopeCount));
        }
    }
}

/// `std` loads the number, and parks if it is not 0, until it is. How often depends on the schedule; so in
/// a controlled run the first load waits.
///
/// # Safety
/// `count` is the number of threads that a scope waits for.
unsafe extern "C" fn do_load(count: &AtomicU64, _: c_int, pc: usize) -> u64 {
    let running = || count.load(Ordering::Acquire);
    let Some(slot) = thread::recorded() else { return running() };
    let at = count.as_ptr() as usize;
    let done = channel::of_futex(at);
    // SAFETY: the slot is the current thread's.
    unsafe {
        if control::is_on() {
            channel::before(slot, Kind::Receive, pc, done);
            while running() != 0 {
                control::block(slot, Kind::Futex, at, pc, NEVER);
            }
        }
        let running = running();
        if running == 0 {
            event::note(slot, Kind::Receive, pc, done as usize, &[ALL, receipt::NEXT]);
        }
        running
    }
}

entries! {
    end(2) => do_end;
    load(2) => do_load;
}
