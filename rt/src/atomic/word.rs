//! Atomic operations on integers of every width.

use core::{
    arch::x86_64::cmpxchg16b,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering},
};

use norn_abi::atomic::RmwOp;

/// An integer with atomic operations.
pub trait Word: Copy + PartialEq {
    const LOG2: u8;
    /// # Safety
    /// `at` is the address of an object of this size, which the program accesses by atomic
    /// operations only.
    unsafe fn load(at: *mut Self) -> Self;
    /// # Safety
    /// `at` is the address of an object of this size, which the program accesses by atomic
    /// operations only.
    unsafe fn store(at: *mut Self, value: Self);
    /// Stores `new` if the current value is `old`. Returns the value before the operation.
    ///
    /// # Safety
    /// `at` is the address of an object of this size, which the program accesses by atomic
    /// operations only.
    unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self;
    /// Executes a read-modify-write; returns the value before it.
    ///
    /// # Safety
    /// `at` is the address of an object of this size, which the program accesses by atomic
    /// operations only.
    unsafe fn modify(at: *mut Self, op: RmwOp, by: Self) -> Self;
    fn halves(self) -> (u64, u64);
    fn wide(self) -> u128;
    fn from_wide(value: u128) -> Self;
    fn change(self, op: RmwOp, by: Self) -> Self;
}

macro_rules! change {
    () => {
        #[inline]
        fn change(self, op: RmwOp, by: Self) -> Self {
            match op {
                RmwOp::Exchange => by,
                RmwOp::Add => self.wrapping_add(by),
                RmwOp::Sub => self.wrapping_sub(by),
                RmwOp::And => self & by,
                RmwOp::Or => self | by,
                RmwOp::Xor => self ^ by,
                RmwOp::Nand => !(self & by),
            }
        }
    };
}

macro_rules! word {
    ($($type:ty, $atomic:ty, $log2:literal;)*) => { $(
        impl Word for $type {
            const LOG2: u8 = $log2;
            #[inline]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: guaranteed by the caller.
                unsafe { (*at.cast::<$atomic>()).load(Ordering::SeqCst) }
            }
            #[inline]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: guaranteed by the caller.
                unsafe { (*at.cast::<$atomic>()).store(value, Ordering::SeqCst) };
            }
            #[inline]
            unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self {
                // SAFETY: guaranteed by the caller.
                let at = unsafe { &*at.cast::<$atomic>() };
                match at.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(seen) | Err(seen) => seen,
                }
            }
            #[inline(always)]
            unsafe fn modify(at: *mut Self, op: RmwOp, by: Self) -> Self {
                const ORDER: Ordering = Ordering::SeqCst;
                // SAFETY: guaranteed by the caller.
                let at = unsafe { &*at.cast::<$atomic>() };
                match op {
                    RmwOp::Exchange => at.swap(by, ORDER),
                    RmwOp::Add => at.fetch_add(by, ORDER),
                    RmwOp::Sub => at.fetch_sub(by, ORDER),
                    RmwOp::And => at.fetch_and(by, ORDER),
                    RmwOp::Or => at.fetch_or(by, ORDER),
                    RmwOp::Xor => at.fetch_xor(by, ORDER),
                    RmwOp::Nand => at.fetch_nand(by, ORDER),
                }
            }
            #[inline]
            fn halves(self) -> (u64, u64) {
                (u64::from(self), 0)
            }
            fn wide(self) -> u128 {
                u128::from(self)
            }
            fn from_wide(value: u128) -> Self {
                value as Self
            }
            change!();
        }
    )* };
}

word! {
    u8, AtomicU8, 0;
    u16, AtomicU16, 1;
    u32, AtomicU32, 2;
    u64, AtomicU64, 3;
}

impl Word for u128 {
    const LOG2: u8 = 4;
    unsafe fn load(at: *mut Self) -> Self {
        // SAFETY: guaranteed by the caller; exchanging zero for zero changes nothing. There is no
        // plain 16-byte atomic load.
        unsafe { Self::swap_if(at, 0, 0) }
    }
    unsafe fn store(at: *mut Self, value: Self) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::modify(at, RmwOp::Exchange, value) };
    }
    unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self {
        /// # Safety
        /// `at` is the address of an object of this size, which the program accesses by atomic
        /// operations only.
        #[target_feature(enable = "cmpxchg16b")]
        unsafe fn exchange(at: *mut u128, old: u128, new: u128) -> u128 {
            // SAFETY: guaranteed by the caller.
            unsafe { cmpxchg16b(at, old, new, Ordering::SeqCst, Ordering::SeqCst) }
        }
        // SAFETY: compilers emit 16-byte atomics only for processors that have `cmpxchg16b`.
        unsafe { exchange(at, old, new) }
    }
    unsafe fn modify(at: *mut Self, op: RmwOp, by: Self) -> Self {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut seen = Self::load(at);
            loop {
                let before = Self::swap_if(at, seen, seen.change(op, by));
                if before == seen {
                    return seen;
                }
                seen = before;
            }
        }
    }
    fn halves(self) -> (u64, u64) {
        (self as u64, (self >> 64) as u64)
    }
    fn wide(self) -> u128 {
        self
    }
    fn from_wide(value: u128) -> Self {
        value
    }
    change!();
}
