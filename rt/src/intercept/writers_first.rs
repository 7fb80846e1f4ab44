//! Read-write locks of libc whose attributes give precedence to writers: once a writer waits, readers wait for it,
//! even a thread that holds the lock for reading already. In a controlled run no thread waits inside libc, so
//! the runtime keeps this promise in its place.

use norn_abi::{
    Kind, LockClass,
    arena::ThreadSlot,
    libc_layout::rwlock,
    lock::{QUEUED, TRY},
};

use super::lock::BUSY;
use crate::{control, event, libc_check, own_lock};

/// What a thread that takes a lock may claim, or must concede.
pub struct Claim {
    class: LockClass,
    lock: usize,
    is_made: bool,
}

impl Claim {
    pub fn new(class: u64, lock: usize) -> Claim {
        Claim { class: LockClass::of(class), lock, is_made: false }
    }

    /// Whether the thread has to wait although no writer holds the lock.
    ///
    /// # Safety
    /// The lock is one of its class.
    pub unsafe fn is_refused(&self) -> bool {
        // SAFETY: guaranteed by the caller.
        let matters = self.class == LockClass::Read && unsafe { prefers_writers(self.lock) };
        matters && own_lock::is_announced(self.lock)
    }

    /// Claims precedence for a writer that has to wait. That is an event, so that schedules can determine its
    /// order, and the thread should try again. False if there is nothing to claim.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder, and the lock is one of its class.
    pub unsafe fn make(&mut self, slot: *mut ThreadSlot, pc: usize) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.class != LockClass::Write || self.is_made || !prefers_writers(self.lock) {
                return false;
            }
            self.is_made = true;
            own_lock::announce(self.lock);
            let class = LockClass::Write as u64 | TRY;
            event::note(slot, Kind::AcquireFailed, pc, self.lock, &[class, BUSY as u64]);
            control::before(slot, Kind::Acquire, pc, self.lock);
        }
        true
    }
}

impl Drop for Claim {
    /// The writer holds the lock now, or waits no more; the readers look again.
    fn drop(&mut self) {
        if self.is_made {
            own_lock::withdraw(self.lock);
            control::release(Kind::Acquire, self.lock);
        }
    }
}

/// The class of a request, which also says what a reader waits for.
///
/// # Safety
/// The lock is one of its class.
#[inline(always)]
pub unsafe fn request(class: u64, lock: usize) -> u64 {
    // SAFETY: guaranteed by the caller.
    let queued = class == LockClass::Read as u64 && unsafe { prefers_writers(lock) };
    class | if queued { QUEUED } else { 0 }
}

/// # Safety
/// `lock` points to a lock for readers and writers.
unsafe fn prefers_writers(lock: usize) -> bool {
    // SAFETY: guaranteed by the caller; the layout was checked.
    libc_check::is_known()
        && unsafe { *(lock as *const u32).add(rwlock::PREFERENCE) == rwlock::WRITERS_FIRST }
}
