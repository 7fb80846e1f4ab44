//! The protocol of `std::sync::RwLock`: how its two words change, as in `std::sys::sync::rwlock::futex`.
//! The state has the number of readers, or all bits of [`MASK`] for a writer, and two flags for threads
//! that wait. A reader does not overtake threads that wait, so a thread that reads twice can deadlock.

use core::sync::atomic::{AtomicU32, Ordering::*};

use norn_abi::LockClass;

use super::futex::Request;

pub const READ_LOCKED: u32 = 1;
const MASK: u32 = (1 << 30) - 1;
pub const WRITE_LOCKED: u32 = MASK;
const MAX_READERS: u32 = MASK - 1;
const READERS_WAITING: u32 = 1 << 30;
const WRITERS_WAITING: u32 = 1 << 31;
const WAITING: u32 = READERS_WAITING | WRITERS_WAITING;

const WRITE: u64 = LockClass::Write as u64;

/// The words of a lock.
#[repr(C)]
pub struct State {
    pub state: AtomicU32,
    writer_notify: AtomicU32,
}

fn is_unlocked(state: u32) -> bool {
    state & MASK == 0
}

fn is_readable(state: u32) -> bool {
    state & MASK < MAX_READERS && state & WAITING == 0
}

/// A reader that was woken may overtake writers, but not start while the lock is free: then a writer has
/// precedence.
fn is_readable_after_wait(state: u32) -> bool {
    state & MASK < MAX_READERS && state & READERS_WAITING == 0 && !is_unlocked(state)
}

impl State {
    fn change(&self, from: u32, to: u32) -> Result<u32, u32> {
        self.state.compare_exchange(from, to, Acquire, Relaxed)
    }

    pub fn try_read(&self) -> bool {
        self.state
            .fetch_update(Acquire, Relaxed, |it| is_readable(it).then(|| it + READ_LOCKED))
            .is_ok()
    }

    pub fn can_read(&self) -> bool {
        is_readable(self.state.load(Relaxed))
    }

    pub fn try_write(&self) -> bool {
        self.state
            .fetch_update(Acquire, Relaxed, |it| is_unlocked(it).then(|| it + WRITE_LOCKED))
            .is_ok()
    }

    pub fn can_write(&self) -> bool {
        is_unlocked(self.state.load(Relaxed))
    }

    /// # Safety
    /// `request` is about this lock.
    pub unsafe fn read(&self, request: &Request) {
        let mut has_waited = false;
        let mut state = self.state.load(Relaxed);
        loop {
            if is_readable(state) || has_waited && is_readable_after_wait(state) {
                match self.change(state, state + READ_LOCKED) {
                    Ok(_) => return,
                    Err(now) => state = now,
                }
                continue;
            }
            let waiting = state | READERS_WAITING;
            if state == waiting || self.change(state, waiting).is_ok() {
                // SAFETY: guaranteed by the caller.
                unsafe { request.wait(&self.state, waiting) };
                has_waited = true;
            }
            state = self.state.load(Relaxed);
        }
    }

    /// # Safety
    /// `request` is about this lock.
    pub unsafe fn write(&self, request: &Request) {
        let mut others_wait = 0;
        let mut state = self.state.load(Relaxed);
        loop {
            if is_unlocked(state) {
                match self.change(state, state | WRITE_LOCKED | others_wait) {
                    Ok(_) => return,
                    Err(now) => state = now,
                }
                continue;
            }
            if state & WRITERS_WAITING == 0 {
                match self.change(state, state | WRITERS_WAITING) {
                    // From now on readers wait for this thread.
                    // SAFETY: guaranteed by the caller.
                    Ok(_) => unsafe { request.begins_to_wait(WRITE) },
                    Err(now) => {
                        state = now;
                        continue;
                    }
                }
            }
            // Another writer may wait by the time this one is woken.
            others_wait = WRITERS_WAITING;
            let notified = self.writer_notify.load(Acquire);
            state = self.state.load(Relaxed);
            if !is_unlocked(state) && state & WRITERS_WAITING != 0 {
                // SAFETY: guaranteed by the caller.
                unsafe { request.wait(&self.writer_notify, notified) };
                state = self.state.load(Relaxed);
            }
        }
    }

    pub fn read_unlock(&self, request: &Request) {
        let state = self.state.fetch_sub(READ_LOCKED, Release) - READ_LOCKED;
        if is_unlocked(state) && state & WRITERS_WAITING != 0 {
            self.wake(state, request);
        }
    }

    pub fn write_unlock(&self, request: &Request) {
        let state = self.state.fetch_sub(WRITE_LOCKED, Release) - WRITE_LOCKED;
        if state & WAITING != 0 {
            self.wake(state, request);
        }
    }

    pub fn downgrade(&self, request: &Request) {
        let state = self.state.fetch_add(READ_LOCKED.wrapping_sub(WRITE_LOCKED), Release);
        if state & READERS_WAITING != 0 {
            self.state.fetch_sub(READERS_WAITING, Relaxed);
            request.wake(&self.state, u32::MAX);
        }
    }

    /// Wakes one writer, or else all readers.
    fn wake(&self, mut state: u32, request: &Request) {
        if state == WRITERS_WAITING {
            match self.change(state, 0) {
                Ok(_) => {
                    self.wake_writer(request);
                    return;
                }
                Err(now) => state = now,
            }
        }
        if state == WAITING {
            // If this fails, another thread has taken the lock, and will wake the others.
            if self.change(state, READERS_WAITING).is_err() || self.wake_writer(request) {
                return;
            }
            state = READERS_WAITING;
        }
        if state == READERS_WAITING && self.change(state, 0).is_ok() {
            request.wake(&self.state, u32::MAX);
        }
    }

    fn wake_writer(&self, request: &Request) -> bool {
        self.writer_notify.fetch_add(1, Release);
        request.wake(&self.writer_notify, 1)
    }
}
