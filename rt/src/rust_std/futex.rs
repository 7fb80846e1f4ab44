//! How threads wait for a word of one of `std`'s objects, and are woken.

use core::sync::atomic::AtomicU32;

use norn_abi::{Kind, arena::ThreadSlot, lock::TRY};

use crate::{
    control::{self, NEVER},
    event, sys, thread,
};

/// The reason why a lock was not acquired at once.
pub const BUSY: u64 = 16;

const FUTEX: usize = 202;
/// `std` uses private futexes, which are others than shared ones.
const WAIT_PRIVATE: usize = 128;
const WAKE_PRIVATE: usize = 129;

/// The thread that requests a lock, and where.
#[derive(Clone, Copy)]
pub struct Request {
    /// None if the thread is not recorded.
    slot: Option<*mut ThreadSlot>,
    pub object: usize,
    pub pc: usize,
}

impl Request {
    pub fn new(object: usize, pc: usize) -> Request {
        Request { slot: thread::recorded(), object, pc }
    }

    pub fn slot(&self) -> Option<*mut ThreadSlot> {
        self.slot
    }

    /// Waits until the object is released, or while `word` has this value. It may end early.
    ///
    /// # Safety
    /// The word is part of the object.
    pub unsafe fn wait(&self, word: &AtomicU32, value: u32) {
        match self.slot.filter(|_| control::is_on()) {
            // SAFETY: the slot is the current thread's.
            Some(slot) => unsafe {
                control::block(slot, Kind::Acquire, self.object, self.pc, NEVER);
            },
            None => {
                sleep(word, value, None);
            }
        }
    }

    /// Records that the thread has changed the object because it has to wait for it. In a controlled run
    /// that is an event, so that schedules can determine its order.
    ///
    /// # Safety
    /// The thread has not got the object, and is about to wait for it.
    pub unsafe fn begins_to_wait(&self, class: u64) {
        if let Some(slot) = self.slot.filter(|_| control::is_on()) {
            // SAFETY: the slot is the current thread's.
            unsafe {
                event::note(slot, Kind::AcquireFailed, self.pc, self.object, &[class | TRY, BUSY]);
                control::before(slot, Kind::Acquire, self.pc, self.object);
            }
        }
    }

    /// Lets the threads that wait for the object try again: all of those in the scheduler, and up to
    /// `most` of those in the kernel. Returns whether there may be any.
    pub fn wake(&self, word: &AtomicU32, most: u32) -> bool {
        control::release(Kind::Acquire, self.object);
        if control::is_on() {
            // Code of `std` waits by a futex call, which is in the scheduler as well.
            control::release(Kind::Futex, word.as_ptr() as usize);
            return true;
        }
        wake(word, most)
    }
}

/// Sleeps in the kernel while `word` has this value. Returns whether the time, in nanoseconds, passed.
pub fn sleep(word: &AtomicU32, value: u32, nanoseconds: Option<u64>) -> bool {
    const ETIMEDOUT: isize = 110;
    let time = nanoseconds.map(|it| [it / 1_000_000_000, it % 1_000_000_000]);
    let time = time.as_ref().map_or(0, |it| it.as_ptr() as usize);
    let word = word.as_ptr() as usize;
    // SAFETY: the kernel checks the addresses.
    unsafe { sys::call(FUTEX, [word, WAIT_PRIVATE, value as usize, time, 0, 0]) == -ETIMEDOUT }
}

/// Wakes up to `most` threads that sleep in the kernel. Returns whether there was any.
pub fn wake(word: &AtomicU32, most: u32) -> bool {
    let most = most.min(i32::MAX as u32) as usize;
    // SAFETY: the kernel checks the address.
    unsafe { sys::call(FUTEX, [word.as_ptr() as usize, WAKE_PRIVATE, most, 0, 0, 0]) > 0 }
}
