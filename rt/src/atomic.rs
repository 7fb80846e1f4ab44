//! Atomic operations. Compilers turn each into a call; we do the operation and record it.
//!
//! So that the recorded order of the operations on an object is the one that happened, operation
//! and sequence number are taken together under one of a few hundred spin locks, chosen by
//! address, which is at the same time the clock of its objects. All operations are sequentially consistent here; the order that the program asked for
//! is in the event.

use core::{
    arch::{global_asm, x86_64::cmpxchg16b},
    ffi::c_int,
    sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, fence},
};

use norn_abi::{Kind, arena::ThreadSlot};

use crate::{
    arena,
    control::{self, heap},
    event,
    intercept::signal,
    number, sys, thread,
};

/// What comes after the last operation on the objects that share the lock; [`BUSY`] during one.
#[repr(align(64))]
struct Lock(AtomicU64);

const BUSY: u64 = u64::MAX;
const COUNT: usize = 512;
static LOCKS: [Lock; COUNT] = [const { Lock(AtomicU64::new(0)) }; COUNT];

/// In a forked child: whoever held a lock is not here, and it has no events yet.
pub fn unlock_all() {
    LOCKS.iter().for_each(|it| it.0.store(0, Ordering::Relaxed));
}

/// An operation of a recorded thread, during which nobody else does one at the same address.
struct Turn {
    slot: *mut ThreadSlot,
    number: u64,
    lock: Option<&'static AtomicU64>,
}

impl Turn {
    /// Waits for the operations of others. Signals wait until this one is over; where one could
    /// not, its handler must not wait for the operation that it interrupted.
    unsafe fn begin(slot: *mut ThreadSlot, addr: usize) -> Turn {
        // SAFETY: the slot is the current thread's.
        unsafe {
            let own = thread::own(slot);
            let mut host = (*own).host;
            while !host.is_null() {
                if (*thread::own(host)).in_atomic {
                    return Turn { slot, number: number::next(slot), lock: None };
                }
                host = (*thread::own(host)).host;
            }
            let lock = &LOCKS[number::share(addr, COUNT)].0;
            (*own).in_atomic = true;
            let mut tries = 0;
            loop {
                let earliest = lock.swap(BUSY, Ordering::Acquire);
                if earliest != BUSY {
                    return Turn { slot, number: number::since(slot, earliest), lock: Some(lock) };
                }
                tries += 1;
                if tries % 64 == 0 { sys::yield_now() } else { core::hint::spin_loop() }
            }
        }
    }

    /// Others can go on.
    fn pass(&self) {
        if let Some(lock) = self.lock {
            lock.store(self.number + 1, Ordering::Release);
        }
    }

    /// The operation is recorded, and signals that waited can come.
    unsafe fn end(self) {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if self.lock.is_some() {
                (*thread::own(self.slot)).in_atomic = false;
                signal::deliver(self.slot);
            }
        }
    }
}

/// An integer with atomic operations.
trait Word: Copy + PartialEq {
    const LOG2: u64;
    unsafe fn load(at: *mut Self) -> Self;
    unsafe fn store(at: *mut Self, value: Self);
    /// What was there; the new value is there if that is `old`.
    unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self;
    fn halves(self) -> (u64, u64);
    fn change(self, op: Op, by: Self) -> Self;
}

/// What a read-modify-write does.
#[derive(Clone, Copy)]
enum Op {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

macro_rules! change {
    () => {
        fn change(self, op: Op, by: Self) -> Self {
            match op {
                Op::Exchange => by,
                Op::Add => self.wrapping_add(by),
                Op::Sub => self.wrapping_sub(by),
                Op::And => self & by,
                Op::Or => self | by,
                Op::Xor => self ^ by,
                Op::Nand => !(self & by),
            }
        }
    };
}

macro_rules! word {
    ($($type:ty, $atomic:ty, $log2:literal;)*) => { $(
        impl Word for $type {
            const LOG2: u64 = $log2;
            #[inline]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: as the caller called it.
                unsafe { (*at.cast::<$atomic>()).load(Ordering::SeqCst) }
            }
            #[inline]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: as the caller called it.
                unsafe { (*at.cast::<$atomic>()).store(value, Ordering::SeqCst) };
            }
            #[inline]
            unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self {
                // SAFETY: as the caller called it.
                let at = unsafe { &*at.cast::<$atomic>() };
                match at.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(seen) | Err(seen) => seen,
                }
            }
            fn halves(self) -> (u64, u64) {
                (u64::from(self), 0)
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
    const LOG2: u64 = 4;
    unsafe fn load(at: *mut Self) -> Self {
        // SAFETY: as the caller called it; exchanging zero for zero changes nothing.
        unsafe { Self::swap_if(at, 0, 0) }
    }
    unsafe fn store(at: *mut Self, value: Self) {
        // SAFETY: as the caller called it.
        unsafe { exchange(at, Op::Exchange, value) };
    }
    unsafe fn swap_if(at: *mut Self, old: Self, new: Self) -> Self {
        #[target_feature(enable = "cmpxchg16b")]
        unsafe fn exchange(at: *mut u128, old: u128, new: u128) -> u128 {
            // SAFETY: as the caller called it.
            unsafe { cmpxchg16b(at, old, new, Ordering::SeqCst, Ordering::SeqCst) }
        }
        // SAFETY: compilers emit 16-byte atomics only for processors that have them.
        unsafe { exchange(at, old, new) }
    }
    fn halves(self) -> (u64, u64) {
        (self as u64, (self >> 64) as u64)
    }
    change!();
}

/// Records an operation and, for 16 bytes, the other halves of its values. There is room.
unsafe fn record<W: Word>(
    turn: &Turn,
    kind: Kind,
    pc: usize,
    at: *mut W,
    detail: u64,
    values: &[W],
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let mut args = [detail | W::LOG2, 0, 0];
        let mut high = [0, 0];
        for (i, value) in values.iter().enumerate() {
            (args[i + 1], high[i]) = value.halves();
        }
        // An exchange of something for the same is no change: so do spin locks wait.
        let changes = values.len() < 2 || values[0] != values[1];
        event::count(turn.slot, if changes { kind } else { Kind::AtomicLoad });
        let lane = &mut (*turn.slot).lane;
        lane.sync(kind, pc, at as usize, turn.number, &args[..=values.len()]);
        if W::LOG2 == 4 {
            lane.sync(Kind::HighHalves, pc, at as usize, turn.number, &high);
        }
    }
}

/// The beginning of an operation, if it is to be recorded.
unsafe fn begin<W: Word>(kind: Kind, at: *mut W, pc: usize) -> Option<Turn> {
    let slot = thread::recorded()?;
    // SAFETY: the slot is the current thread's. Room is made outside of the lock.
    unsafe {
        if control::was_on() {
            control::before(slot, kind, pc, at as usize);
            heap::check(slot, at as usize, 1 << W::LOG2, pc);
        }
        if arena::make_room(slot) {
            return Some(Turn::begin(slot, at as usize));
        }
        arena::lose(slot);
    }
    None
}

/// Does an operation that others can see, recorded if the thread is: with it, or whatever happens
/// then, is its event.
unsafe fn perform<W: Word, T>(
    kind: Kind,
    at: *mut W,
    pc: usize,
    f: impl FnOnce(Option<&Turn>) -> T,
) -> T {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(turn) = begin(kind, at, pc) else { return f(None) };
        let result = f(Some(&turn));
        turn.pass();
        turn.end();
        result
    }
}

const fn detail(order: c_int, failure: c_int, op: u64) -> u64 {
    (order as u64 & 7) << 3 | op << 6 | (failure as u64 & 7) << 10
}

unsafe extern "C" fn load<W: Word>(at: *mut W, order: c_int, pc: usize) -> W {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(turn) = begin(Kind::AtomicLoad, at, pc) else { return W::load(at) };
        let value = W::load(at);
        turn.pass();
        record(&turn, Kind::AtomicLoad, pc, at, detail(order, 0, 0), &[value]);
        turn.end();
        value
    }
}

unsafe extern "C" fn store<W: Word>(at: *mut W, value: W, order: c_int, pc: usize) {
    // SAFETY: as the caller called it.
    unsafe {
        perform(Kind::AtomicStore, at, pc, |turn| {
            if let Some(turn) = turn {
                record(turn, Kind::AtomicStore, pc, at, detail(order, 0, 0), &[value]);
            }
            W::store(at, value);
        });
    }
}

unsafe fn exchange<W: Word>(at: *mut W, op: Op, by: W) -> W {
    // SAFETY: as the caller called it.
    unsafe {
        let mut seen = W::load(at);
        loop {
            let before = W::swap_if(at, seen, seen.change(op, by));
            if before == seen {
                return seen;
            }
            seen = before;
        }
    }
}

unsafe fn modify<W: Word>(at: *mut W, op: Op, by: W, order: c_int, pc: usize) -> W {
    // SAFETY: as the caller called it.
    unsafe {
        perform(Kind::AtomicRmw, at, pc, |turn| {
            let before = exchange(at, op, by);
            if let Some(turn) = turn {
                let values = [before, before.change(op, by)];
                record(turn, Kind::AtomicRmw, pc, at, detail(order, 0, op as u64), &values);
            }
            before
        })
    }
}

unsafe fn compare<W: Word>(at: *mut W, old: W, new: W, orders: (c_int, c_int), pc: usize) -> W {
    // SAFETY: as the caller called it.
    unsafe {
        perform(Kind::AtomicCas, at, pc, |turn| {
            let seen = W::swap_if(at, old, new);
            if let Some(turn) = turn {
                let detail = detail(orders.0, orders.1, 0);
                let (kind, other) = match seen == old {
                    true => (Kind::AtomicCas, new),
                    false => (Kind::AtomicCasFailed, old),
                };
                record(turn, kind, pc, at, detail, &[seen, other]);
            }
            seen
        })
    }
}

unsafe extern "C" fn cas<W: Word>(
    at: *mut W,
    old: *mut W,
    new: W,
    order: c_int,
    failure: c_int,
    pc: usize,
) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let expected = *old;
        let seen = compare(at, expected, new, (order, failure), pc);
        if seen != expected {
            *old = seen;
        }
        c_int::from(seen == expected)
    }
}

unsafe extern "C" fn cas_value<W: Word>(
    at: *mut W,
    old: W,
    new: W,
    order: c_int,
    failure: c_int,
    pc: usize,
) -> W {
    // SAFETY: as the caller called it.
    unsafe { compare(at, old, new, (order, failure), pc) }
}

macro_rules! modifiers {
    ($($name:ident $op:ident;)*) => { $(
        unsafe extern "C" fn $name<W: Word>(at: *mut W, by: W, order: c_int, pc: usize) -> W {
            // SAFETY: as the caller called it.
            unsafe { modify(at, Op::$op, by, order, pc) }
        }
    )* };
}

modifiers! {
    swap Exchange;
    add Add;
    sub Sub;
    and And;
    or Or;
    xor Xor;
    nand Nand;
}

/// Exports a function under the name that compilers call, with the place of the call in the
/// register of the argument after the last.
macro_rules! export {
    ($name:expr, $register:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}

macro_rules! family {
    ($($bits:literal $type:ty;)*) => { $(
        export!(concat!("__tsan_atomic", $bits, "_load"), "rdx", load::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_store"), "rcx", store::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_exchange"), "rcx", swap::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_add"), "rcx", add::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_sub"), "rcx", sub::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_and"), "rcx", and::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_or"), "rcx", or::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_xor"), "rcx", xor::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_fetch_nand"), "rcx", nand::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_compare_exchange_strong"), "r9", cas::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_compare_exchange_weak"), "r9", cas::<$type>);
        export!(concat!("__tsan_atomic", $bits, "_compare_exchange_val"), "r9", cas_value::<$type>);
    )* };
}

family! {
    "8" u8;
    "16" u16;
    "32" u32;
    "64" u64;
}

// A 16-byte value takes two registers, so the place of the call comes one later.
export!("__tsan_atomic128_load", "rdx", load::<u128>);
export!("__tsan_atomic128_store", "r8", store::<u128>);
export!("__tsan_atomic128_exchange", "r8", swap::<u128>);
export!("__tsan_atomic128_fetch_add", "r8", add::<u128>);
export!("__tsan_atomic128_fetch_sub", "r8", sub::<u128>);
export!("__tsan_atomic128_fetch_and", "r8", and::<u128>);
export!("__tsan_atomic128_fetch_or", "r8", or::<u128>);
export!("__tsan_atomic128_fetch_xor", "r8", xor::<u128>);
export!("__tsan_atomic128_fetch_nand", "r8", nand::<u128>);

// Six registers are taken here: the place of the call goes on the stack, as a seventh argument.
macro_rules! export_wide {
    ($($name:literal $function:path;)*) => { $(
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "push qword ptr [rsp]",
            "call {function}",
            "add rsp, 8",
            "ret",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    )* };
}

export_wide! {
    "__tsan_atomic128_compare_exchange_strong" cas::<u128>;
    "__tsan_atomic128_compare_exchange_weak" cas::<u128>;
    "__tsan_atomic128_compare_exchange_val" cas_value_wide;
}

/// Here the order on failure is on the stack already: behind our argument and the return address.
unsafe extern "C" fn cas_value_wide(
    at: *mut u128,
    old: u128,
    new: u128,
    order: c_int,
    pc: usize,
    _back: usize,
    failure: c_int,
) -> u128 {
    // SAFETY: as the caller called it.
    unsafe { cas_value(at, old, new, order, failure, pc) }
}

unsafe extern "C" fn thread_fence(order: c_int, pc: usize) {
    fence(Ordering::SeqCst);
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::Fence, pc, order as usize, &[]) };
    }
}

export!("__tsan_atomic_thread_fence", "rsi", thread_fence);

#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: c_int) {
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}
