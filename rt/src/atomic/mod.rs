//! Atomic operations. Compilers turn each atomic operation into a call of `__tsan_atomic*`; the
//! runtime executes the operation and records it.
//!
//! [`turn`] makes the recorded order of the operations on an object equal to the order in which
//! they happened. All operations are executed as sequentially consistent; the event keeps the
//! memory order that the program asked for.

mod fence;
mod turn;
mod usual;
mod word;

use core::{arch::global_asm, ffi::c_int};

use norn_abi::{
    Kind,
    arena::ThreadSlot,
    atomic::{AtomicRequest, RmwOp, WIDEST},
};
use norn_sched::Object;
pub use turn::unlock_all;
use turn::{Turn, observe, observe_local};
use usual::{record_usual, usual};
use word::Word;

use crate::{
    arena, collect,
    control::{self, heap, memory},
    event, thread,
};

/// Records an operation and, if it is 16 bytes wide, the upper halves of its values in a second
/// record.
///
/// # Safety
/// The slot is the current thread's, and there is room for the event.
#[inline(always)]
unsafe fn record<W: Word>(
    (slot, number): (*mut ThreadSlot, u64),
    kind: Kind,
    pc: usize,
    at: *mut W,
    request: AtomicRequest,
    values: &[W],
) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if collect::is_on() {
            collect::atomic(slot, kind, at as usize, 1 << W::LOG2, pc);
        }
        let mut args = [request.pack(), 0, 0];
        let mut high = [0, 0];
        for (i, value) in values.iter().enumerate() {
            (args[i + 1], high[i]) = value.halves();
        }
        if control::was_on() {
            // An exchange that writes the value it read changes nothing. Spin locks wait in this way,
            // so such an operation must not count as progress.
            let changes = values.len() < 2 || values[0] != values[1];
            event::count(slot, if changes { kind } else { Kind::AtomicLoad });
        }
        event::numbered(slot, kind, pc, at as usize, number, &args[..=values.len()]);
        if W::LOG2 == WIDEST {
            event::numbered(slot, Kind::HighHalves, pc, at as usize, number, &high);
        }
    }
}

/// Returns the slot of the current thread if the operation is to be recorded. Makes room for the
/// event here, outside of the locks of [`turn`], because it may have to wait for the recorder.
///
/// # Safety
/// As for the operation that the program requested.
#[inline(always)]
unsafe fn begin<W: Word>(kind: Kind, at: *mut W, pc: usize) -> Option<*mut ThreadSlot> {
    let slot = thread::recorded()?;
    // SAFETY: the slot is the current thread's.
    unsafe {
        if (*thread::own(slot)).lock_code > 0 {
            return None;
        }
        if control::was_on() {
            control::before(slot, kind, pc, at as usize);
            heap::check(slot, at as usize, 1 << W::LOG2, pc);
        }
        if collect::is_only() {
            // Whether it exchanges is not known yet; see `compare`.
            if kind != Kind::AtomicCas {
                collect::atomic(slot, kind, at as usize, 1 << W::LOG2, pc);
            }
            return None;
        }
        if !(*slot).lane.full() || arena::make_room(slot) {
            return Some(slot);
        }
        arena::lose(slot);
    }
    None
}

/// Executes an operation that other threads can observe. If the thread is recorded, the event is
/// recorded together with the operation, whatever happens afterwards.
///
/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe fn perform<W: Word, T>(
    kind: Kind,
    at: *mut W,
    pc: usize,
    f: impl FnOnce(Option<&Turn>) -> T,
) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = begin(kind, at, pc) else { return f(None) };
        let turn = Turn::begin(slot, at as usize);
        let result = f(Some(&turn));
        turn.end();
        result
    }
}

/// What the program requested, by the memory orders that it passes.
const fn request<W: Word>(order: c_int, failure: c_int, op: RmwOp) -> AtomicRequest {
    AtomicRequest { log2_size: W::LOG2, order: order as u8, failure_order: failure as u8, op }
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe extern "C" fn load<W: Word>(at: *mut W, order: c_int, pc: usize) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = usual::<W>() else { return load_unusual(at, order, pc) };
        let (value, number) = observe_local(slot, at);
        let request = request::<W>(order, 0, RmwOp::Exchange);
        record_usual((slot, number), Kind::AtomicLoad, pc, at, request, [value]);
        value
    }
}

/// # Safety
/// As for [`load`].
#[inline(never)]
unsafe fn load_unusual<W: Word>(at: *mut W, order: c_int, pc: usize) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = begin(Kind::AtomicLoad, at, pc) else { return W::load(at) };
        let (value, number) = observe(slot, at);
        let value = if memory::is_on() { older(slot, at, value, order) } else { value };
        let request = request::<W>(order, 0, RmwOp::Exchange);
        record((slot, number), Kind::AtomicLoad, pc, at, request, &[value]);
        value
    }
}

/// What a load returns: the value in memory, or one of an older store.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
unsafe fn older<W: Word>(slot: *mut ThreadSlot, at: *mut W, value: W, order: c_int) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe { memory::load(slot, object(at, value), order).map_or(value, W::from_wide) }
}

/// An object as an operation finds it.
fn object<W: Word>(at: *mut W, content: W) -> Object {
    Object { address: at as usize, size: 1 << W::LOG2, content: content.wide() }
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe extern "C" fn store<W: Word>(at: *mut W, value: W, order: c_int, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = usual::<W>() else { return store_unusual(at, value, order, pc) };
        let turn = Turn::begin_local(slot, at as usize);
        let request = request::<W>(order, 0, RmwOp::Exchange);
        record_usual((slot, turn.number), Kind::AtomicStore, pc, at, request, [value]);
        W::store(at, value);
        turn.end();
    }
}

/// # Safety
/// As for [`store`].
#[inline(never)]
unsafe fn store_unusual<W: Word>(at: *mut W, value: W, order: c_int, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let before = perform(Kind::AtomicStore, at, pc, |turn| {
            if let Some(&Turn { slot, number, .. }) = turn {
                let request = request::<W>(order, 0, RmwOp::Exchange);
                record((slot, number), Kind::AtomicStore, pc, at, request, &[value]);
            }
            let before = memory::is_on().then(|| W::load(at));
            W::store(at, value);
            before
        });
        if let (Some(before), Some(slot)) = (before, thread::recorded()) {
            memory::store(slot, object(at, before), order, value.wide());
        }
    }
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
#[inline(always)]
unsafe fn modify<W: Word>(at: *mut W, op: RmwOp, by: W, order: c_int, pc: usize) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = usual::<W>() else { return modify_unusual(at, op, by, order, pc) };
        let turn = Turn::begin_local(slot, at as usize);
        let before = W::modify(at, op, by);
        let request = request::<W>(order, 0, op);
        let values = [before, before.change(op, by)];
        record_usual((slot, turn.number), Kind::AtomicRmw, pc, at, request, values);
        turn.end();
        before
    }
}

/// # Safety
/// As for [`modify`].
#[inline(never)]
unsafe fn modify_unusual<W: Word>(at: *mut W, op: RmwOp, by: W, order: c_int, pc: usize) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let before = perform(Kind::AtomicRmw, at, pc, |turn| {
            let before = W::modify(at, op, by);
            if let Some(&Turn { slot, number, .. }) = turn {
                let values = [before, before.change(op, by)];
                let request = request::<W>(order, 0, op);
                record((slot, number), Kind::AtomicRmw, pc, at, request, &values);
            }
            before
        });
        if memory::is_on()
            && let Some(slot) = thread::recorded()
        {
            memory::update(slot, object(at, before), order, before.change(op, by).wide());
        }
        before
    }
}

/// Adds one to a counter of the runtime. The event has no place in the program's code, and orders
/// nothing.
///
/// # Safety
/// The counter is accessed by this function only.
#[cfg(not(feature = "static"))]
pub unsafe fn count_up(counter: *mut u64) {
    const RELAXED: c_int = 0;
    // SAFETY: guaranteed by the caller.
    unsafe { modify(counter, RmwOp::Add, 1, RELAXED, 0) };
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe fn compare<W: Word>(at: *mut W, old: W, new: W, orders: (c_int, c_int), pc: usize) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = usual::<W>() else { return compare_unusual(at, old, new, orders, pc) };
        let turn = Turn::begin_local(slot, at as usize);
        let seen = W::swap_if(at, old, new);
        let request = request::<W>(orders.0, orders.1, RmwOp::Exchange);
        let record = (slot, turn.number);
        match seen == old {
            true => record_usual(record, Kind::AtomicCas, pc, at, request, [seen, new]),
            false => record_usual(record, Kind::AtomicCasFailed, pc, at, request, [seen, old]),
        }
        turn.end();
        seen
    }
}

/// # Safety
/// As for [`compare`].
#[inline(never)]
unsafe fn compare_unusual<W: Word>(
    at: *mut W,
    old: W,
    new: W,
    orders: (c_int, c_int),
    pc: usize,
) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let seen = perform(Kind::AtomicCas, at, pc, |turn| {
            let seen = W::swap_if(at, old, new);
            if let Some(&Turn { slot, number, .. }) = turn {
                let request = request::<W>(orders.0, orders.1, RmwOp::Exchange);
                let (kind, other) = match seen == old {
                    true => (Kind::AtomicCas, new),
                    false => (Kind::AtomicCasFailed, old),
                };
                record((slot, number), kind, pc, at, request, &[seen, other]);
            }
            seen
        });
        if collect::is_only()
            && let Some(slot) = thread::recorded()
        {
            let kind = if seen == old { Kind::AtomicCas } else { Kind::AtomicCasFailed };
            collect::atomic(slot, kind, at as usize, 1 << W::LOG2, pc);
        }
        if memory::is_on()
            && let Some(slot) = thread::recorded()
        {
            match seen == old {
                true => memory::update(slot, object(at, seen), orders.0, new.wide()),
                false => memory::compare(slot, object(at, seen), orders.1),
            }
        }
        seen
    }
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe extern "C" fn cas<W: Word>(
    at: *mut W,
    old: *mut W,
    new: W,
    order: c_int,
    failure: c_int,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let expected = *old;
        let seen = compare(at, expected, new, (order, failure), pc);
        if seen != expected {
            *old = seen;
        }
        c_int::from(seen == expected)
    }
}

/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe extern "C" fn cas_value<W: Word>(
    at: *mut W,
    old: W,
    new: W,
    order: c_int,
    failure: c_int,
    pc: usize,
) -> W {
    // SAFETY: guaranteed by the caller.
    unsafe { compare(at, old, new, (order, failure), pc) }
}

macro_rules! modifiers {
    ($($name:ident $op:ident;)*) => { $(
        /// # Safety
        /// `at` is the address of an object of this size, which the program accesses by atomic
        /// operations only.
        unsafe extern "C" fn $name<W: Word>(at: *mut W, by: W, order: c_int, pc: usize) -> W {
            // SAFETY: guaranteed by the caller.
            unsafe { modify(at, RmwOp::$op, by, order, pc) }
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

/// Exports a function under the name that compilers call. The return address of the call is passed
/// in the register of the argument after the last.
macro_rules! export {
    ($name:expr, $register:literal, $function:path) => {
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            $crate::capture::capture!(),
            concat!("mov ", $register, ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $name, ", . - ", $name),
            function = sym $function,
        );
    };
}
use export;

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

// A 16-byte value takes two registers, so the return address is passed one register later.
export!("__tsan_atomic128_load", "rdx", load::<u128>);
export!("__tsan_atomic128_store", "r8", store::<u128>);
export!("__tsan_atomic128_exchange", "r8", swap::<u128>);
export!("__tsan_atomic128_fetch_add", "r8", add::<u128>);
export!("__tsan_atomic128_fetch_sub", "r8", sub::<u128>);
export!("__tsan_atomic128_fetch_and", "r8", and::<u128>);
export!("__tsan_atomic128_fetch_or", "r8", or::<u128>);
export!("__tsan_atomic128_fetch_xor", "r8", xor::<u128>);
export!("__tsan_atomic128_fetch_nand", "r8", nand::<u128>);

// All six argument registers are taken here, so the return address goes on the stack as a seventh
// argument.
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

/// The memory order on failure is already on the stack: behind the return address and the argument
/// that the stub adds.
///
/// # Safety
/// `at` is the address of an object of this size, which the program accesses by atomic operations
/// only.
unsafe extern "C" fn cas_value_wide(
    at: *mut u128,
    old: u128,
    new: u128,
    order: c_int,
    pc: usize,
    _back: usize,
    failure: c_int,
) -> u128 {
    // SAFETY: guaranteed by the caller.
    unsafe { cas_value(at, old, new, order, failure, pc) }
}
