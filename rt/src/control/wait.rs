//! How threads wait, and how they run without the turn.

use core::sync::atomic::Ordering;

use norn_abi::{Kind, arena::ThreadSlot};
use norn_sched::{Event, Scheduler, TaskId, Wait};

use super::{
    is_free, is_on, quiet,
    seat::{self, task_of},
    shared::lock,
    turn, verdict,
    wake::wake_free,
    world::Process,
};
use crate::{event, signal, thread, tls};

/// Waits until `object` is released, the deadline passes, or the thread is cancelled. Returns true
/// if the deadline passed.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block(
    slot: *mut ThreadSlot,
    kind: Kind,
    object: usize,
    pc: usize,
    deadline: u64,
) -> bool {
    let wait = Wait { event: Event { kind, object, pc }, deadline, outside: false };
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until_released(slot, wait) }
}

/// Waits for something outside of the program. The caller then retries its operation.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block_outside(slot: *mut ThreadSlot, pc: usize, deadline: u64) -> bool {
    let event = Event { kind: Kind::Sleep, object: 0, pc };
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until_released(slot, Wait { event, deadline, outside: true }) }
}

/// A wait for signals.
#[derive(Clone, Copy)]
pub struct SignalWait {
    /// The signals that end it.
    pub signals: u64,
    /// Tells waits for signals from outside from each other.
    pub object: usize,
    pub pc: usize,
    pub deadline: u64,
    /// Whether the signals may come from outside of the program.
    pub outside: bool,
}

/// Waits for signals. The caller then looks for a signal again. If only the program itself sends the
/// signals, this is a wait for an operation of another thread, like that for a file of the program's own.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block_for_signal(slot: *mut ThreadSlot, wait: SignalWait) -> bool {
    let SignalWait { signals, object, pc, deadline, outside } = wait;
    let (kind, object) = if outside {
        (Kind::Sleep, object)
    } else {
        (Kind::Receive, norn_abi::signal::wait_key(signals) as usize)
    };
    let event = Event { kind, object, pc };
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until_released(slot, Wait { event, deadline, outside }) }
}

/// Waits for a file that only the program's own threads operate on. The caller then retries its
/// operation, which is the `event` that the thread has arrived at: a receive, a send, or a call that
/// finds files ready.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block_on_file(slot: *mut ThreadSlot, event: Event, deadline: u64) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { wait_until_released(slot, Wait { event, deadline, outside: false }) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn wait_until_released(slot: *mut ThreadSlot, wait: Wait) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if is_interrupted(slot, &wait) {
            return false;
        }
        enter(slot, wait.event);
        turn::wait_for(slot, |scheduler, task| begin_wait(scheduler, task, wait));
        leave(slot)
    }
}

/// Whether a signal handler has run at this event, so that the wait ends at once. It makes no
/// difference whether it ran when the thread had already begun to wait: no event shows that, so that no
/// schedule could decide it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_interrupted(slot: *mut ThreadSlot, wait: &Wait) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let own = thread::own(slot);
        let file = matches!(wait.event.kind, Kind::Receive | Kind::Send | Kind::Ready);
        let interruptible = wait.outside || file || wait.event.kind == Kind::SemWait;
        if !interruptible || (*own).handled_at != (*slot).steps + 1 || !is_on() {
            return false;
        }
        (*own).handled_at = 0;
        if let Some(task) = task_of(slot) {
            lock().interrupt(task, (*own).restarts);
        }
        true
    }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn enter(slot: *mut ThreadSlot, event: Event) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*slot).lane.settle_any();
        event::block(slot, event.kind, event.object, event.pc);
    }
}

fn begin_wait(scheduler: &mut Scheduler, task: TaskId, wait: Wait) {
    if is_free() {
        seat::of(task).turn.store(0, Ordering::Relaxed);
    }
    scheduler.wait(task, wait);
}

/// Ends a wait. Returns whether it timed out.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn leave(slot: *mut ThreadSlot) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        event::unblock(slot);
        task_of(slot).is_some_and(|it| lock().take_timed_out(it))
    }
}

/// Registers the wait, runs `give_up`, which releases something, and then waits. No wake-up can be
/// lost between these steps.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn block_after(
    slot: *mut ThreadSlot,
    (kind, object, pc): (Kind, usize, usize),
    deadline: u64,
    give_up: impl FnOnce(),
) -> bool {
    let wait = Wait { event: Event { kind, object, pc }, deadline, outside: false };
    // SAFETY: guaranteed by the caller.
    unsafe {
        enter(slot, wait.event);
        if let Some(task) = task_of(slot) {
            begin_wait(&mut lock(), task, wait);
        }
        give_up();
        turn::wait_for(slot, |_, _| {});
        leave(slot)
    }
}

/// Waits until `all` threads wait to do `kind` on `object`. Returns true for the last thread, which
/// does not have to wait.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn meet_others(
    slot: *mut ThreadSlot,
    (kind, object, pc): (Kind, usize, usize),
    all: usize,
) -> bool {
    let event = Event { kind, object, pc };
    // SAFETY: guaranteed by the caller.
    unsafe {
        enter(slot, event);
        let last = task_of(slot).is_none_or(|task| {
            let mut scheduler = lock();
            let last = scheduler.meet(task, event, all);
            if !last && is_free() {
                seat::of(task).turn.store(0, Ordering::Relaxed);
            }
            wake_free(&mut scheduler);
            last
        });
        if !last {
            turn::wait_for(slot, |_, _| {});
        }
        leave(slot);
        last
    }
}

/// Lets other threads run first. Returns false if the thread is not controlled, so that the caller
/// must yield by itself.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn yields(slot: *mut ThreadSlot, pc: usize) -> bool {
    if !is_on() {
        return false;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some(task) = task_of(slot) {
            let mut scheduler = lock();
            let decision = scheduler.yields(task, pc, quiet(slot), &Process);
            turn::wait_after(slot, task, scheduler, &decision);
        }
    }
    true
}

/// Runs `f` without the turn, because it may block in a way that the runtime cannot foresee.
///
/// # Safety
/// `f` does not access the runtime's state.
pub unsafe fn outside<T>(f: impl FnOnce() -> T) -> T {
    let slot = tls::current();
    if !is_on() || tls::is_stand(slot) {
        return f();
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*slot).lane.settle_any();
        turn::leave(slot, Scheduler::go_away);
        verdict::away();
        // If the thread is cancelled in `f` and never returns from it, its next event asks the
        // scheduler.
        (*slot).stop_at.store(0, Ordering::Relaxed);
        let result = signal::outside(slot, f);
        turn::come_back(slot);
        result
    }
}
