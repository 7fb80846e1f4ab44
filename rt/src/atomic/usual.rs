//! The short path of atomic operations: what most programs need while they are recorded, without a call.

use norn_abi::{
    Kind,
    arena::ThreadSlot,
    atomic::{AtomicRequest, WIDEST},
};

use super::word::Word;
use crate::{event, hook, thread, tls};

/// The slot of the current thread in the usual case, in which [`record_usual`] records the operation: the
/// thread has a clock of its own, it is not in a signal handler, and there is room for the event. The
/// thread's hook table tells most of it with one comparison; that of a placeholder, of a controlled run
/// or of a thread whose recording has stopped is another one.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
#[inline(always)]
pub(super) unsafe fn usual<W: Word>() -> Option<*mut ThreadSlot> {
    let slot = tls::current();
    // SAFETY: a placeholder has a table, and nothing else of it is read.
    unsafe {
        let table = (*slot).table.cast();
        if W::LOG2 == WIDEST || !hook::is_usual(table) {
            return None;
        }
        let own = thread::own(slot);
        let usual = (*own).lock_code == 0 && (*own).host.is_null() && !(*slot).lane.full();
        usual.then_some(slot)
    }
}

/// Records an operation of the [`usual`] case.
///
/// # Safety
/// The slot is the current thread's, and there is room for the event.
#[inline(always)]
pub(super) unsafe fn record_usual<W: Word, const COUNT: usize>(
    (slot, number): (*mut ThreadSlot, u64),
    kind: Kind,
    pc: usize,
    at: *mut W,
    request: AtomicRequest,
    values: [W; COUNT],
) {
    let mut args = [request.pack(), 0, 0];
    for (arg, value) in args[1..].iter_mut().zip(values) {
        *arg = value.halves().0;
    }
    // SAFETY: guaranteed by the caller.
    unsafe { event::numbered(slot, kind, pc, at as usize, number, &args[..=COUNT]) };
}
