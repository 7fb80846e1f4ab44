//! Signals in a controlled run.
//!
//! The kernel would deliver a signal at any moment. So the runtime keeps all signals that the program
//! handles blocked, in every thread: they stay pending, and the runtime asks the scheduler when the
//! handler runs ([`norn_sched`], `handler.rs`). A thread calls a handler where it waits for its turn, by
//! unblocking the signal there: the kernel then delivers it at once, with the right information, stack
//! and mask. Everything else stays the kernel's: which signals are pending, their queues, `sigwait`,
//! `signalfd`. What the program itself blocks is in [`thread::Own::mask`], and the functions that read
//! or change the mask use that.
//!
//! Faults and `SIGABRT` concern the instruction that causes them and are never blocked.

mod origin;
mod wait;

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot};

use self::wait::AWAITED;
pub use self::{
    origin::{is_help_possible, is_internal, note_sent},
    wait::{wait_for, wait_for_handler},
};

use crate::{
    control::{self, Scheduler, TaskId},
    intercept::signal::is_synchronous,
    sys, thread, tls,
};

/// The signals that the runtime blocks, because the program handles them.
static GATE: AtomicU64 = AtomicU64::new(0);
/// Signals to the process that a thread has been chosen for.
static ASSIGNED: AtomicU64 = AtomicU64::new(0);
/// Signals to the process that all threads block: the first one that does not receives them.
static POSTPONED: AtomicU64 = AtomicU64::new(0);

/// The bit of a signal in a set.
pub fn bit(signal: c_int) -> u64 {
    1u64.checked_shl(signal as u32 - 1).unwrap_or(0)
}

/// Notes whether the program handles a signal.
pub fn set_handled(signal: c_int, handled: bool) {
    if is_synchronous(signal) {
        return;
    }
    if handled {
        GATE.fetch_or(bit(signal), Ordering::Relaxed);
    } else {
        GATE.fetch_and(!bit(signal), Ordering::Relaxed);
    }
    let slot = tls::current();
    if control::is_on() && !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe { apply(slot) };
    }
}

/// Whether the runtime decides when the handler of this signal runs.
pub fn is_gated(signal: c_int) -> bool {
    control::is_on() && GATE.load(Ordering::Relaxed) & bit(signal) != 0
}

/// The slot of the thread on which a handler runs; for a thread, its own.
///
/// # Safety
/// The slot is one of the arena's and not a placeholder.
pub unsafe fn root(slot: *mut ThreadSlot) -> *mut ThreadSlot {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut root = slot;
        while !(*thread::own(root)).host.is_null() {
            root = (*thread::own(root)).host;
        }
        root
    }
}

/// The stream that a thread currently uses: its own, or that of the innermost handler.
///
/// # Safety
/// The slot is that of a thread of the program.
unsafe fn top(root: *mut ThreadSlot) -> *mut ThreadSlot {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut slot = root;
        loop {
            let handler = (*thread::own(slot)).handler;
            if handler.is_null() || !(*thread::own(handler)).active {
                return slot;
            }
            slot = handler;
        }
    }
}

/// A thread begins with the signals that it blocks: signals that were sent to it before take effect.
///
/// # Safety
/// The slot is the current thread's, and just attached.
pub unsafe fn begin(slot: *mut ThreadSlot, mask: u64) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*thread::own(slot)).mask = mask;
        (*thread::own(slot)).begun = true;
        if control::is_on() {
            refresh(slot);
        }
    }
}

/// A thread ends: other threads receive what it was chosen for.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn end(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe { settle(slot, u64::MAX) };
}

/// Blocks what the program blocks and what the runtime does.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn apply(slot: *mut ThreadSlot) {
    let gate = if control::is_on() { GATE.load(Ordering::Relaxed) } else { 0 };
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*thread::own(root(slot))).gated = gate;
        sys::set_signal_mask((*thread::own(slot)).mask | gate);
    }
}

/// Blocks what another thread has meanwhile made a handler for, and looks for signals from outside.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline]
pub unsafe fn refresh(slot: *mut ThreadSlot) {
    let gate = if control::is_on() { GATE.load(Ordering::Relaxed) } else { 0 };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*thread::own(root(slot))).gated != gate {
            apply(slot);
        }
        if gate != 0 {
            notice(slot);
        }
    }
}

/// The signals whose handlers should run on the current thread. Signals for which another thread was
/// chosen are left to that one.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn deliverable(slot: *mut ThreadSlot) -> u64 {
    // SAFETY: guaranteed by the caller.
    let (blocked, mine) =
        unsafe { ((*thread::own(slot)).mask, (*thread::own(root(slot))).assigned) };
    let others = ASSIGNED.load(Ordering::Relaxed) & !mine;
    sys::pending_signals() & GATE.load(Ordering::Relaxed) & !blocked & !others
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
unsafe fn notice(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if deliverable(slot) != 0 {
            control::pend(slot);
        }
    }
}

/// Called when a thread has slept for a while without the turn: a signal may have come from outside.
pub fn look(task: TaskId, has_slot: bool) {
    let slot = tls::current();
    if !has_slot || tls::is_stand(slot) || !control::is_on() {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let awaited = (*thread::own(slot)).awaited;
        if awaited != 0 && sys::pending_signals() & awaited != 0 {
            control::end_wait(task);
        }
        // When this is called depends on real time, so that it finds nothing that the program sent.
        let own = POSTPONED.load(Ordering::Relaxed) | ASSIGNED.load(Ordering::Relaxed);
        if GATE.load(Ordering::Relaxed) != 0 && deliverable(slot) & !own != 0 {
            control::pend(slot);
        }
    }
}

/// Calls the handler of a pending signal; its task has the turn. If there is no such signal any
/// more, the turn passes on.
///
/// # Safety
/// The slot is that of the current thread, which waits for its turn.
pub unsafe fn receive(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let own = thread::own(slot);
        let signals = deliverable(slot);
        if signals != 0 {
            let signal = signals.trailing_zeros() as c_int + 1;
            settle(slot, bit(signal));
            (*own).ordered = signal;
            let gate = GATE.load(Ordering::Relaxed);
            sys::set_signal_mask(((*own).mask | gate) & !bit(signal));
            sys::set_signal_mask((*own).mask | gate);
            if core::mem::take(&mut (*own).ordered) == 0 {
                return;
            }
        }
        settle(slot, !sys::pending_signals());
        control::handler_ends(slot, false, false);
    }
}

/// Notes that signals are no longer to be received by the current thread.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn settle(slot: *mut ThreadSlot, signals: u64) {
    // SAFETY: guaranteed by the caller.
    let assigned = unsafe { &mut (*thread::own(root(slot))).assigned };
    ASSIGNED.fetch_and(!(*assigned & signals), Ordering::Relaxed);
    POSTPONED.fetch_and(!signals, Ordering::Relaxed);
    *assigned &= !signals;
}

/// Whether another signal is pending after a handler has ended.
///
/// # Safety
/// The slot is that of the interrupted thread, which is the current one.
pub unsafe fn is_more_pending(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { deliverable(slot) != 0 }
}

/// Runs `f`, which may block, without the turn: signals take effect there as usual.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn outside<T>(slot: *mut ThreadSlot, f: impl FnOnce() -> T) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let gated = (*thread::own(root(slot))).gated != 0;
        (*thread::own(slot)).outside = true;
        if gated {
            sys::set_signal_mask((*thread::own(slot)).mask);
        }
        let result = f();
        if gated {
            apply(slot);
        }
        (*thread::own(slot)).outside = false;
        result
    }
}

/// Before the process becomes another program, or makes one: what the program blocks is inherited.
pub fn open_gate() {
    let slot = tls::current();
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !tls::is_stand(slot) && (*thread::own(root(slot))).gated != 0 {
            sys::set_signal_mask((*thread::own(slot)).mask);
        }
    }
}

/// A signal was sent to a thread, by its number: its handler may run, unless the thread blocks the
/// signal or has not begun; such a thread finds it later.
pub fn sent_to_thread(thread: u32, signal: c_int) {
    if !control::is_on() {
        return;
    }
    note_sent(signal);
    control::release(Kind::Sleep, AWAITED);
    let Some(slot) = control::slot_of(thread).filter(|_| is_gated(signal)) else { return };
    // SAFETY: the slot is that of a living thread.
    unsafe {
        let top = top(slot);
        if (*thread::own(slot)).begun && (*thread::own(top)).mask & bit(signal) == 0 {
            control::pend(top);
        }
    }
}

/// A signal was sent to the process: it goes to the first thread that does not block it, as in the
/// kernel.
pub fn sent_to_process(signal: c_int) {
    if control::is_on() {
        note_sent(signal);
        control::release(Kind::Sleep, AWAITED);
        control::with_scheduler(|it| assign(it, signal, false));
    }
}

/// Chooses the thread for a signal to the process, with the scheduler's lock held.
pub fn assign(scheduler: &mut Scheduler, signal: c_int, by_timer: bool) {
    if !is_gated(signal) {
        return;
    }
    // SAFETY: the slots of living tasks are valid.
    let takes = |it: &*mut ThreadSlot| unsafe {
        (*thread::own(*it)).begun && (*thread::own(top(*it))).mask & bit(signal) == 0
    };
    if ASSIGNED.load(Ordering::Relaxed) & bit(signal) != 0 {
        return;
    }
    let chosen = control::slots(scheduler).find(takes);
    let Some(slot) = chosen else {
        POSTPONED.fetch_or(bit(signal), Ordering::Relaxed);
        return;
    };
    ASSIGNED.fetch_or(bit(signal), Ordering::Relaxed);
    // SAFETY: as above.
    unsafe {
        (*thread::own(slot)).assigned |= bit(signal);
        control::pend_here(scheduler, top(slot), by_timer);
    }
}

/// Does the same as [`sent_to_thread`] for a timer, with the scheduler's lock held.
///
/// # Safety
/// The slot is that of a living thread.
pub unsafe fn assign_to(scheduler: &mut Scheduler, slot: *mut ThreadSlot, signal: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let top = top(slot);
        let takes = (*thread::own(slot)).begun && (*thread::own(top)).mask & bit(signal) == 0;
        if is_gated(signal) && takes {
            control::pend_here(scheduler, top, true);
        }
    }
}

/// Wakes the threads that wait for signals without handlers, with the scheduler's lock held.
pub fn wake_awaiting(scheduler: &mut Scheduler) {
    scheduler.release_all(Kind::Sleep, AWAITED);
    scheduler.look_again();
}

/// Changes what the program blocks on the current thread; handlers of signals that it no longer blocks
/// run before this returns.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the run is controlled.
pub unsafe fn set_mask(slot: *mut ThreadSlot, mask: u64, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*thread::own(slot)).mask = mask;
        apply(slot);
        if deliverable(slot) != 0 {
            control::pend(slot);
            control::await_handler(slot, pc);
        }
    }
}
