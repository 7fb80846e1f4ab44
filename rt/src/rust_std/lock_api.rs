//! Locks of the crate `lock_api`: those of `parking_lot` and of all other crates that implement its traits.
//!
//! A method of such a trait is code of the program, with hooks. The runtime encloses it, as annotations
//! would: what the method does to its words is not recorded, and in a controlled run a thread waits before it
//! enters the method ([`own_lock`]). What was inlined is replaced by [`inlined_lock`](super::inlined_lock).

use norn_abi::{Kind, arena::ThreadSlot, rust_std::raw_lock};

use super::{
    method::{Arguments, Enclosed, encloses, is_true},
    mutex::arrive,
};
use crate::{
    event,
    own_lock::{self, BUSY, Manner, class, given_up, request, taken},
    thread,
};

pub const WRITER: Manner =
    Manner { shared: false, read_write: true, recursive: false, writers_first: false };
pub const READER: Manner = Manner { shared: true, ..WRITER };
pub const MUTEX: Manner = Manner { read_write: false, ..WRITER };

pub fn manner(method: Enclosed) -> Manner {
    let flags = method.flags();
    Manner {
        shared: flags & raw_lock::SHARED != 0,
        read_write: flags & raw_lock::READ_WRITE != 0,
        recursive: false,
        writers_first: flags & raw_lock::WRITERS_FIRST != 0,
    }
}

/// The thread's slot, if the call of a method is to be recorded: one lock may be built on another.
pub fn recorded() -> Option<*mut ThreadSlot> {
    // SAFETY: the slot is the current thread's.
    thread::recorded().filter(|slot| unsafe { !own_lock::is_inside(*slot) })
}

/// Calls a method without recording what it does.
///
/// # Safety
/// The slot is the current thread's, and these are the arguments of the method.
pub unsafe fn silently(slot: *mut ThreadSlot, method: Enclosed, arguments: Arguments) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        own_lock::enter(slot);
        let result = method.call(arguments);
        own_lock::leave(slot);
        result
    }
}

/// Records that the thread has got a lock.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn acquired(
    slot: *mut ThreadSlot,
    lock: usize,
    (manner, tries): (Manner, bool),
    pc: usize,
) {
    taken(lock, slot, manner.shared, 1);
    // SAFETY: guaranteed by the caller.
    unsafe { event::note(slot, Kind::Acquire, pc, lock, &[request(manner, tries)]) };
}

/// Calls a method that tries to take a lock, and records whether it did.
///
/// # Safety
/// The slot is the current thread's, and these are the arguments of the method.
pub unsafe fn try_lock_with(
    slot: *mut ThreadSlot,
    (method, arguments): (Enclosed, Arguments),
    manner: Manner,
    pc: usize,
) -> usize {
    let lock = arguments[0];
    // SAFETY: guaranteed by the caller.
    unsafe {
        arrive(slot, Kind::Acquire, lock, pc);
        let result = silently(slot, method, arguments);
        if is_true(result) {
            acquired(slot, lock, (manner, true), pc);
        } else {
            event::note(slot, Kind::AcquireFailed, pc, lock, &[class(manner, true), BUSY]);
        }
        result
    }
}

/// `name(slot, arguments, pc, method) body`: a function in place of a method, for a thread that is recorded.
/// Its arguments are those of the method, of which the first one is the lock.
macro_rules! methods {
    ($($name:ident($slot:ident, $arguments:ident, $pc:ident, $method:ident) $body:block)*) => { $(
        /// # Safety
        /// As for the method.
        unsafe extern "C-unwind" fn $name(
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            $pc: usize,
            $method: Enclosed,
        ) -> usize {
            let $arguments = [a, b, c, d];
            // SAFETY: guaranteed by the caller; the slot is the current thread's.
            unsafe {
                match recorded() {
                    Some($slot) => $body,
                    None => $method.call($arguments),
                }
            }
        }
    )* };
}

methods! {
    do_lock(slot, arguments, pc, method) {
        let (lock, manner) = (arguments[0], manner(method));
        arrive(slot, Kind::Acquire, lock, pc);
        own_lock::wait_for(lock, slot, manner, pc);
        event::block(slot, Kind::Acquire, lock, pc);
        let result = silently(slot, method, arguments);
        event::unblock(slot);
        acquired(slot, lock, (manner, false), pc);
        result
    }

    do_try_lock(slot, arguments, pc, method) {
        try_lock_with(slot, (method, arguments), manner(method), pc)
    }

    do_unlock(slot, arguments, pc, method) {
        let (lock, manner) = (arguments[0], manner(method));
        arrive(slot, Kind::Release, lock, pc);
        event::note(slot, Kind::Release, pc, lock, &[class(manner, false)]);
        let result = silently(slot, method, arguments);
        given_up(lock, manner.shared, 1);
        result
    }

    do_downgrade(slot, arguments, pc, method) {
        let lock = arguments[0];
        arrive(slot, Kind::Release, lock, pc);
        event::note(slot, Kind::Release, pc, lock, &[class(WRITER, false)]);
        let result = silently(slot, method, arguments);
        acquired(slot, lock, (READER, false), pc);
        given_up(lock, false, 1);
        result
    }

    do_upgrade(slot, arguments, pc, method) {
        let lock = arguments[0];
        arrive(slot, Kind::Release, lock, pc);
        own_lock::wait_for_readers(lock, slot, manner(method), pc);
        event::note(slot, Kind::Release, pc, lock, &[class(READER, false)]);
        let result = silently(slot, method, arguments);
        acquired(slot, lock, (WRITER, false), pc);
        result
    }

    do_try_upgrade(slot, arguments, pc, method) {
        let lock = arguments[0];
        arrive(slot, Kind::Release, lock, pc);
        let result = silently(slot, method, arguments);
        if is_true(result) {
            event::note(slot, Kind::Release, pc, lock, &[class(READER, false)]);
            given_up(lock, true, 1);
            acquired(slot, lock, (WRITER, true), pc);
        }
        result
    }

    do_other(slot, arguments, _pc, method) {
        silently(slot, method, arguments)
    }
}

encloses! {
    lock => do_lock;
    try_lock => do_try_lock;
    unlock => do_unlock;
    downgrade => do_downgrade;
    upgrade => do_upgrade;
    try_upgrade => do_try_upgrade;
    other => do_other;
}
