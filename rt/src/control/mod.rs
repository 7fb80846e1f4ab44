//! Controlled runs: one thread at a time has the turn and runs, and at its events the scheduler
//! ([`norn_sched`]) decides which goes on. Here is what that needs from the process: the lock around
//! the scheduler ([`shared`]), the words that threads sleep on ([`seat`]), what the scheduler asks
//! about the outside ([`world`]), and carrying out what it decides ([`turn`]).
//!
//! Operations that would block are made to try, and to wait here if they must, so that it is always
//! known which threads can go on. The objects themselves stay the program's: a mutex is locked by the
//! real `trylock`. Only what cannot be tried is done here: condition variables, barriers, sleeping.

pub mod destroyed;
mod exit;
pub mod feed;
pub mod heap;
mod interrupt;
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

pub use interrupt::{
    cancel, handler_begins, handler_ends, take_cancelled, take_interrupted, test_cancel,
};
use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
    control::strategy,
};
use norn_sched::{Arrival, Asked, Event, NewThread};
pub use norn_sched::{Interruption, NEVER, STEP, TaskId, is_fruitless, mix};
use seat::task_of;
use shared::lock;
pub use wait::{block, block_after, block_outside, meet_others, outside, yields};
use wake::wake_free;
pub use wake::{look_again, release, release_one};
use world::Process;

use crate::{arena, input, number, sys};

/// A plan is in force in this process.
static ON: AtomicBool = AtomicBool::new(false);
/// It was, and now nobody waits for a turn any more.
static FREE: AtomicBool = AtomicBool::new(false);

/// Whether threads wait for their turn.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && !is_free()
}

/// Whether a plan was in force at some time, so that threads may wait here.
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

/// Starts with the first thread, which has the turn.
///
/// # Safety
/// The slot is named and the first thread's, and nothing else runs yet.
pub unsafe fn start(slot: *mut ThreadSlot) {
    if arena::plan().strategy == strategy::NONE {
        return;
    }
    verdict::forget();
    // SAFETY: as the caller says. A debugger may start the program again and again.
    unsafe {
        begin(slot, is_due() || arena::plan().linger != 0);
        heap::start();
    }
    input::start();
    ON.store(true, Ordering::Relaxed);
}

/// Whether the schedule is for this process.
fn is_due() -> bool {
    arena::process_number() == arena::plan().process
}

/// The first thread of a process has the turn.
///
/// # Safety
/// The slot is named and the thread's, and nothing else runs.
unsafe fn begin(slot: *mut ThreadSlot, due: bool) {
    let mut scheduler = lock();
    // SAFETY: as the caller says.
    unsafe {
        let Some(task) = scheduler.begin(new_thread(slot), due, &Process) else { return };
        seat::assign(task, slot);
        turn::start(task);
    }
    if let Some(report) = scheduler.take_report() {
        schedule::publish(&report);
    }
}

/// What the scheduler must know of a new thread.
///
/// # Safety
/// The slot is named.
unsafe fn new_thread(slot: *mut ThreadSlot) -> NewThread {
    // SAFETY: as the caller says.
    let head = unsafe { &(*slot).head };
    NewThread { thread: head.thread, child: head.child, foreign: head.role == role::FOREIGN }
}

/// In a forked child, whose only thread has a new slot.
///
/// # Safety
/// The slot is named and the thread's, and nothing else runs.
pub unsafe fn after_fork(slot: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: as the caller says.
    unsafe {
        shared::unlock_after_fork();
        lock().forget_tasks();
        heap::after_fork();
        begin(slot, is_due());
    }
}

/// A thread is about to be created; it may be chosen from now on.
///
/// # Safety
/// The slot is named and no thread's yet; the parent's is the current thread's, or null.
pub unsafe fn adopt(slot: *mut ThreadSlot, parent: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: as the caller says.
    unsafe {
        (*slot).steps = 0;
        (*slot).effect = 0;
        (*slot).stop_at.store(if is_free() { u64::MAX } else { 0 }, Ordering::Relaxed);
        let parent = if parent.is_null() { None } else { task_of(parent) };
        let mut scheduler = lock();
        if let Some(task) = scheduler.adopt(new_thread(slot), parent, &Process) {
            seat::assign(task, slot);
        }
    }
}

/// A thread could not be created.
///
/// # Safety
/// The slot is no thread's.
pub unsafe fn disown(slot: *mut ThreadSlot) {
    // SAFETY: as the caller says.
    if was_on()
        && let Some(task) = unsafe { task_of(slot) }
    {
        lock().disown(task);
    }
}

/// A thread that was met in a hook waits for its turn like all others.
///
/// # Safety
/// The slot is named and the current thread's.
pub unsafe fn meet(slot: *mut ThreadSlot) {
    // SAFETY: as the caller says.
    unsafe { adopt(slot, core::ptr::null_mut()) };
}

/// A new thread waits until it is chosen, before it does anything at all.
///
/// # Safety
/// The slot is the current thread's.
pub unsafe fn first_turn(slot: *mut ThreadSlot) {
    if is_on() {
        // SAFETY: as the caller says.
        unsafe {
            (*slot).head.tid = sys::thread_id();
            turn::arrive(slot);
        }
    }
}

/// The thread has ended.
///
/// # Safety
/// The slot was the current thread's until now.
pub unsafe fn ends(slot: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: as the caller says.
    unsafe {
        let tid = (*slot).head.tid;
        turn::leave(slot, |scheduler, task| {
            exit::begin(tid);
            scheduler.end(task);
            wake_free(scheduler);
        });
    }
}

/// Comes before every event: the turn may pass here.
///
/// # Safety
/// The slot is the current thread's and no stand.
#[inline(always)]
pub unsafe fn before(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if (*slot).steps >= (*slot).stop_at.load(Ordering::Relaxed) {
            ask(slot, kind, pc, object);
        }
    }
}

/// Asks the scheduler. What the thread did so far is noted before any other thread moves.
///
/// # Safety
/// The slot is the current thread's and no stand.
#[cold]
pub unsafe fn ask(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: as the caller says.
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
        match scheduler.ask(task, &Process) {
            Asked::GoesOn(stop_at) => seat::of(task).stop_at().store(stop_at, Ordering::Relaxed),
            Asked::Passed(decision) => turn::wait_after(slot, task, scheduler, &decision),
        }
    }
}

/// Events of a thread, or of a signal handler on it, since it last changed anything.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn quiet(slot: *mut ThreadSlot) -> u64 {
    // SAFETY: as the caller says.
    unsafe { (*slot).steps - (*slot).effect }
}

/// The thread has the turn, after others had it, or still.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn turned(slot: *mut ThreadSlot, kept: bool) {
    // SAFETY: as the caller says.
    unsafe {
        arena::outcome().switches.fetch_add(u64::from(!kept), Ordering::Relaxed);
        if arena::make_room(slot) {
            let next = (*slot).steps as usize;
            (*slot).lane.sync(Kind::Turn, 0, next, number::next(slot), &[]);
        }
    }
}

/// Whether the thread with this number has not ended.
pub fn is_alive(number: u32) -> bool {
    lock().is_alive(number)
}

/// Whether a thread of this process lives that the scheduler does not control.
pub fn is_foreign(tid: u32) -> bool {
    let ours = lock().living().any(|it| seat::of(it).tid() == tid);
    !ours && sys::is_thread(tid)
}
