//! Synchronisation objects that were destroyed, and must not be used any more.
//!
//! A destroyed object is poisoned in its own memory, so whatever makes an object of it again removes
//! the poison: the function that initialises it, a static initialiser, or new content. libc marks
//! mutexes and condition variables itself; the others have unused words. A spin lock is one word and
//! cannot be poisoned. An object that libc refuses to destroy, because it is in use, stays as it is.
//!
//! Only calls that use an object are checked. A thread that is woken from a wait, or leaves a barrier,
//! may find the object destroyed: POSIX allows that the last thread that needs it destroys it.

use norn_abi::{
    LockClass, ObjectClass,
    arena::ThreadSlot,
    control::verdict as found,
    libc_layout::{barrier, cond, mutex, rwlock, semaphore},
};

use super::{heap, is_on, verdict};

/// The poison, in a word that libc does not use.
const POISON: u32 = 0xdead_10cc;

/// The object's word that is poisoned, which bits of it, and what they are then.
fn poisoned_word(class: ObjectClass) -> Option<(usize, u32, u32)> {
    Some(match class {
        ObjectClass::Mutex => (mutex::KIND, u32::MAX, mutex::DESTROYED),
        ObjectClass::Cond => (cond::FLAGS, cond::DESTROYED, cond::DESTROYED),
        ObjectClass::RwLock => (rwlock::UNUSED, u32::MAX, POISON),
        ObjectClass::Semaphore => (semaphore::UNUSED, u32::MAX, POISON),
        ObjectClass::Barrier => (barrier::UNUSED, u32::MAX, POISON),
        ObjectClass::Spin | ObjectClass::Key => return None,
    })
}

/// The class of object that a lock is.
pub fn class_of(lock: u64) -> ObjectClass {
    LockClass::of(lock).object()
}

/// An object was destroyed.
///
/// # Safety
/// The memory at `object` is that of an object of this class, which no thread may use now.
pub unsafe fn poison(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, POISON)) = poisoned_word(class)
        && is_on()
    {
        // SAFETY: as the caller says.
        unsafe { (object as *mut u32).add(at).write_volatile(POISON) };
    }
}

/// An object is initialised, perhaps again.
///
/// # Safety
/// The memory at `object` is that of an object of this class.
pub unsafe fn unpoison(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, POISON)) = poisoned_word(class) {
        // SAFETY: as the caller says; libc does not use this word.
        unsafe {
            let word = (object as *mut u32).add(at);
            if word.read_volatile() == POISON {
                word.write_volatile(0);
            }
        }
    }
}

/// Ends the run if an object that is to be used was destroyed, or its memory was freed.
///
/// # Safety
/// The slot is the current thread's. The program passes `object` to a function that uses such an
/// object, so a fault here is the program's own.
#[inline(always)]
pub unsafe fn check(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    if is_on() {
        // SAFETY: as the caller says.
        unsafe { look(slot, object, class, pc) };
    }
}

/// # Safety
/// As for [`check`].
#[cold]
unsafe fn look(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if heap::is_on() && !heap::is_good(object) {
            heap::complain(slot, object, pc);
        }
        if let Some((at, bits, gone)) = poisoned_word(class) {
            let word = (object as *const u32).wrapping_add(at);
            // If there is nothing, the call would have found that out.
            (*slot).access = (pc - 1, word as usize);
            if word.read_volatile() & bits == gone {
                verdict::memory(slot, found::USE_AFTER_DESTROY, pc, object, object);
            }
        }
    }
}
