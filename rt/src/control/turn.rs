//! Executes the scheduler's decisions: threads sleep until they have the turn, and the thread that
//! passes it on wakes the next one.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use norn_abi::arena::ThreadSlot;
use norn_sched::{Decision, Grant, Scheduler, TURN_PATIENCE, TaskId};

use super::{
    exit, schedule,
    seat::{self, task_of},
    shared::{self, lock},
    time, verdict,
    world::Process,
};
use crate::{arena, intercept::timer, signal, sys, tls};

static PROCESSORS: AtomicU32 = AtomicU32::new(0);
/// The last thread that spun for its turn did so in vain.
static SPINS_IN_VAIN: AtomicBool = AtomicBool::new(false);
/// Number of waits for a turn.
static WAITS: AtomicU32 = AtomicU32::new(0);

/// How long a thread spins for its turn before it sleeps, in processor ticks: about as long as it
/// takes to wake a sleeping thread. With a single processor, spinning only delays the thread that
/// has the turn; and so does spinning while other programs use the processors, or for a turn that
/// lasts long. Therefore a thread spins only if that was successful last time, and from time to time to
/// find out whether it would be.
const LOOKS: u64 = 150_000;
/// Number of waits of which one spins in any case.
const PROBES: u32 = 32;

/// Gives the turn to the first thread of a process.
pub fn start(task: TaskId) {
    exit::forget();
    PROCESSORS.store(sys::processors(), Ordering::Relaxed);
    seat::of(task).turn.store(seat::HAS_TURN, Ordering::Relaxed);
}

/// Executes a decision of the scheduler. The caller holds its lock.
pub fn carry_out(scheduler: &mut Scheduler, decision: &Decision) {
    let mut decision = *decision;
    while let Some(timer) = decision.timer {
        carry_out_one(scheduler, &decision);
        // SAFETY: the caller holds the scheduler's lock.
        unsafe { timer::expires(scheduler, timer) };
        decision = scheduler.go_on(&Process);
    }
    carry_out_one(scheduler, &decision);
}

/// Executes a decision, except for the timer that has expired.
fn carry_out_one(scheduler: &mut Scheduler, decision: &Decision) {
    if let Some(task) = decision.taken_back {
        seat::of(task).turn.store(0, Ordering::Relaxed);
        arena::outcome().steps.fetch_max(decision.steps, Ordering::Relaxed);
    }
    if let Some(task) = decision.away {
        verdict::away();
        seat::of(task).stop_at().store(0, Ordering::Relaxed);
    }
    if let Some(report) = scheduler.take_report() {
        schedule::publish(&report);
    }
    if decision.freed {
        super::set_free();
        free_all(scheduler);
    }
    if let Some(stop) = decision.stop {
        verdict::stop(stop, decision.steps);
    }
    if let Some(grant) = &decision.grant {
        if decision.taken_back.is_some_and(|it| it != grant.task) {
            switch();
        }
        give(grant);
    }
}

/// Does nothing: a debugger stops here when the calling thread is about to lose its turn to another one.
/// The others still sleep, so that the order of these stops is that of the schedule.
#[inline(never)]
fn switch() {
    // SAFETY: no instruction. It keeps the compiler from removing the call.
    unsafe { core::arch::asm!("", options(nomem, nostack, preserves_flags)) };
}

/// Gives the turn to a task whose thread sleeps, or is the caller.
fn give(grant: &Grant) {
    seat::of(grant.task).stop_at().store(grant.stop_at, Ordering::Relaxed);
    // A handler that has not begun is called by the thread that it interrupts.
    let (seat, turn) = match grant.begins_on {
        Some(host) => (seat::of(host), seat::HANDLES),
        None => (seat::of(grant.task), seat::HAS_TURN),
    };
    // Sequentially consistent, like the sleeper's store before it sleeps (Dekker's pattern): either
    // the sleeper sees the turn, or this thread sees that it sleeps.
    seat.turn.store(turn, Ordering::SeqCst);
    if seat.asleep.load(Ordering::SeqCst) {
        sys::futex_wake(seat.turn.as_ptr());
    }
}

/// Wakes all threads: from now on no thread waits for a turn.
fn free_all(scheduler: &Scheduler) {
    for task in scheduler.living() {
        seat::of(task).stop_at().store(u64::MAX, Ordering::Relaxed);
        if !scheduler.is_waiting(task) {
            seat::of(task).wake();
        }
    }
}

/// Runs `prepare`, which describes how the caller waits, and passes the turn on. Returns when the
/// caller has the turn again, which is at once if the scheduler chose the same task.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn wait_for(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Scheduler, TaskId)) {
    // SAFETY: guaranteed by the caller.
    let Some(task) = (unsafe { task_of(slot) }) else { return };
    let mut scheduler = lock();
    prepare(&mut scheduler, task);
    let decision = scheduler.yield_turn(&Process);
    // SAFETY: guaranteed by the caller.
    unsafe { wait_after(slot, task, scheduler, &decision) };
}

/// Executes a decision about the caller's turn, releases the lock, and returns when the caller has
/// the turn.
///
/// # Safety
/// The slot is the current thread's, and the task belongs to this thread.
pub unsafe fn wait_after(
    slot: *mut ThreadSlot,
    task: TaskId,
    mut scheduler: shared::Guard,
    decision: &Decision,
) {
    carry_out(&mut scheduler, decision);
    let kept = scheduler.holder() == Some(task);
    drop(scheduler);
    // SAFETY: guaranteed by the caller.
    unsafe { wait(slot, task, kept) };
}

/// Waits for the turn when the caller returns from code that it ran without the turn.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn come_back(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(task) = task_of(slot) else { return };
        let mut scheduler = lock();
        let decision = scheduler.come_back(task, &Process);
        carry_out(&mut scheduler, &decision);
        drop(scheduler);
        wait(slot, task, false);
    }
}

/// Makes a new thread wait for its first turn. Its trace has not begun.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn arrive(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    if let Some(task) = unsafe { task_of(slot) } {
        sleep(task, Waits::ForItsFirstTurn);
    }
}

/// The caller gives up the turn, to run without it or to end; `prepare` tells the scheduler which.
///
/// # Safety
/// The slot is the current thread's, or was until now.
pub unsafe fn leave(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Scheduler, TaskId)) {
    // SAFETY: guaranteed by the caller.
    let Some(task) = (unsafe { task_of(slot) }) else { return };
    let mut scheduler = lock();
    prepare(&mut scheduler, task);
    let decision = scheduler.leave(task, &Process);
    carry_out(&mut scheduler, &decision);
}

/// Waits for the turn of a handler that has begun.
///
/// # Safety
/// The slot is the stream of a handler on the current thread.
pub unsafe fn wait_for_handler(slot: *mut ThreadSlot, task: TaskId) {
    // SAFETY: guaranteed by the caller.
    unsafe { wait(slot, task, false) };
}

/// Sleeps until the task has the turn. A thread that lost the turn in between records that in its
/// trace. So does a thread that kept the turn while the wait of another thread timed out, so that
/// the trace shows when that happened.
///
/// # Safety
/// The slot is the current thread's, and the task belongs to this thread.
unsafe fn wait(slot: *mut ThreadSlot, task: TaskId, kept: bool) {
    if !kept {
        sleep(task, Waits::Somehow);
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        signal::refresh(slot);
        let expired = time::note_expired(slot);
        if !kept || expired {
            super::turned(slot, kept);
        }
        super::test_asynchronous(slot);
    }
}

/// What a sleeping thread waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// Only its turn. The thread has no slot yet in which signals could be deferred, so it must not
    /// take the scheduler's lock at each sleep: a handler might need the lock.
    ForItsFirstTurn,
    /// A condition that the scheduler knows.
    Somehow,
}

fn sleep(task: TaskId, waits: Waits) {
    let seat = seat::of(task);
    let begun = sys::ticks();
    let looks = may_spin();
    let mut in_vain = false;
    loop {
        match seat.turn.load(Ordering::Acquire) {
            0 if !may_run_freely(task, waits) => {}
            seat::HANDLES => {
                seat.turn.store(0, Ordering::Relaxed);
                // SAFETY: the thread sleeps in the scheduler, and has a slot: no handler begins on a
                // thread before its first turn.
                unsafe { signal::receive(tls::current()) };
                continue;
            }
            _ => break,
        }
        if looks && sys::ticks() - begun < LOOKS {
            core::hint::spin_loop();
            continue;
        }
        in_vain |= looks;
        let patience = match waits {
            Waits::ForItsFirstTurn => TURN_PATIENCE,
            Waits::Somehow => lock().patience(task),
        };
        seat.asleep.store(true, Ordering::SeqCst);
        let late = sys::futex_wait(seat.turn.as_ptr(), 0, patience);
        seat.asleep.store(false, Ordering::SeqCst);
        if late {
            signal::look(task, waits == Waits::Somehow);
            look_around(task);
        }
    }
    if looks {
        SPINS_IN_VAIN.store(in_vain, Ordering::Relaxed);
    }
    exit::wait();
}

/// Whether a thread that waits for its turn spins before it sleeps.
fn may_spin() -> bool {
    let probes = WAITS.fetch_add(1, Ordering::Relaxed).is_multiple_of(PROBES);
    PROCESSORS.load(Ordering::Relaxed) > 1 && (probes || !SPINS_IN_VAIN.load(Ordering::Relaxed))
}

/// Whether no thread waits for a turn any more, and the task does not wait for anything else.
fn may_run_freely(task: TaskId, waits: Waits) -> bool {
    super::is_free() && (waits == Waits::ForItsFirstTurn || !lock().is_waiting(task))
}

/// Called when the caller has slept for a while: checks whether the scheduler should act, for
/// example because the thread with the turn is stuck in uninstrumented code.
fn look_around(task: TaskId) {
    let mut scheduler = lock();
    if seat::of(task).turn.load(Ordering::Relaxed) == 0 {
        let decision = scheduler.look_around(task, &Process);
        carry_out(&mut scheduler, &decision);
    }
}
