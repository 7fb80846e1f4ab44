//! Trace events other than memory accesses, and the operation in which a thread blocks.

use core::sync::atomic::Ordering;

use norn_abi::{Kind, arena::ThreadSlot};

use crate::{
    arena, collect,
    control::{self, memory},
    number,
    thread::{own, stack_pointer},
};

/// Records an event other than a memory access that is about to happen.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn put(slot: *mut ThreadSlot, kind: Kind, pc: usize, addr: usize, args: &[u64]) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        control::before(slot, kind, pc, addr);
        note(slot, kind, pc, addr, args);
    }
}

/// Records an event that has happened. The scheduler was already asked before it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn note(slot: *mut ThreadSlot, kind: Kind, pc: usize, addr: usize, args: &[u64]) {
    // SAFETY: the slot is the current thread's.
    unsafe { note_inline(slot, kind, pc, addr, args) };
}

/// Inlined form of [`note`], for frequent events.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn note_inline(slot: *mut ThreadSlot, kind: Kind, pc: usize, addr: usize, args: &[u64]) {
    // SAFETY: the slot is the current thread's. If recording has stopped, the lane looks full, so
    // nothing is written here.
    unsafe {
        if collect::is_on() && !collect::event(slot, kind, pc, addr, args) {
            return;
        }
        count(slot, kind);
        let own = own(slot);
        let usual = (*own).once_sp == 0 && (*own).lim.is_null();
        if !usual || !(*slot).lane.quick_sync(kind, pc, addr, number::at(slot, kind, addr), args) {
            note_unusual(slot, kind, pc, addr, args);
        }
    }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
unsafe fn note_unusual(slot: *mut ThreadSlot, kind: Kind, pc: usize, addr: usize, args: &[u64]) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = own(slot);
        if (*own).once_sp != 0 && stack_pointer() > (*own).once_sp {
            once_left(slot);
        }
        if (*own).lim.is_null() || !is_librarys(kind) {
            return write(slot, kind, pc, addr, args);
        }
        let mutex = disarm(slot);
        write(slot, kind, pc, addr, args);
        arm(slot, mutex);
    }
}

/// Counts an event, if the run is controlled.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn count(slot: *mut ThreadSlot, kind: Kind) {
    if !control::was_on() {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*slot).steps += 1;
        if !control::is_fruitless(kind) {
            (*slot).effect = (*slot).steps;
        }
        if memory::synchronises(kind) && memory::is_on() {
            memory::synchronise(slot, kind);
        }
    }
}

/// # Safety
/// The slot is the current thread's and not a placeholder, and there is room for the event.
unsafe fn write(slot: *mut ThreadSlot, kind: Kind, pc: usize, addr: usize, args: &[u64]) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if arena::make_room(slot) {
            (*slot).lane.sync(kind, pc, addr, number::at(slot, kind, addr), args);
        } else {
            arena::lose(slot);
        }
    }
}

/// Records an event whose sequence number was taken earlier.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn note_at(
    slot: *mut ThreadSlot,
    kind: Kind,
    pc: usize,
    addr: usize,
    seq: u64,
    args: &[u64],
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        // A creation was announced when its number was taken.
        if collect::is_only() && kind != Kind::Fork {
            return;
        }
        count(slot, kind);
        if arena::make_room(slot) {
            (*slot).lane.sync(kind, pc, addr, seq, args);
        } else {
            arena::lose(slot);
        }
    }
}

/// Records an event that is already counted and has its sequence number. Inlined, because atomic
/// operations are frequent, and their kind and the number of their values are constants.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and there is room for the event.
#[inline(always)]
pub unsafe fn numbered(
    slot: *mut ThreadSlot,
    kind: Kind,
    pc: usize,
    addr: usize,
    number: u64,
    args: &[u64],
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let lane = &mut (*slot).lane;
        if !lane.quick_sync(kind, pc, addr, number, args) {
            lane.sync(kind, pc, addr, number, args);
        }
    }
}

/// Publishes the operation in which the thread may now block, so that a hanging program can be
/// diagnosed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block(slot: *mut ThreadSlot, kind: Kind, addr: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let head = &(*slot).head;
        head.blocked_on.store(addr as u64, Ordering::Relaxed);
        head.blocked_at.store(pc as u64, Ordering::Relaxed);
        head.blocked.store(u32::from(kind.code()), Ordering::Release);
    }
}

/// Clears the operation: it is over.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn unblock(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe { (*slot).head.blocked.store(0, Ordering::Release) };
}

/// Prepares for a cancellation in a condition wait. A thread that is cancelled there does not
/// return from the wait: it reacquires the mutex and continues in the program's clean-up handlers.
/// So the encoder is closed during the wait; the next event of the program finds it closed, and the
/// end of the wait is recorded first.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn arm(slot: *mut ThreadSlot, mutex: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = own(slot);
        (*own).wait_mutex = mutex;
        (*own).lim = core::mem::replace(&mut (*slot).lane.lim, core::ptr::null_mut());
    }
}

/// Makes a call in which the thread may be cancelled, in a run that is not controlled: if it is, the
/// next event finds that out.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn cancellable<T>(slot: *mut ThreadSlot, call: impl FnOnce() -> T) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        arm(slot, 0);
        let result = call();
        disarm(slot);
        result
    }
}

/// Reopens the encoder; returns the mutex.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn disarm(slot: *mut ThreadSlot) -> usize {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = own(slot);
        if !(*own).lim.is_null() {
            (*slot).lane.lim = core::mem::replace(&mut (*own).lim, core::ptr::null_mut());
        }
        (*own).wait_mutex
    }
}

/// Whether the event may come from the unwinder itself, between a cancelled wait and the program's
/// clean-up handlers.
fn is_librarys(kind: Kind) -> bool {
    use Kind as K;
    matches!(kind, K::OnceBegin | K::OnceEnd | K::OnceDone | K::Alloc | K::Free | K::Map | K::Unmap)
}

/// Records the end of a cancelled wait, if there is one.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn end_cancelled_wait(slot: *mut ThreadSlot) {
    const ECANCELED: u64 = 125;
    // SAFETY: the slot is the current thread's.
    unsafe {
        if (*own(slot)).lim.is_null() {
            return;
        }
        let mutex = disarm(slot);
        if mutex != 0 {
            unblock(slot);
            let pc = (*slot).head.blocked_at.load(Ordering::Relaxed) as usize;
            let cond = (*slot).head.blocked_on.load(Ordering::Relaxed);
            count(slot, Kind::WaitAcquire);
            write(slot, Kind::WaitAcquire, pc, mutex, &[cond, ECANCELED]);
        }
        control::note_cancelled(slot);
    }
}

/// Records that an exception left a `pthread_once` initialisation, which is therefore not done.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
unsafe fn once_left(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = own(slot);
        (*own).once_sp = 0;
        count(slot, Kind::OnceEnd);
        write(slot, Kind::OnceEnd, (*own).once_pc, (*own).once_object, &[0]);
        control::release(Kind::OnceDone, (*own).once_object);
    }
}
