//! Synchronisation objects that were destroyed, and must not be used any more.
//!
//! What is destroyed is marked in its own memory, so whatever makes an object of it again takes the
//! mark away: the function that initialises it, a static initialiser, or new content. libc marks
//! mutexes and condition variables itself; the others have unused words. A spin lock is one word,
//! and nothing is said of it. An object that libc refuses to destroy, because it is in use, stays.
//!
//! Only calls that use an object are looked at. Who is woken from a wait, or leaves a barrier, may
//! find it destroyed: POSIX lets the last one who needs it do that.

use norn_abi::{LockClass, ObjectClass, arena::ThreadSlot, control::verdict as found};

use super::{heap, is_on, verdict};

/// "destroyed", in a word that libc does not use.
const MARK: u32 = 0xdead_10cc;

/// The object's word that has the mark, which bits of it, and how they are then.
fn mark(class: ObjectClass) -> Option<(usize, u32, u32)> {
    /// Set by `pthread_cond_destroy`.
    const CLOSING: u32 = 4;
    Some(match class {
        // The kind of a mutex is then invalid.
        ObjectClass::Mutex => (4, u32::MAX, u32::MAX),
        ObjectClass::Cond => (9, CLOSING, CLOSING),
        ObjectClass::RwLock => (12, u32::MAX, MARK),
        ObjectClass::Semaphore => (3, u32::MAX, MARK),
        ObjectClass::Barrier => (6, u32::MAX, MARK),
        ObjectClass::Spin | ObjectClass::Key => return None,
    })
}

/// The class of object that a lock is.
pub fn class_of(lock: u64) -> ObjectClass {
    const SPIN: u64 = LockClass::Spin as u64;
    const READ: u64 = LockClass::Read as u64;
    const WRITE: u64 = LockClass::Write as u64;
    match lock & 7 {
        SPIN => ObjectClass::Spin,
        READ | WRITE => ObjectClass::RwLock,
        _ => ObjectClass::Mutex,
    }
}

/// An object was destroyed.
pub unsafe fn bury(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, MARK)) = mark(class)
        && is_on()
    {
        // SAFETY: the object's memory, which nobody may use now.
        unsafe { (object as *mut u32).add(at).write_volatile(MARK) };
    }
}

/// An object is there, or there again.
pub unsafe fn raise(object: usize, class: ObjectClass) {
    if let Some((at, u32::MAX, MARK)) = mark(class) {
        // SAFETY: the object's memory, in a word that libc does not use.
        unsafe {
            let word = (object as *mut u32).add(at);
            if word.read_volatile() == MARK {
                word.write_volatile(0);
            }
        }
    }
}

/// Ends the run if an object that is to be used was destroyed, or its memory was given back.
#[inline(always)]
pub unsafe fn check(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    if is_on() {
        // SAFETY: as the caller called it.
        unsafe { look(slot, object, class, pc) };
    }
}

#[cold]
unsafe fn look(slot: *mut ThreadSlot, object: usize, class: ObjectClass, pc: usize) {
    // SAFETY: the caller's object; the slot is the current thread's.
    unsafe {
        if heap::is_on() && !heap::is_good(object) {
            heap::complain(slot, object, pc);
        }
        if let Some((at, bits, gone)) = mark(class) {
            let word = (object as *const u32).wrapping_add(at);
            // If there is nothing, the call would have found that out.
            (*slot).access = (pc - 1, word as usize);
            if word.read_volatile() & bits == gone {
                verdict::memory(slot, found::USE_AFTER_DESTROY, pc, object, object);
            }
        }
    }
}
