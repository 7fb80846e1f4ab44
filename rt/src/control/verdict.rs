//! Failures of a run that the runtime itself detects. It writes the verdict to the arena, and the
//! program does not continue: the tool ends it, or a person inspects it in a debugger.

use core::sync::atomic::Ordering;

use norn_abi::{arena::ThreadSlot, control::verdict};
use norn_sched::Verdict;

use super::feed;
use crate::{arena, sys, tls};

/// Records that the scheduler ends the run, with the number of events of all threads so far.
pub fn stop(verdict: Verdict, steps: u64) {
    find(verdict.code(), u32::MAX, steps);
}

/// Counts a thread that is in uninstrumented code, or waits for another process. The schedule does
/// not determine when it returns.
pub fn away() {
    arena::outcome().away.fetch_add(1, Ordering::Relaxed);
}

/// Ends the run because of an invalid use of memory. Does not return.
///
/// # Safety
/// The slot is the current thread's, or a placeholder.
pub unsafe fn memory(slot: *mut ThreadSlot, what: u32, pc: usize, addr: usize, block: usize) {
    let outcome = arena::outcome();
    outcome.error_pc.store(pc as u64, Ordering::Relaxed);
    outcome.error_addr.store(addr as u64, Ordering::Relaxed);
    outcome.block.store(block as u64, Ordering::Relaxed);
    // SAFETY: guaranteed by the caller.
    let thread = if tls::is_stand(slot) { u32::MAX } else { unsafe { (*slot).head.thread } };
    find(what, thread, feed::steps());
    hold();
}

/// Whether there is a verdict that ends the run.
pub fn is_found() -> bool {
    arena::outcome().verdict.load(Ordering::Relaxed) != verdict::NONE
}

/// Clears the verdict when a program starts, perhaps repeatedly in a debugger. A process that the
/// program itself starts keeps the verdict.
pub fn forget() {
    let outcome = arena::outcome();
    if arena::process_number() != 0 && arena::plan().linger == 0 {
        return;
    }
    outcome.verdict.store(verdict::NONE, Ordering::Relaxed);
    outcome.why.store(0, Ordering::Relaxed);
    outcome.signal.store(0, Ordering::Relaxed);
    outcome.segment.store(0, Ordering::Relaxed);
    outcome.switches.store(0, Ordering::Relaxed);
    outcome.text_len.store(0, Ordering::Relaxed);
}

/// Records a verdict unless there is one: the first verdict counts.
fn find(what: u32, thread: u32, steps: u64) {
    let outcome = arena::outcome();
    if outcome.verdict.load(Ordering::Acquire) != verdict::NONE {
        return;
    }
    outcome.thread.store(thread, Ordering::Relaxed);
    outcome.process.store(arena::process_number(), Ordering::Relaxed);
    outcome.steps.store(steps, Ordering::Relaxed);
    outcome.verdict.store(what, Ordering::Release);
    arena::ring_bell();
}

/// Blocks the thread forever.
fn hold() -> ! {
    const LONG: u64 = 1 << 40;
    let never = 0;
    loop {
        sys::futex_wait(&raw const never, 0, LONG);
    }
}
