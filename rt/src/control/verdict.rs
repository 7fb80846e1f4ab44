//! What the runtime itself finds wrong with a run. It is written where the tool sees it, and the
//! program goes no further: the tool ends it, or a person looks at it in a debugger.

use core::sync::atomic::Ordering;

use norn_abi::{arena::ThreadSlot, control::verdict};
use norn_sched::Verdict;

use super::feed;
use crate::{arena, sys, tls};

/// The scheduler has decided that the run goes no further, after so many events of all threads.
pub fn stop(verdict: Verdict, steps: u64) {
    find(verdict.code(), u32::MAX, steps);
}

/// A thread is in code that is not instrumented, or waits for another process. When it comes back, the
/// schedule does not say.
pub fn away() {
    arena::outcome().away.fetch_add(1, Ordering::Relaxed);
}

/// Memory was used as it must not be. Does not return.
///
/// # Safety
/// The slot is the current thread's, or a stand.
pub unsafe fn memory(slot: *mut ThreadSlot, what: u32, pc: usize, addr: usize, block: usize) {
    let outcome = arena::outcome();
    outcome.error_pc.store(pc as u64, Ordering::Relaxed);
    outcome.error_addr.store(addr as u64, Ordering::Relaxed);
    outcome.block.store(block as u64, Ordering::Relaxed);
    // SAFETY: as the caller says.
    let thread = if tls::is_stand(slot) { u32::MAX } else { unsafe { (*slot).head.thread } };
    find(what, thread, feed::steps());
    hold();
}

/// Whether something was found that ends the run.
pub fn is_found() -> bool {
    arena::outcome().verdict.load(Ordering::Relaxed) != verdict::NONE
}

/// A program starts, perhaps once more in a debugger: there is no verdict yet. A process that the
/// program itself starts keeps what there is.
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

/// The first verdict counts.
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

/// Goes no further.
fn hold() -> ! {
    const LONG: u64 = 1 << 40;
    let never = 0;
    loop {
        sys::futex_wait(&raw const never, 0, LONG);
    }
}
