//! Controlled runs. One thread at a time has the turn and runs; at its events the scheduler
//! ([`norn_sched`]) decides which thread runs next. This module is the part that depends on the
//! process: the lock around the scheduler ([`shared`]), the words that threads sleep on ([`seat`]),
//! the answers to the scheduler's queries about the outside ([`world`]), and the execution of its
//! decisions ([`turn`]).
//!
//! Operations that would block are replaced by a non-blocking attempt and, if that fails, a wait in
//! the scheduler, so that it always knows which threads can run. The objects stay the program's
//! own: a mutex is locked by the real `trylock`. Only what has no non-blocking form is emulated:
//! condition variables, barriers, sleeping.

pub mod destroyed;
mod exit;
pub mod feed;
mod handler;
pub mod heap;
mod held;
mod interrupt;
pub mod memory;
pub mod misuse;
pub mod sample;
pub mod schedule;
mod seat;
mod shared;
pub mod time;
mod turn;
pub mod verdict;
mod wait;
mod wake;
mod world;

use core::sync::atomic::{AtomicBool, Ordering};

pub use handler::{
    await_handler, handler_begins, handler_ends, handler_is_left, number_of, pend, pend_here,
    slot_of, slots, tid_where,
};
pub use interrupt::{
    cancel, note_cancelled, take_cancelled, take_interrupted, test_asynchronous, test_cancel,
};
use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
    control::strategy,
};
use norn_sched::{Arrival, Asked, NewThread};
pub use norn_sched::{
    Event, Interruption, NEVER, STEP, Scheduler, TIMERS, TaskId, TimerSetting, is_fruitless, mix,
};
use seat::task_of;
use shared::lock;
pub use wait::{
    SignalWait, block, block_after, block_for_signal, block_on_file, block_outside, meet_others,
    outside, yields,
};
use wake::wake_free;
pub use wake::{end_wait, look_again, release, release_one, with_scheduler};
use world::Process;

use crate::{arena, capture, number, sys, tls};

/// A plan is, or was, in force in this process.
static ON: AtomicBool = AtomicBool::new(false);
/// The plan is no longer in force: no thread waits for a turn.
static FREE: AtomicBool = AtomicBool::new(false);

/// Whether threads wait for their turn.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && !is_free()
}

/// Whether a plan was in force at any time, so that threads may still wait in the scheduler.
#[inline(always)]
pub fn was_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Whether the plan is no longer in force.
pub fn is_free() -> bool {
    FREE.load(Ordering::Relaxed)
}

fn set_free() {
    FREE.store(true, Ordering::Relaxed);
}

/// Starts the control with the first thread, which has the turn.
///
/// # Safety
/// The slot is named and the first thread's, and no other thread runs yet.
pub unsafe fn start(slot: *mut ThreadSlot) {
    if arena::plan().strategy == strategy::NONE {
        return;
    }
    verdict::forget();
    // SAFETY: guaranteed by the caller. A debugger may start the program repeatedly.
    unsafe {
        begin(slot, is_due() || arena::plan().linger != 0);
        heap::start();
        memory::start();
    }
    ON.store(true, Ordering::Relaxed);
}

/// Whether the schedule is for this process.
fn is_due() -> bool {
    arena::process_number() == arena::plan().process
}

/// Gives the turn to the first thread of a process.
///
/// # Safety
/// The slot is named and the thread's, and no other thread runs.
unsafe fn begin(slot: *mut ThreadSlot, due: bool) {
    let mut scheduler = lock();
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(task) = scheduler.begin(new_thread(slot), due, &Process) else { return };
        seat::assign(task, slot);
        turn::start(task);
    }
    if let Some(report) = scheduler.take_report() {
        schedule::publish(&report);
    }
}

/// What the scheduler needs to know about a new thread.
///
/// # Safety
/// The slot is named.
unsafe fn new_thread(slot: *mut ThreadSlot) -> NewThread {
    // SAFETY: guaranteed by the caller.
    let head = unsafe { &(*slot).head };
    NewThread { thread: head.thread, child: head.child, foreign: head.role == role::FOREIGN }
}

/// Restarts the control in a forked child, whose only thread has a new slot.
///
/// # Safety
/// The slot is named and the thread's, and no other thread runs. `parent` is the slot of the same
/// thread in the parent, or a placeholder.
pub unsafe fn after_fork(slot: *mut ThreadSlot, parent: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        shared::unlock_after_fork();
        lock().forget_tasks();
        heap::after_fork();
        let before = if tls::is_stand(parent) { None } else { task_of(parent) };
        begin(slot, is_due());
        if let (Some(before), Some(now)) = (before, task_of(slot)) {
            held::inherit(before, now);
        }
        crate::channel::usage::after_fork();
    }
}

/// Registers a thread that is about to be created; the scheduler may choose it from now on.
///
/// # Safety
/// The slot is named and belongs to no thread yet; `parent` is the current thread's slot, or null.
pub unsafe fn adopt(slot: *mut ThreadSlot, parent: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        (*slot).steps = 0;
        (*slot).effect = 0;
        (*slot).stop_at.store(if is_free() { u64::MAX } else { 0 }, Ordering::Relaxed);
        let parent = if parent.is_null() { None } else { task_of(parent) };
        let mut scheduler = lock();
        if let Some(task) = scheduler.adopt(new_thread(slot), parent, &Process) {
            seat::assign(task, slot);
            held::clear(task);
        }
    }
}

/// Removes a thread that could not be created.
///
/// # Safety
/// The slot belongs to no thread.
pub unsafe fn disown(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    if was_on()
        && let Some(task) = unsafe { task_of(slot) }
    {
        lock().disown(task);
    }
}

/// Registers a thread that was first seen in a hook; it waits for its turn like all others.
///
/// # Safety
/// The slot is named and the current thread's.
pub unsafe fn meet(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    unsafe { adopt(slot, core::ptr::null_mut()) };
}

/// Makes a new thread wait until it is chosen, before it does anything else.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn first_turn(slot: *mut ThreadSlot) {
    if is_on() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            (*slot).head.tid = sys::thread_id();
            turn::arrive(slot);
        }
    }
}

/// Notes that the thread has ended.
///
/// # Safety
/// The slot was the current thread's until now.
pub unsafe fn ends(slot: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let tid = (*slot).head.tid;
        turn::leave(slot, |scheduler, task| {
            exit::begin(tid);
            scheduler.end(task);
            wake_free(scheduler);
        });
    }
}

/// Called before every event: the turn may pass to another thread here.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline(always)]
pub unsafe fn before(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (*slot).steps >= (*slot).stop_at.load(Ordering::Relaxed) {
            ask(slot, kind, pc, object);
        }
    }
}

/// Asks the scheduler. The thread's progress is published before any other thread runs.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[cold]
pub unsafe fn ask(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(task) = task_of(slot).filter(|_| is_on()) else {
            return (*slot).stop_at.store(u64::MAX, Ordering::Relaxed);
        };
        (*slot).lane.settle_any();
        let mut scheduler = lock();
        let event = Event { kind, object, pc };
        match scheduler.arrive(task, event, quiet(slot), &Process) {
            Arrival::WithoutTurn => {
                drop(scheduler);
                return turn::come_back(slot);
            }
            Arrival::GoesOn => return,
            Arrival::Observes(address) => {
                drop(scheduler);
                let value = norn_abi::peek::word(address).unwrap_or(0);
                scheduler = lock();
                scheduler.observe(task, value);
            }
            Arrival::Asks => {}
        }
        capture::watch(slot, scheduler.is_watched(task));
        if scheduler.wants_state(task) {
            scheduler.compare_state(task, capture::state(slot));
        }
        match scheduler.ask(task, &Process) {
            Asked::GoesOn(stop_at) => seat::of(task).stop_at().store(stop_at, Ordering::Relaxed),
            Asked::Passed(decision) => turn::wait_after(slot, task, scheduler, &decision),
        }
    }
}

/// Number of events of a thread, or of a signal handler on it, since its last visible change.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn quiet(slot: *mut ThreadSlot) -> u64 {
    // SAFETY: guaranteed by the caller.
    unsafe { (*slot).steps - (*slot).effect }
}

/// Called when the thread has the turn: again after other threads, or still (`kept`).
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn turned(slot: *mut ThreadSlot, kept: bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        arena::outcome().switches.fetch_add(u64::from(!kept), Ordering::Relaxed);
        if arena::make_room(slot) {
            let next = (*slot).steps as usize;
            (*slot).lane.sync(Kind::Turn, 0, next, number::next(slot), &[]);
        }
    }
}

/// The task of a thread, if it is controlled.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn task(slot: *mut ThreadSlot) -> Option<TaskId> {
    // SAFETY: guaranteed by the caller.
    unsafe { task_of(slot) }
}

/// Whether something holds for another living thread, by its task and its number of events.
pub fn any_other(own: Option<TaskId>, holds: impl Fn(TaskId, u64) -> bool) -> bool {
    lock().living().any(|it| Some(it) != own && holds(it, seat::of(it).steps()))
}

/// Whether the thread with this number has not ended yet.
pub fn is_alive(number: u32) -> bool {
    lock().is_alive(number)
}

/// Whether `tid` is a living thread of this process that the scheduler does not control.
pub fn is_foreign(tid: u32) -> bool {
    let ours = lock().living().any(|it| seat::of(it).tid() == tid);
    !ours && sys::is_thread(tid)
}
