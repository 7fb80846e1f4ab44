//! `longjmp` leaves functions without their exit hooks. The shadow stack is cut back to the frames
//! that still exist.

use core::arch::asm;

use norn_abi::{Kind, arena::FRAMES};

use super::{load, signal, tap};
use crate::{arena, function, number, real, thread, tls};

/// Index of the stack pointer in libc's `jmp_buf`.
const STACK_POINTER: usize = 6;

/// The stack pointer in a jump buffer, which libc stores mangled (`PTR_MANGLE`).
///
/// # Safety
/// `buffer` points to an initialised `jmp_buf`.
unsafe fn target(buffer: usize) -> usize {
    let mut sp: usize;
    // SAFETY: the `jmp_buf` is guaranteed by the caller; libc's key is in the thread control block.
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

/// Called when an exception is caught: the functions between the throw and the handler were left.
///
/// # Safety
/// Called when an exception is caught, with the stack pointer of the function that catches it.
#[cfg(not(feature = "static"))]
unsafe extern "C" fn caught(pc: usize, _exception: usize, sp: usize) -> usize {
    let slot = tls::current();
    let real = real::cxx::__cxa_begin_catch(pc);
    if !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe {
            // The library itself catches an exception before it aborts the program.
            if !load::are_together(pc, real) {
                (*thread::own(slot)).thrown = 0;
            }
            function::expire(slot, sp);
        }
    }
    real
}

/// Called when an exception is thrown. If nothing catches it, the library aborts the program, and the throw is the place
/// that the program knows.
///
/// # Safety
/// Called when an exception is thrown.
#[cfg(not(feature = "static"))]
unsafe extern "C" fn thrown(pc: usize, _exception: usize, _sp: usize) -> usize {
    let slot = tls::current();
    if !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe { (*thread::own(slot)).thrown = pc };
    }
    real::cxx::__cxa_throw(pc)
}

#[cfg(not(feature = "static"))]
tap! {
    __cxa_begin_catch => caught;
    __cxa_throw => thrown;
}

macro_rules! jumps {
    ($($name:ident;)*) => { $(
        /// # Safety
        /// Called by the stub of a jump, with its `jmp_buf`.
        unsafe extern "C" fn $name(_pc: usize, buffer: usize) -> usize {
            // SAFETY: guaranteed by the caller.
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
