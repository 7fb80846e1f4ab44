//! Regions whose plain memory accesses the program declares uninteresting.
//!
//! Inside such a region a thread uses a table of hooks that record calls of functions but no accesses.
//! As in ThreadSanitizer, ignoring reads and ignoring writes are the same. Atomic operations and locks
//! are still recorded: other threads may rely on the order that they establish, and the scheduler has to
//! see a thread that spins.

use norn_abi::arena::ThreadSlot;

use super::interpose;
use crate::{
    arena, function, hook,
    thread::{self, own},
};

/// Whether the accesses of a thread are not recorded.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn is_silent(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe { (*own(slot)).quiet || (*own(slot)).ignored > 0 }
}

/// Begins a region; regions may be nested.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn begin(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*own(slot)).ignored = (*own(slot)).ignored.saturating_add(1);
        if (*own(slot)).ignored == 1 {
            // The value of the last write is read back at the next event, which may be far away.
            (*slot).lane.settle_any();
            use_table(
                slot,
                if function::is_wanted() { &hook::IGNORE_NAMED } else { &hook::IGNORE },
            );
        }
    }
}

/// Ends a region. An end without a beginning has no effect.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn end(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if (*own(slot)).ignored == 0 {
            return;
        }
        (*own(slot)).ignored -= 1;
        if (*own(slot)).ignored == 0 {
            use_table(slot, arena::table());
        }
    }
}

/// A thread whose recording has stopped keeps its table.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn use_table(slot: *mut ThreadSlot, table: &'static hook::Table) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !arena::is_stopped(slot) {
            (*slot).table = (&raw const *table).cast();
        }
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn ignore_begins() {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { begin(slot) };
    }
}

/// # Safety
/// As for the annotation of ThreadSanitizer in whose place it is called.
unsafe extern "C" fn ignore_ends() {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { end(slot) };
    }
}

interpose! {
    AnnotateIgnoreReadsBegin(2) => ignore_begins;
    AnnotateIgnoreReadsEnd(2) => ignore_ends;
    AnnotateIgnoreWritesBegin(2) => ignore_begins;
    AnnotateIgnoreWritesEnd(2) => ignore_ends;
    __tsan_ignore_thread_begin(0) => ignore_begins;
    __tsan_ignore_thread_end(0) => ignore_ends;
}
