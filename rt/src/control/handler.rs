//! Signal handlers of a controlled run: when they can run, begin and end.

use core::sync::atomic::Ordering;

use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
};
use norn_sched::{NEVER, Scheduler, TaskId};

use super::{
    is_on, new_thread,
    seat::{self, task_of},
    shared::lock,
    time, turn, turned, wait,
    world::Process,
};
use crate::{intercept::signal::stream_of, thread};

/// A signal is pending whose handler interrupts `host`: the scheduler may run it from now on.
///
/// # Safety
/// The slot is that of a thread which has begun and not ended, or of a handler that runs on one.
pub unsafe fn pend(host: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe { pend_here(&mut lock(), host, false) };
}

/// Does the same for a caller that holds the scheduler's lock.
///
/// # Safety
/// As for [`pend`].
pub unsafe fn pend_here(scheduler: &mut Scheduler, host: *mut ThreadSlot, by_timer: bool) {
    // SAFETY: guaranteed by the caller. Streams are made with the lock held, so that no two threads
    // make the same one.
    unsafe {
        let Some(task) = task_of(host) else { return };
        let Some(stream) = stream_of(host) else { return };
        let handler = scheduler.pend(task, new_thread(stream), by_timer, &Process);
        if let Some(handler) = handler
            && task_of(stream) != Some(handler)
        {
            seat::assign(handler, stream);
        }
        // A thread that runs asks at its next event.
        if scheduler.holder() == Some(task) {
            seat::of(task).stop_at().store(0, Ordering::Relaxed);
        }
    }
}

/// Called when a handler begins: `ordered` if the scheduler has given it the turn. Otherwise the
/// thread runs without the turn, and the handler waits for it. Returns the stream of the handler.
///
/// # Safety
/// The slot is the one that the handler interrupts, of the current thread and not a placeholder.
pub unsafe fn handler_begins(host: *mut ThreadSlot, ordered: bool) -> Option<*mut ThreadSlot> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut scheduler = lock();
        pend_here(&mut scheduler, host, false);
        let stream = (*thread::own(host)).handler;
        let task = if stream.is_null() { None } else { task_of(stream) };
        let task = task?;
        scheduler.handler_begins(task);
        if ordered {
            drop(scheduler);
            time::note_expired(stream);
            turned(stream, false);
        } else {
            let decision = scheduler.come_back(task, &Process);
            turn::carry_out(&mut scheduler, &decision);
            drop(scheduler);
            turn::wait_for_handler(stream, task);
        }
        Some(stream)
    }
}

/// Called when the handler has returned, or did not run because its signal was gone: the turn
/// passes on. `more` if another signal is pending for the same thread.
///
/// # Safety
/// The slot is that of the interrupted thread, which is the current one.
pub unsafe fn handler_ends(host: *mut ThreadSlot, restarts: bool, more: bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let stream = (*thread::own(host)).handler;
        if stream.is_null() {
            return;
        }
        let own = thread::own(host);
        ((*own).handled_at, (*own).restarts) = ((*host).steps + 1, restarts);
        turn::leave(stream, |scheduler, task| {
            scheduler.handler_ends(task, restarts);
            if more {
                pend_here(scheduler, host, false);
            }
        });
    }
}

/// Called when the program leaves a handler by a jump: the interrupted thread continues when it has
/// the turn.
///
/// # Safety
/// As for [`handler_ends`].
pub unsafe fn handler_is_left(host: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let stream = (*thread::own(host)).handler;
        if !is_on() || stream.is_null() {
            return;
        }
        turn::leave(stream, Scheduler::handler_is_left);
        turn::come_back(host);
    }
}

/// If a handler is to run on the current thread, waits until it has: a signal that a thread sends to
/// itself takes effect before the call returns.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn await_handler(slot: *mut ThreadSlot, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if is_on() && task_of(slot).is_some_and(|it| lock().is_pending(it)) {
            wait::block(slot, Kind::HandlerBegin, 0, pc, NEVER);
        }
    }
}

/// The slot of a living thread, by its number.
pub fn slot_of(thread: u32) -> Option<*mut ThreadSlot> {
    slots(&lock()).find(|it| {
        // SAFETY: the slot of a living task is valid.
        unsafe { (**it).head.thread == thread }
    })
}

/// The slots of all living threads, in the order of their tasks.
pub fn slots(scheduler: &Scheduler) -> impl Iterator<Item = *mut ThreadSlot> {
    let slots = scheduler.living().map(|it: TaskId| seat::of(it).slot());
    slots.filter(|it| {
        // SAFETY: the slot of a living task is valid.
        unsafe { (**it).head.role != role::HANDLER }
    })
}

/// The kernel's id of the living thread whose slot satisfies a condition.
pub fn tid_where(mut holds: impl FnMut(*mut ThreadSlot) -> bool) -> Option<u32> {
    let found = slots(&lock()).find(|it| holds(*it));
    // SAFETY: the slot of a living task is valid.
    found.map(|it| unsafe { (*it).head.tid }).filter(|it| *it != 0)
}

/// The number of the living thread with a kernel's id.
pub fn number_of(tid: u32) -> Option<u32> {
    let scheduler = lock();
    let mut living = scheduler.living().map(seat::of);
    living.find(|it| it.tid() == tid).map(seat::Seat::thread)
}
