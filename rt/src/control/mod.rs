//! Decides which thread goes next. While a plan is in force, one thread at a time has the turn
//! ([`turn`]) and runs; at its events a strategy says who goes on ([`strategy`], [`follow`]).
//! Operations that would block are made to try, and to wait here if they must, so that it is
//! always known who can go on. Time is ours, too ([`time`]).
//!
//! The objects themselves stay the program's: a mutex is locked by the real `trylock`. Only what
//! cannot be tried is done here: condition variables, barriers, sleeping.

mod exit;
pub mod feed;
pub mod follow;
pub mod grave;
pub mod heap;
mod interrupt;
mod spin;
mod strategy;
mod task;
pub mod time;
mod turn;
pub mod verdict;
mod wake;
mod watch;

use core::sync::atomic::{AtomicBool, Ordering};

pub use interrupt::{
    cancel, handler_begins, handler_ends, take_cancelled, take_interrupted, test_cancel,
};
use norn_abi::{Kind, arena::ThreadSlot, control::strategy as name};
pub use spin::is_fruitless;
pub use strategy::{STEP, mix};
pub use task::{Interrupted, NEVER, Task};
use wake::release_all;
pub use wake::{look_again, release, release_one};

use crate::{arena, event, input, number, sys, tls};

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
pub unsafe fn start(slot: *mut ThreadSlot) {
    if arena::plan().strategy == name::NONE {
        return;
    }
    // SAFETY: nothing else runs yet.
    unsafe {
        verdict::forget();
        // A debugger may start the program again and again.
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

/// The first thread of a process has the turn. Unless the process is due to follow the schedule,
/// if there is one, its threads go on in turn.
unsafe fn begin(slot: *mut ThreadSlot, due: bool) {
    // SAFETY: nothing else runs.
    unsafe {
        strategy::start();
        let follows = arena::plan().strategy == name::FOLLOW;
        if follows && due {
            follow::start();
        } else if follows {
            strategy::be_fair();
        }
        let Some(task) = task::adopt(slot) else { return };
        task.entry = 0;
        strategy::meet(task);
        turn::restart(task);
    }
}

/// In a forked child, whose only thread has a new slot.
pub unsafe fn after_fork(slot: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: nothing else runs.
    unsafe {
        for task in task::all() {
            task.alive = false;
        }
        heap::after_fork();
        begin(slot, is_due());
    }
}

/// A thread is about to be created; it may be chosen from now on.
pub unsafe fn adopt(slot: *mut ThreadSlot, parent: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: the new slot is nobody's yet.
    unsafe {
        (*slot).steps = 0;
        (*slot).effect = 0;
        (*slot).stop_at.store(if is_free() { u64::MAX } else { 0 }, Ordering::Relaxed);
        turn::locked(|| {
            let parent = if parent.is_null() { task::UNNAMED } else { task::of(parent).entry };
            let Some(task) = task::adopt(slot) else { return };
            if parent != task::UNNAMED {
                task.entry = follow::entry(parent, (*slot).head.child);
            }
            strategy::meet(task);
        });
    }
}

/// A thread could not be created.
pub unsafe fn disown(slot: *mut ThreadSlot) {
    if was_on() {
        // SAFETY: the slot is nobody's.
        unsafe { turn::locked(|| task::of(slot).alive = false) };
    }
}

/// A thread that was met in a hook waits for its turn like all others.
pub unsafe fn meet(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe { adopt(slot, core::ptr::null_mut()) };
}

/// A new thread waits until it is chosen, before it does anything at all.
pub unsafe fn first_turn(slot: *mut ThreadSlot) {
    if is_on() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            (*slot).head.tid = sys::thread_id();
            turn::arrive(slot);
        }
    }
}

/// The thread has ended.
pub unsafe fn ends(slot: *mut ThreadSlot) {
    if !was_on() {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let number = (*slot).head.thread as usize;
        turn::leave(slot, |task| {
            task.alive = false;
            exit::begin((*slot).head.tid);
            follow::ends(task.entry);
            release_all(Kind::Join, number);
        });
    }
}

/// Comes before every event: the turn may pass here.
#[inline(always)]
pub unsafe fn before(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if (*slot).steps >= (*slot).stop_at.load(Ordering::Relaxed) {
            ask(slot, kind, pc, object);
        }
    }
}

/// Asks the scheduler. What the thread did so far is noted before anyone else moves.
#[cold]
pub unsafe fn ask(slot: *mut ThreadSlot, kind: Kind, pc: usize, object: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !is_on() {
            return (*slot).stop_at.store(u64::MAX, Ordering::Relaxed);
        }
        (*slot).lane.settle_any();
        let task = task::of(slot);
        // A handler does not change what the thread waits for.
        if !task.waiting {
            (task.kind, task.pc, task.object) = (kind, pc, object);
        }
        if !turn::has(task) {
            return turn::come_back(slot);
        }
        let followed = arena::plan().strategy == name::FOLLOW;
        if !is_librarys(kind) || followed {
            spin::look(slot, task);
            if task.steps() < task.until && !task.spin.is_idle() {
                return task.go_on();
            }
            turn::locked(|| strategy::comes_to_event(task));
            turn::yield_turn(slot);
        }
    }
}

/// Events that may come from the middle of a library that holds a lock we do not see, or that
/// matter to nobody else: no strategy switches there.
fn is_librarys(kind: Kind) -> bool {
    use Kind as K;
    matches!(kind, K::Alloc | K::Free | K::Map | K::Unmap | K::Init | K::Destroy)
}

/// The thread has the turn, after others had it, or still.
unsafe fn turned(slot: *mut ThreadSlot, kept: bool) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        arena::outcome().switches.fetch_add(u64::from(!kept), Ordering::Relaxed);
        if arena::make_room(slot) {
            let next = (*slot).steps as usize;
            (*slot).lane.sync(Kind::Turn, 0, next, number::next(slot), &[]);
        }
    }
}

/// Waits until `object` is released, the deadline comes, or a cancellation does. True if it was
/// the deadline.
pub unsafe fn block(
    slot: *mut ThreadSlot,
    kind: Kind,
    object: usize,
    pc: usize,
    deadline: u64,
) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        enter(slot, kind, object, pc);
        turn::wait_for(slot, |task| wait(task, kind, object, pc, deadline));
        leave(slot)
    }
}

/// Waits for something outside of the program, which the caller then tries again.
pub unsafe fn block_outside(slot: *mut ThreadSlot, pc: usize, deadline: u64) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let kind = Kind::Sleep;
        enter(slot, kind, 0, pc);
        turn::wait_for(slot, |task| {
            wait(task, kind, 0, pc, deadline);
            task.outside = true;
        });
        leave(slot)
    }
}

unsafe fn enter(slot: *mut ThreadSlot, kind: Kind, object: usize, pc: usize) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*slot).lane.settle_any();
        event::block(slot, kind, object, pc);
    }
}

fn wait(task: &mut Task, kind: Kind, object: usize, pc: usize, deadline: u64) {
    (task.waiting, task.deadline, task.timed_out) = (true, deadline, false);
    task.interrupted = Interrupted::No;
    if is_free() {
        task.turn.store(0, Ordering::Relaxed);
    }
    (task.kind, task.object, task.pc) = (kind, object, pc);
    task.ticket = turn::ticket();
}

unsafe fn leave(slot: *mut ThreadSlot) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::unblock(slot);
        core::mem::take(&mut task::of(slot).timed_out)
    }
}

/// Begins to wait, gives up what `give_up` gives up, and waits: nothing can come in between.
pub unsafe fn block_after(
    slot: *mut ThreadSlot,
    (kind, object, pc): (Kind, usize, usize),
    deadline: u64,
    give_up: impl FnOnce(),
) -> bool {
    // SAFETY: the slot is the current thread's.
    unsafe {
        enter(slot, kind, object, pc);
        turn::locked(|| wait(task::of(slot), kind, object, pc, deadline));
        give_up();
        turn::wait_for(slot, |_| {});
        leave(slot)
    }
}

/// Waits until `all` wait to do `kind` on `object`; true for the last, who need not wait.
pub unsafe fn meet_others(
    slot: *mut ThreadSlot,
    (kind, object, pc): (Kind, usize, usize),
    all: usize,
) -> bool {
    let waits = |it: &&Task| it.alive && it.waiting && it.kind == kind && it.object == object;
    // SAFETY: the slot is the current thread's.
    unsafe {
        enter(slot, kind, object, pc);
        let last = turn::locked(|| {
            let last = task::all().iter().filter(waits).count() + 1 >= all;
            match last {
                true => release_all(kind, object),
                false => wait(task::of(slot), kind, object, pc, NEVER),
            }
            last
        });
        if !last {
            turn::wait_for(slot, |_| {});
        }
        leave(slot);
        last
    }
}

/// Whether the thread with this number has not ended.
pub fn is_alive(number: u32) -> bool {
    // SAFETY: under the lock.
    turn::locked(|| unsafe { task::all().iter().any(|it| it.alive && it.number() == number) })
}

/// Whether a thread of this process lives that we do not control.
pub fn is_foreign(tid: u32) -> bool {
    // SAFETY: under the lock; slots live as long as the arena.
    let ours = turn::locked(|| unsafe {
        task::all().iter().any(|it| it.alive && (*it.slot).head.tid == tid)
    });
    !ours && sys::is_thread(tid)
}

/// The thread asks that others go first. Whether that was seen to: not if nobody controls it.
pub unsafe fn yields(slot: *mut ThreadSlot, pc: usize) -> bool {
    let controlled = is_on();
    if controlled {
        // SAFETY: the slot is the current thread's. Each time it gets a new turn, so that it may
        // never come to ask: so whether it should be watched is looked at here, too.
        unsafe {
            let task = task::of(slot);
            if !task.waiting && !task.spin.is_watched() {
                (task.kind, task.pc, task.object) = (Kind::Yield, pc, 0);
                spin::look(slot, task);
            }
            turn::wait_for(slot, |task| {
                task.spin.yields();
                task.between = true;
            });
            task.between = false;
        }
    }
    controlled
}

/// Runs `f`, which may block in a way that we cannot foresee, without the turn.
pub unsafe fn outside<T>(f: impl FnOnce() -> T) -> T {
    let slot = tls::current();
    if !is_on() || tls::is_stand(slot) {
        return f();
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        (*slot).lane.settle_any();
        // Should it not come back from `f`, but be cancelled there, its next event asks.
        turn::leave(slot, |task| task.away = true);
        verdict::away();
        (*slot).stop_at.store(0, Ordering::Relaxed);
        let result = f();
        turn::come_back(slot);
        result
    }
}
