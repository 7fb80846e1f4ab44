//! Recognises threads that wait in a loop without hooks, as spin locks in assembly do.
//!
//! A thread that computes for long without an event is interrupted from time to time. If it is at the same
//! instruction twice, with equal registers and an equal stack, only another thread can end its loop. The
//! signal is one whose handler the runtime has installed anyway; its information says that it is not a
//! fault.

use core::sync::atomic::{AtomicU64, Ordering};

use norn_sched::{TaskId, mix};

use super::seat;
use crate::{arena, intercept::signal::SIGSEGV, signal, sys, task_state, thread, tls};

/// Number of earlier samples that are compared.
const KEPT: usize = 8;
/// How much of the stack is compared: the variables of the innermost functions, and below the stack pointer
/// what a function without calls has there.
const STACK: usize = 512;
const RED_ZONE: usize = 128;
const PAGE: usize = 4096;

/// How long the thread computes between two samples, in nanoseconds of CPU time: many rounds of a loop.
const APART: u64 = 500_000;

/// The kernel's code for information that a process has sent, and the place of the code and of the value.
const SI_QUEUE: u64 = -1i32 as u32 as u64;
const CODE: usize = 1;
const VALUE: usize = 3;

/// The last sample, a hash of the state of a thread, until it is looked at; 0 if there is none.
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// Earlier samples, the oldest first overwritten, and their number. The scheduler's lock protects them.
static SAMPLES: [AtomicU64; KEPT] = [const { AtomicU64::new(0) }; KEPT];
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The number of events of all threads since which samples are compared: another thread may end the loop.
static EVENTS: AtomicU64 = AtomicU64::new(u64::MAX);
/// The CPU time of the thread at the last request.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// Whether the task's thread was in the same state twice while there were this many events. Takes another
/// sample, which the next call sees. Called with the scheduler's lock held.
pub fn is_looping(task: TaskId, events: u64) -> bool {
    let sample = TAKEN.swap(0, Ordering::Acquire);
    if EVENTS.swap(events, Ordering::Relaxed) != events {
        SAMPLES.iter().for_each(|it| it.store(0, Ordering::Relaxed));
        SPENT.store(0, Ordering::Relaxed);
    } else if sample != 0 {
        if SAMPLES.iter().any(|it| it.load(Ordering::Relaxed) == sample) {
            // The next question is answered at once as well.
            TAKEN.store(sample, Ordering::Relaxed);
            return true;
        }
        let at = COUNT.fetch_add(1, Ordering::Relaxed) as usize % KEPT;
        SAMPLES[at].store(sample, Ordering::Relaxed);
    }
    request(task);
    false
}

/// Interrupts the thread of a task if it runs, and has run since the last time: a system call must not be
/// disturbed. A debugger would show the signal, and a thread that blocks it would receive it at any time
/// later.
fn request(task: TaskId) {
    let seat = seat::of(task);
    let tid = seat.tid();
    let spent = sys::spent(tid).unwrap_or(0);
    if spent - SPENT.load(Ordering::Relaxed).min(spent) < APART {
        return;
    }
    // SAFETY: the slot is that of a living thread.
    let blocked = unsafe { (*thread::own(seat.slot())).mask };
    let disturbs = arena::plan().linger != 0 || blocked & signal::bit(SIGSEGV) != 0;
    if !disturbs && task_state::is_running(tid) {
        SPENT.store(spent, Ordering::Relaxed);
        let mut info = [0u64; 16];
        (info[CODE], info[VALUE]) = (SI_QUEUE, marker());
        sys::signal_thread(tid, SIGSEGV, &raw const info as usize);
    }
}

/// Whether this signal asks for a sample.
///
/// # Safety
/// The information is the kernel's.
pub unsafe fn is_request(number: i32, info: *const u64) -> bool {
    // SAFETY: guaranteed by the caller.
    let [code, value] = unsafe { [*info.add(CODE), *info.add(VALUE)] };
    number == SIGSEGV && code as u32 == SI_QUEUE as u32 && value == marker()
}

/// Takes a sample of the current thread, which was interrupted with these registers.
///
/// # Safety
/// They are those of the handler's context.
pub unsafe fn take(registers: &[usize], sp: usize) {
    let slot = tls::current();
    // SAFETY: the slot is the current thread's, and placeholders have no count.
    let steps = if tls::is_stand(slot) { 0 } else { unsafe { (*slot).steps } };
    let mut sample = mix(steps ^ slot as u64);
    for register in registers {
        sample = mix(sample ^ *register as u64);
    }
    // The page of the stack pointer is mapped: the kernel has just written below it, or the thread did.
    let page = sp & !(PAGE - 1);
    let (mut at, end) = ((sp - RED_ZONE).max(page) & !7, (sp + STACK).min(page + PAGE));
    while at < end {
        // SAFETY: see above.
        sample = mix(sample ^ unsafe { (at as *const u64).read_volatile() });
        at += 8;
    }
    TAKEN.store(sample.max(1), Ordering::Release);
}

/// What tells the runtime's signals from others.
fn marker() -> u64 {
    &raw const TAKEN as u64
}
