//! The access hooks of runs whose patterns are collected, in place of a trace; see [`crate::collect`].

use norn_abi::arena::ThreadSlot;
use norn_window::{ThreadWord, back_off};

use crate::{collect, thread};

/// The access hook of a run whose patterns are collected. The usual case, memory that only this thread
/// uses, is decided here.
///
/// # Safety
/// Called by a hook, with the current thread's slot.
pub(super) unsafe extern "C" fn collect_access<const K: u16>(
    addr: usize,
    pc: usize,
    slot: *mut ThreadSlot,
) {
    // SAFETY: the table is used only while patterns are collected.
    unsafe {
        let by = ThreadWord::from_bits((*thread::own(slot)).word);
        let (write, log2) = (K & 8 != 0, K & 7);
        if log2 == 4 || !collect::shadow().access_private(by, (addr, log2), write, pc) {
            collect::access(slot, write, (addr, 1 << log2), pc);
        }
    }
}

/// The same, except that most executions of frequent sites are left out.
///
/// # Safety
/// Called by a hook, with the current thread's slot.
pub(super) unsafe extern "C" fn collect_some<const K: u16>(
    addr: usize,
    pc: usize,
    slot: *mut ThreadSlot,
) {
    // SAFETY: the table is used only while patterns are collected.
    unsafe {
        if !back_off::is_left_out(&mut (*slot).visits, pc) {
            collect_observed::<K>(addr, pc, slot);
        }
    }
}

/// # Safety
/// Called by a hook, with the current thread's slot.
#[inline(never)]
unsafe fn collect_observed<const K: u16>(addr: usize, pc: usize, slot: *mut ThreadSlot) {
    // SAFETY: as above.
    unsafe {
        if back_off::observe(&mut (*slot).visits, pc) {
            collect::resume();
        }
        collect_access::<K>(addr, pc, slot);
    }
}

/// The same during a burst, in which everything is observed.
///
/// # Safety
/// Called by a hook, with the current thread's slot.
pub(super) unsafe extern "C" fn collect_burst<const K: u16>(
    addr: usize,
    pc: usize,
    slot: *mut ThreadSlot,
) {
    // SAFETY: as above.
    unsafe {
        if !collect::is_burst() {
            (*slot).table = (&raw const super::COLLECT_SOME).cast();
        }
        collect_access::<K>(addr, pc, slot);
    }
}
