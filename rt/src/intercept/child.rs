//! Waiting for child processes, which happens after they were created.

use core::ffi::c_int;

use norn_abi::Kind;

use super::{
    interpose,
    io::{Awaited, controlled, until},
};
use crate::{
    channel,
    control::{self, NEVER},
    real, thread,
};

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn waitpid(
    process: c_int,
    status: usize,
    options: c_int,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let Some(slot) = thread::recorded() else {
            return real::waitpid()(process, status, options);
        };
        channel::before(slot, Kind::Receive, pc, 0);
        let result = wait_for_child(process, status, options, pc);
        let child = (result > 0).then(|| channel::of_process(result));
        channel::note_one(slot, child, pc, if result < 0 { real::errno() } else { 0 });
        result
    }
}

/// # Safety
/// As for `waitpid`.
unsafe fn wait_for_child(process: c_int, status: usize, options: c_int, pc: usize) -> c_int {
    const NO_HANG: c_int = 1;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| options & NO_HANG == 0) else {
            return real::waitpid()(process, status, options);
        };
        let (mut result, mut waited) = (0, false);
        let called = until(
            slot,
            pc,
            (NEVER, false),
            || Awaited::Outside,
            || {
                result = real::waitpid()(process, status, options | NO_HANG);
                if result == 0 && !core::mem::replace(&mut waited, true) {
                    control::verdict::away();
                }
                result != 0
            },
        );
        if called { result } else { -1 }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn wait(status: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { waitpid(-1, status, 0, pc) }
}

interpose! {
    waitpid(3) => waitpid;
    wait(1) => wait;
}
