//! The locks that one thread holds.

use crate::{LockEffect, LockMode, Op};

/// The locks that a thread holds. There are few at a time, so linear search is fast enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    locks: Vec<Hold>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hold {
    lock: u64,
    mode: LockMode,
    depth: u32,
}

impl Held {
    /// Acquires a lock; returns its recursion depth.
    pub fn acquire(&mut self, lock: u64, mode: LockMode) -> u32 {
        if let Some(hold) = self.locks.iter_mut().find(|it| it.lock == lock) {
            (hold.mode, hold.depth) = (mode, hold.depth.saturating_add(1));
            return hold.depth;
        }
        self.locks.push(Hold { lock, mode, depth: 1 });
        1
    }

    /// Releases a lock; returns its mode and its remaining recursion depth. `None` if it is not
    /// held.
    pub fn release(&mut self, lock: u64) -> Option<(LockMode, u32)> {
        let at = self.locks.iter().position(|it| it.lock == lock)?;
        let hold = self.locks.get_mut(at)?;
        hold.depth -= 1;
        let left = (hold.mode, hold.depth);
        if hold.depth == 0 {
            self.locks.remove(at);
        }
        Some(left)
    }

    /// The recursion depth of a lock; 0 if it is not held.
    pub fn depth(&self, lock: u64) -> u32 {
        self.locks.iter().find(|it| it.lock == lock).map_or(0, |it| it.depth)
    }

    /// The held locks and their modes, in the order of acquisition.
    pub fn iter(&self) -> impl Iterator<Item = (u64, LockMode)> {
        self.locks.iter().map(|it| (it.lock, it.mode))
    }

    /// Applies the next event of the thread.
    pub fn step(&mut self, op: &Op) {
        match op.effect().lock() {
            Some(LockEffect::Acquire { lock, mode, .. }) => {
                self.acquire(lock, mode);
            }
            Some(LockEffect::Release { lock, .. }) => {
                self.release(lock);
            }
            Some(LockEffect::Failed { .. }) | None => {}
        }
    }
}
