//! Carries out what the scheduler decides: threads sleep until they have the turn, and the thread
//! that gives it away wakes the next.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_abi::arena::ThreadSlot;
use norn_sched::{Decision, Grant, Scheduler, TURN_PATIENCE, TaskId};

use super::{
    exit, schedule,
    seat::{self, task_of},
    shared::{self, lock},
    time, verdict,
    world::Process,
};
use crate::{arena, sys};

static PROCESSORS: AtomicU32 = AtomicU32::new(0);

/// How long a thread looks for its turn before it sleeps, in ticks of the processor: about as long
/// as it takes to wake one that sleeps. With one processor, looking is in the way of the thread that
/// has the turn.
const LOOKS: u64 = 150_000;

/// The first thread of a process has the turn.
pub fn start(task: TaskId) {
    exit::forget();
    PROCESSORS.store(sys::processors(), Ordering::Relaxed);
    seat::of(task).turn.store(1, Ordering::Relaxed);
}

/// Does what the scheduler has decided. Under its lock.
pub fn carry_out(scheduler: &mut Scheduler, decision: &Decision) {
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
        give(grant);
    }
}

/// Gives the turn to a task, whose thread sleeps or is the caller.
fn give(grant: &Grant) {
    let seat = seat::of(grant.task);
    seat.stop_at().store(grant.stop_at, Ordering::Relaxed);
    // Sequentially consistent, as the sleeper's store before it sleeps: either it sees the turn, or
    // we see that it sleeps.
    seat.turn.store(1, Ordering::SeqCst);
    if seat.asleep.load(Ordering::SeqCst) {
        sys::futex_wake(seat.turn.as_ptr());
    }
}

/// Wakes all threads: from now on nobody waits for a turn.
fn free_all(scheduler: &Scheduler) {
    for task in scheduler.living() {
        seat::of(task).stop_at().store(u64::MAX, Ordering::Relaxed);
        if !scheduler.is_waiting(task) {
            seat::of(task).wake();
        }
    }
}

/// Runs `prepare`, which says how the caller waits, and passes the turn on. Returns when the caller
/// has it again: at once if the scheduler chose the same task.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn wait_for(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Scheduler, TaskId)) {
    // SAFETY: as the caller says.
    let Some(task) = (unsafe { task_of(slot) }) else { return };
    let mut scheduler = lock();
    prepare(&mut scheduler, task);
    let decision = scheduler.yield_turn(&Process);
    // SAFETY: as the caller says.
    unsafe { wait_after(slot, task, scheduler, &decision) };
}

/// Carries out a decision about the caller's turn, gives the lock back, and returns when the caller
/// has the turn.
///
/// # Safety
/// The slot is the current thread's, and the task is its.
pub unsafe fn wait_after(
    slot: *mut ThreadSlot,
    task: TaskId,
    mut scheduler: shared::Guard,
    decision: &Decision,
) {
    carry_out(&mut scheduler, decision);
    let kept = scheduler.holder() == Some(task);
    drop(scheduler);
    // SAFETY: as the caller says.
    unsafe { wait(slot, task, kept) };
}

/// The caller comes from where it ran without the turn, and waits for it.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn come_back(slot: *mut ThreadSlot) {
    // SAFETY: as the caller says.
    unsafe {
        let Some(task) = task_of(slot) else { return };
        let mut scheduler = lock();
        let decision = scheduler.come_back(task, &Process);
        carry_out(&mut scheduler, &decision);
        drop(scheduler);
        wait(slot, task, false);
    }
}

/// A new thread waits for its first turn. Its trace has not begun.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn arrive(slot: *mut ThreadSlot) {
    // SAFETY: as the caller says.
    if let Some(task) = unsafe { task_of(slot) } {
        sleep(task, Waits::ForItsFirstTurn);
    }
}

/// The caller goes where it runs without the turn, or ends; `prepare` says which.
///
/// # Safety
/// The slot is the current thread's, or was until now.
pub unsafe fn leave(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Scheduler, TaskId)) {
    // SAFETY: as the caller says.
    let Some(task) = (unsafe { task_of(slot) }) else { return };
    let mut scheduler = lock();
    prepare(&mut scheduler, task);
    let decision = scheduler.leave(task, &Process);
    carry_out(&mut scheduler, &decision);
}

/// Sleeps until the task has the turn. A thread that did not keep it notes that in its trace; and
/// so does one that kept it while the time of another ran out, so that it is seen when that was.
///
/// # Safety
/// The slot is the current thread's, and the task is its.
unsafe fn wait(slot: *mut ThreadSlot, task: TaskId, kept: bool) {
    if !kept {
        sleep(task, Waits::Somehow);
    }
    // SAFETY: as the caller says.
    unsafe {
        let expired = time::note_expired(slot);
        if !kept || expired {
            super::turned(slot, kept);
        }
    }
}

/// What a thread that sleeps waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// Nothing but its turn. It has no slot yet where signals could be put off, so it should not
    /// take the scheduler's lock at each sleep: a handler might need the lock.
    ForItsFirstTurn,
    /// The scheduler knows.
    Somehow,
}

fn sleep(task: TaskId, waits: Waits) {
    let seat = seat::of(task);
    let begun = sys::ticks();
    let looks = PROCESSORS.load(Ordering::Relaxed) > 1;
    while seat.turn.load(Ordering::Acquire) == 0 && !may_run_freely(task, waits) {
        if looks && sys::ticks() - begun < LOOKS {
            core::hint::spin_loop();
            continue;
        }
        let patience = match waits {
            Waits::ForItsFirstTurn => TURN_PATIENCE,
            Waits::Somehow => lock().patience(task),
        };
        seat.asleep.store(true, Ordering::SeqCst);
        let late = sys::futex_wait(seat.turn.as_ptr(), 0, patience);
        seat.asleep.store(false, Ordering::SeqCst);
        if late {
            look_around(task);
        }
    }
    exit::wait();
}

/// Whether nobody waits for a turn any more, and the task waits for nothing else.
fn may_run_freely(task: TaskId, waits: Waits) -> bool {
    super::is_free() && (waits == Waits::ForItsFirstTurn || !lock().is_waiting(task))
}

/// The caller has slept for a while and looks whether it should do something.
fn look_around(task: TaskId) {
    let mut scheduler = lock();
    if seat::of(task).turn.load(Ordering::Relaxed) == 0 {
        let decision = scheduler.look_around(task, &Process);
        carry_out(&mut scheduler, &decision);
    }
}
