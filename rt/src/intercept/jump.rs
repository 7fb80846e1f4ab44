//! `longjmp` leaves functions without their exit hooks. The shadow stack is cut back to the
//! frames that are still there.

use core::arch::asm;

use norn_abi::{Kind, arena::FRAMES};

use super::{signal, tap};
use crate::{arena, function, number, real, thread, tls};

/// Where libc keeps the stack pointer in a `jmp_buf`.
const STACK_POINTER: usize = 6;

/// The stack pointer in a jump buffer, which libc stores scrambled.
///
/// # Safety
/// `buffer` points to a `jmp_buf` that is set.
unsafe fn target(buffer: usize) -> usize {
    let mut sp: usize;
    // SAFETY: the caller's `jmp_buf`; libc's key lies in the thread's control block.
    unsafe {
        sp = *(buffer as *const usize).add(STACK_POINTER);
        asm!(
            "ror {sp}, 17",
            "xor {sp}, qword ptr fs:[0x30]",
            sp = inout(reg) sp,
            options(nostack, readonly),
        );
    }
    sp
}

/// # Safety
/// `buffer` points to a `jmp_buf` to which the program is about to jump.
unsafe fn cut(buffer: usize) {
    // SAFETY: the slots are the current thread's.
    unsafe {
        if tls::current() == tls::BUSY.slot() {
            thread::resume();
        }
        if tls::is_stand(tls::current()) {
            return;
        }
        let sp = target(buffer);
        signal::leave_handlers(sp);
        let slot = tls::current();
        function::expire(slot, sp);
        let mut depth = (*slot).depth.min(FRAMES);
        while depth > 0 && (*slot).frames[depth - 1].sp < sp {
            depth -= 1;
        }
        if depth < (*slot).depth && arena::make_room(slot) {
            (*slot).depth = depth;
            (*slot).lane.sync(Kind::Unwind, 0, depth, number::next(slot), &[]);
        }
    }
}

/// An exception is caught: functions between here and where it was thrown are left.
///
/// # Safety
/// Called when an exception is caught, with the stack pointer of the function that catches it.
#[cfg(not(feature = "static"))]
unsafe extern "C" fn caught(_pc: usize, _exception: usize, sp: usize) -> usize {
    let slot = tls::current();
    if !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe { function::expire(slot, sp) };
    }
    real::cxx::__cxa_begin_catch()
}

#[cfg(not(feature = "static"))]
tap! { __cxa_begin_catch => caught; }

macro_rules! jumps {
    ($($name:ident;)*) => { $(
        /// # Safety
        /// Called on the way to a jump, with its `jmp_buf`.
        unsafe extern "C" fn $name(_pc: usize, buffer: usize) -> usize {
            // SAFETY: as the caller called it.
            unsafe { cut(buffer) };
            real::$name() as *const () as usize
        }
        tap! { $name => $name; }
    )* };
}

jumps! {
    longjmp;
    _longjmp;
    siglongjmp;
    __longjmp_chk;
}
