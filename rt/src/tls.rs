//! The thread-local words: the slot that the current thread records into, the process that it is
//! forking, and its shadow stack.
//!
//! The first word points to a static placeholder where a thread has no slot, so that hooks never
//! test for null. The runtime is always part of the executable, hence the local-exec model: an
//! access is a single instruction.

use core::arch::{asm, global_asm};

use norn_abi::arena::ThreadSlot;

use crate::hook;

/// Placeholder for the slot of a thread that has none: only its hook table is ever read.
#[repr(transparent)]
pub struct Stand(core::cell::UnsafeCell<*const hook::Table>);

// SAFETY: a single word, written with single stores.
unsafe impl Sync for Stand {}

impl Stand {
    const fn new(table: &'static hook::Table) -> Self {
        Stand(core::cell::UnsafeCell::new(table))
    }

    pub fn slot(&'static self) -> *mut ThreadSlot {
        self.0.get().cast()
    }

    pub fn set(&self, table: &'static hook::Table) {
        // SAFETY: a single store of a word; a concurrent reader sees one of two valid tables.
        unsafe { self.0.get().write_volatile(table) };
    }
}

/// For a thread that the runtime has not seen yet.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "named by the thread-local word's initial value")]
static norn_stand_new: Stand = Stand::new(&hook::FIRST);
/// For a thread that is being attached or detached: the runtime's own work is not recorded.
pub static BUSY: Stand = Stand::new(&hook::IDLE);
/// For a thread that has ended its recording.
pub static GONE: Stand = Stand::new(&hook::LATE);

pub static NEW: &Stand = &norn_stand_new;

global_asm!(
    ".pushsection .tdata.norn,\"awT\",@progbits",
    ".p2align 3",
    ".hidden norn_slot",
    ".globl norn_slot",
    ".type norn_slot,@object",
    ".size norn_slot,8",
    "norn_slot: .quad norn_stand_new",
    ".hidden norn_forking",
    ".globl norn_forking",
    ".type norn_forking,@object",
    ".size norn_forking,8",
    "norn_forking: .quad 0",
    ".hidden norn_calls",
    ".globl norn_calls",
    ".type norn_calls,@object",
    ".size norn_calls,8",
    "norn_calls: .quad 0",
    ".popsection",
);

/// The current thread's slot, or a placeholder.
#[inline(always)]
pub fn current() -> *mut ThreadSlot {
    let slot;
    // SAFETY: reads the thread's own word.
    unsafe {
        asm!(
            "mov {slot}, qword ptr fs:[norn_slot@tpoff]",
            slot = out(reg) slot,
            options(nostack, preserves_flags, readonly, pure),
        );
    }
    slot
}

/// Makes `slot` the current thread's slot.
#[inline(always)]
pub fn set(slot: *mut ThreadSlot) {
    // SAFETY: writes the thread's own word.
    unsafe {
        asm!(
            "mov qword ptr fs:[norn_slot@tpoff], {slot}",
            slot = in(reg) slot,
            options(nostack, preserves_flags),
        );
    }
}

/// The value last passed to [`set_forking`] in this thread; 0 at first. A forked child has the word
/// of the thread that forked it, whatever other threads did at the same time.
pub fn forking() -> usize {
    let word;
    // SAFETY: reads the thread's own word.
    unsafe {
        asm!(
            "mov {word}, qword ptr fs:[norn_forking@tpoff]",
            word = out(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// Sets the process entry that the current thread forks into.
pub fn set_forking(word: usize) {
    // SAFETY: writes the thread's own word.
    unsafe {
        asm!(
            "mov qword ptr fs:[norn_forking@tpoff], {word}",
            word = in(reg) word,
            options(nostack, preserves_flags),
        );
    }
}

/// The value last passed to [`set_calls`] in this thread; 0 at first.
pub fn calls() -> usize {
    let word;
    // SAFETY: reads the thread's own word.
    unsafe {
        asm!(
            "mov {word}, qword ptr fs:[norn_calls@tpoff]",
            word = out(reg) word,
            options(nostack, preserves_flags, readonly),
        );
    }
    word
}

/// Sets the address of the current thread's shadow stack.
pub fn set_calls(word: usize) {
    // SAFETY: writes the thread's own word.
    unsafe {
        asm!(
            "mov qword ptr fs:[norn_calls@tpoff], {word}",
            word = in(reg) word,
            options(nostack, preserves_flags),
        );
    }
}

/// Whether `slot` is a placeholder and not a slot of the arena.
#[inline(always)]
pub fn is_stand(slot: *mut ThreadSlot) -> bool {
    slot == NEW.slot() || slot == BUSY.slot() || slot == GONE.slot()
}
