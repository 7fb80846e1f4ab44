//! Detects the use of synchronisation objects after their destruction.
//!
//! A destroyed object is poisoned in its own memory, so that whatever makes a new object there
//! removes the poison: the initialisation function, a static initialiser, or new content. libc
//! marks destroyed mutexes and condition variables itself; the other objects have words that libc
//! does not use. A spin lock is a single word and cannot be poisoned. An object that libc refuses
//! to destroy, because it is in use, stays unpoisoned.
//!
//! Only calls that use an object are checked. A thread that wakes from a wait, or leaves a barrier,
//! may find the object destroyed: POSIX allows the last thread that needs an object to destroy it.

use norn_abi::{
    LockClass, ObjectClass,
    arena::ThreadSlot,
    control::verdict as found,
    libc_layout::{barrier, cond, mutex, rwlock, semaphore},
};

use super::{heap, is_on, verdict};

/// The poison value, written to a word that libc does not use.
const POISON: u32 = 0xdead_10cc;

/// The index of the word that is poisoned, the mask of its relevant bits, and their value in a
/// destroyed object.
fn poisoned_word(class: ObjectClass) -> Option<(usize, u32, u32)> {
    Some(match class {
        ObjectClass::Mutex => (mutex::KIND, u32::MAX, mutex::DESTROYED),
        ObjectClass::Cond => (cond::FLAGS, cond::DESTROYED, cond::DESTROYED),
        ObjectClass::RwLock => (rwlock::UNUSED, u32::MAX, POISON),
        ObjectClass::Semaphore => (semaphore::UNUSED, u32::MAX, POISON),
        ObjectClass::Barrier => (barrier::UNUSED, u32::MAX, POISON),
        ObjectClass::Spin | ObjectClass::Key | ObjectClass::Descriptor => return None,
    })
}

/// The class of object that a lock belongs to.
pub fn class_of(lock: u64) -> ObjectClass {
    LockClass::of(lock).object()
}

/// Marks an object as destroyed.
///
/// # Safety
/// The memory at `object` is that of an object of this class, which no thread may use now.
pub unsafe fn poison(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, POISON)) = poisoned_word(class)
        && is_on()
    {
        // SAFETY: guaranteed by the caller.
        unsafe { (object as *mut u32).add(at).write_volatile(POISON) };
    }
}

/// Removes the mark from an object that is initialised, perhaps again.
///
/// # Safety
/// The memory at `object` is that of an object of this class.
pub unsafe fn unpoison(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, POISON)) = poisoned_word(class) {
        // SAFETY: guaranteed by the caller; libc does not use this word.
        unsafe {
            let word = (object as *mut u32).add(at);
            if word.read_volatile() == POISON {
                word.write_volatile(0);
            }
        }
    }
}

/// Ends the run if the object that is about to be used was destroyed, or if its memory was freed.
///
/// # Safety
/// The slot is the current thread's. The program passes `object` to a function that uses such an
/// object, so a fault here is the program's own.
#[inline(always)]
pub unsafe fn check(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    if is_on() {
        // SAFETY: guaranteed by the caller.
        unsafe { look(slot, object, class, pc) };
    }
}

/// Ends the run if the memory of an object that is about to be initialised, used or destroyed was
/// freed.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn check_memory(slot: *mut ThreadSlot, object: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if heap::is_on() && !heap::is_good(object) {
            heap::complain(slot, object, pc);
        }
    }
}

/// # Safety
/// As for [`check`].
#[cold]
unsafe fn look(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        check_memory(slot, object, pc);
        if let Some((at, bits, gone)) = poisoned_word(class) {
            let word = (object as *const u32).wrapping_add(at);
            // If the memory is not mapped, the program's own call would have faulted here as well.
            (*slot).access = (pc - 1, word as usize);
            if word.read_volatile() & bits == gone {
                verdict::memory(slot, found::USE_AFTER_DESTROY, pc, object, object);
            }
        }
    }
}
