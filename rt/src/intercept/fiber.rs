//! Fibers: stacks between which a program switches by itself, announced by ThreadSanitizer's interface.
//!
//! The events of a fiber are events of the thread that runs it. So everything that one thread does in
//! several fibers is in one order, also where a switch has the flag that it does not synchronise: Norn
//! finds no races between fibers of one thread. A fiber that continues on another thread takes its order
//! with it: leaving a fiber happens before entering it again. A switch that synchronises (no flag) also
//! happens before what the target does next, on whatever thread. Each fiber has its own call stack.

use norn_abi::{
    Kind,
    arena::{FRAMES, Frame, ThreadSlot},
};

use super::interpose;
use crate::{
    arena, event, hook, number, sys,
    thread::{self, own},
};

/// `__tsan_switch_to_fiber_no_sync`.
const NO_SYNC: u32 = 1;

/// A fiber, in memory of its own. Pages of frames that it never uses cost nothing.
#[repr(C)]
struct Fiber {
    depth: usize,
    frames: [Frame; FRAMES],
}

/// Makes a fiber; null if there is no memory.
fn make() -> *mut Fiber {
    sys::map_private(size_of::<Fiber>()).map_or(core::ptr::null_mut(), |it| it as *mut Fiber)
}

/// # Safety
/// As for the function of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn create(_flags: u32) -> *mut Fiber {
    make()
}

/// # Safety
/// `fiber` is a fiber that no thread runs and that is not used any more.
unsafe extern "C" fn destroy(fiber: *mut Fiber) {
    if !fiber.is_null() {
        // SAFETY: guaranteed by the caller.
        unsafe { sys::unmap(fiber as usize, size_of::<Fiber>()) };
    }
}

/// The fiber that the current thread runs. Each thread begins with one of its own.
///
/// # Safety
/// As for the function of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn current() -> *mut Fiber {
    let Some(slot) = thread::recorded() else { return core::ptr::null_mut() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        if (*own(slot)).fiber == 0 {
            (*own(slot)).fiber = make() as usize;
        }
        (*own(slot)).fiber as *mut Fiber
    }
}

/// Called right before the program switches to another stack.
///
/// # Safety
/// `fiber` is a fiber that no other thread runs.
unsafe extern "C" fn switch_to(fiber: *mut Fiber, flags: u32, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's; the fiber is guaranteed by the caller.
    unsafe {
        let before = current();
        if before.is_null() || fiber.is_null() || before == fiber {
            return;
        }
        event::put(slot, Kind::HappensBefore, pc, before as usize, &[]);
        if flags & NO_SYNC == 0 {
            event::put(slot, Kind::HappensBefore, pc, fiber as usize, &[]);
        }
        save(slot, before);
        (*own(slot)).fiber = fiber as usize;
        restore(slot, fiber, pc);
        event::put(slot, Kind::HappensAfter, pc, fiber as usize, &[]);
    }
}

/// Saves the call stack of a fiber, and leaves all of its functions.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the fiber is the one that it runs.
unsafe fn save(slot: *mut ThreadSlot, fiber: *mut Fiber) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let depth = (*slot).depth;
        (*fiber).depth = depth.min(FRAMES);
        let (from, to) = (&raw const (*slot).frames, &raw mut (*fiber).frames);
        for at in 0..(*fiber).depth {
            *to.cast::<Frame>().add(at) = *from.cast::<Frame>().add(at);
        }
        if depth > 0 && arena::make_room(slot) {
            (*slot).depth = 0;
            (*slot).lane.sync(Kind::Unwind, 0, 0, number::next(slot), &[]);
        }
    }
}

/// Enters the functions of a fiber again.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and no function is entered.
unsafe fn restore(slot: *mut ThreadSlot, fiber: *mut Fiber, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        for at in 0..(*fiber).depth {
            let Frame { call, sp } = *(&raw const (*fiber).frames).cast::<Frame>().add(at);
            hook::enter_again(call, pc, slot, sp);
        }
    }
}

interpose! {
    __tsan_create_fiber(1) => create;
    __tsan_destroy_fiber(1) => destroy;
    __tsan_get_current_fiber(0) => current;
    __tsan_switch_to_fiber(2) => switch_to;
}
super::annotation::ignored! { __tsan_set_fiber_name }
