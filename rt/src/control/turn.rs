//! The turn: one thread has it and runs, the others sleep. It passes when the running thread
//! comes to its next event, so whatever it did before is done.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use norn_abi::arena::ThreadSlot;

use super::{
    exit, strategy,
    task::{self, NEVER, Task},
    time, verdict, watch,
};
use crate::{arena, intercept::signal, sys, thread, tls};

/// Who has the turn; null while nobody can go on.
static HOLDER: AtomicPtr<Task> = AtomicPtr::new(core::ptr::null_mut());
static LOCK: AtomicBool = AtomicBool::new(false);
/// Events of all threads before the current turn.
static STEPS: AtomicU64 = AtomicU64::new(0);
static PROCESSORS: AtomicU32 = AtomicU32::new(0);
static TICKETS: AtomicU64 = AtomicU64::new(1);
/// When nobody could go on, in real time.
static IDLE_SINCE: AtomicU64 = AtomicU64::new(0);
/// How many events there were then.
static IDLE_AT: AtomicU64 = AtomicU64::new(u64::MAX);
/// How many events there were when somebody last looked outside.
static LOOKED_OUTSIDE: AtomicU64 = AtomicU64::new(0);
/// Since when the program seems stuck, in real time; 0 if it does not.
static DOUBTFUL_SINCE: AtomicU64 = AtomicU64::new(0);

/// How long a thread looks for its turn before it sleeps, in ticks of the processor: about as long
/// as it takes to wake one that sleeps. With one processor, looking is in the way of who has it.
const LOOKS: u64 = 150_000;
/// How long a thread that waits for something outside sleeps before it looks again.
const LOOK_AGAIN: u64 = 1_000_000;
/// How long nobody may be able to go on before time is put forward, while somebody waits for
/// something outside.
const PATIENCE: u64 = 5_000_000;
/// How long a thread that is due waits for something outside while others could go on, and how long
/// while others might find that they can. Then it no longer looks, so that the schedule is left.
const IN_VAIN: u64 = 500_000_000;
const MAYBE_IN_VAIN: u64 = 4_000_000_000;
/// How long a thread sleeps before it looks whether the one with the turn sleeps, too.
const WATCH: u64 = 20_000_000;
/// How long a program that seems stuck may be got on by something that we do not see.
const DOUBT: u64 = 2_000_000_000;
/// How long a thread that waits for another sleeps before it looks whether all are stuck.
const LONG: u64 = 250_000_000;
/// After how many events those who wait for something outside look again.
const OUTSIDE: u64 = 10_000;
/// The longest turn: so that a spinning or endless thread is noticed.
const LONGEST: u64 = 4096;

/// Holds the scheduler's lock while `f` runs.
/// Signals wait meanwhile.
pub fn locked<T>(f: impl FnOnce() -> T) -> T {
    let slot = tls::current();
    let hold = |held| {
        if !tls::is_stand(slot) {
            // SAFETY: the slot is the current thread's.
            unsafe { (*thread::own(slot)).in_atomic = held };
        }
    };
    hold(true);
    let mut tries = 0u32;
    while LOCK.swap(true, Ordering::Acquire) {
        tries += 1;
        if tries.is_multiple_of(64) { sys::yield_now() } else { core::hint::spin_loop() }
    }
    let result = f();
    LOCK.store(false, Ordering::Release);
    hold(false);
    if !tls::is_stand(slot) {
        // SAFETY: the slot is the current thread's.
        unsafe { signal::deliver(slot) };
    }
    result
}

/// In a forked child: it has the turn, and nobody else is here.
pub unsafe fn restart(task: &'static mut Task) {
    LOCK.store(false, Ordering::Relaxed);
    exit::forget();
    PROCESSORS.store(sys::processors(), Ordering::Relaxed);
    HOLDER.store(task, Ordering::Relaxed);
    task.turn.store(1, Ordering::Relaxed);
}

/// Whether this task has the turn.
pub fn has(task: &Task) -> bool {
    core::ptr::eq(HOLDER.load(Ordering::Acquire), task)
}

/// The next number in the order of waiting.
pub fn ticket() -> u64 {
    TICKETS.fetch_add(1, Ordering::Relaxed)
}

/// Events of all threads so far, for who has the turn.
pub fn steps() -> u64 {
    let holder = HOLDER.load(Ordering::Acquire);
    let all = STEPS.load(Ordering::Relaxed);
    // SAFETY: tasks are static.
    unsafe { if holder.is_null() { all } else { all + (*holder).steps() - (*holder).since } }
}

/// Gives the turn to `task`, which sleeps or is the caller. Under the lock.
fn grant(task: &mut Task, events: u64) {
    // What it did without the turn, it did nevertheless: an event that it was in the middle of.
    task.since = task.steps();
    STEPS.fetch_add(task.since.saturating_sub(task.counted), Ordering::Relaxed);
    task.until = task.since + events.clamp(1, LONGEST);
    task.looks = false;
    task.go_on();
    DOUBTFUL_SINCE.store(0, Ordering::Relaxed);
    HOLDER.store(task, Ordering::Release);
    task.turn.store(1, Ordering::SeqCst);
    if task.asleep.load(Ordering::SeqCst) {
        sys::futex_wake(task.turn.as_ptr());
    }
}

/// Takes the turn from its holder and counts what was done. Under the lock.
unsafe fn take_back() {
    let holder = HOLDER.swap(core::ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: tasks are static.
    if let Some(task) = unsafe { holder.as_mut() } {
        task.counted = task.steps();
        STEPS.fetch_add(task.counted - task.since, Ordering::Relaxed);
        if task.counted > task.since {
            // SAFETY: under the lock.
            unsafe { strategy::ran(task) };
        }
        task.turn.store(0, Ordering::Relaxed);
    }
    arena::outcome().steps.fetch_max(STEPS.load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Gives the turn to whoever is next. Under the lock; nobody has it.
unsafe fn pass() {
    let limit = arena::plan().max_steps;
    if limit != 0 && STEPS.load(Ordering::Relaxed) >= limit {
        verdict::steps();
    }
    // SAFETY: under the lock.
    unsafe {
        time::release_expired();
        look_outside();
        loop {
            if verdict::is_found() || super::is_free() {
                return;
            }
            if let Some((next, events)) = strategy::choose() {
                return grant(next, events);
            }
            match idle() {
                Idle::Timed if strategy::lists_timeouts() => return be_idle(),
                Idle::Timed => time::put_forward(),
                Idle::Outside => return be_idle(),
                Idle::Over => return,
                Idle::Stuck if may_be_saved() => return be_idle(),
                Idle::Stuck => return verdict::stuck(),
            }
        }
    }
}

/// From time to time those who wait for something outside look again, even if others can run.
unsafe fn look_outside() {
    let now = STEPS.load(Ordering::Relaxed);
    if now - LOOKED_OUTSIDE.load(Ordering::Relaxed) > OUTSIDE {
        LOOKED_OUTSIDE.store(now, Ordering::Relaxed);
        // SAFETY: under the lock.
        unsafe { task::all() }
            .iter_mut()
            .filter(|it| it.alive && it.outside)
            .for_each(Task::release);
    }
}

/// Nobody can go on. Since when, counts from the last event: to look outside in vain is nothing.
fn be_idle() {
    let steps = STEPS.load(Ordering::Relaxed);
    if IDLE_AT.swap(steps, Ordering::Relaxed) != steps {
        IDLE_SINCE.store(sys::now(sys::MONOTONIC), Ordering::Relaxed);
    }
}

enum Idle {
    /// A time must come.
    Timed,
    /// Something must happen outside.
    Outside,
    /// Nobody is left.
    Over,
    /// Nothing will ever happen.
    Stuck,
}

unsafe fn idle() -> Idle {
    // SAFETY: under the lock.
    let tasks = unsafe { task::all() };
    let outside = tasks.iter().any(|it| it.alive && (it.away || it.waiting && it.outside));
    match () {
        () if outside => Idle::Outside,
        () if tasks.iter().any(|it| it.is_timed()) => Idle::Timed,
        () if tasks.iter().any(|it| it.alive) => Idle::Stuck,
        () => Idle::Over,
    }
}

/// Whether something that we do not see could still get a stuck program on: a thread that is not
/// one of ours, or a signal.
pub unsafe fn may_be_saved() -> bool {
    // SAFETY: under the lock.
    let ours = unsafe { task::all() }.iter().filter(|it| it.alive).count();
    let since = DOUBTFUL_SINCE.load(Ordering::Relaxed);
    let now = sys::now(sys::MONOTONIC);
    if !signal::is_handled() && sys::threads() <= ours + exit::count()
        || since != 0 && now - since > DOUBT
    {
        return false;
    }
    if since == 0 {
        DOUBTFUL_SINCE.store(now, Ordering::Relaxed);
    }
    true
}

/// Lets the strategy decide who goes on. Returns when the caller, who has the turn, has it again:
/// at once if it still has.
pub unsafe fn yield_turn(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        let kept = locked(|| {
            take_back();
            pass();
            has(task)
        });
        wait(slot, task, kept);
    }
}

/// Runs `prepare` under the lock, which says how the caller waits; then as [`yield_turn`].
pub unsafe fn wait_for(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Task)) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        let kept = locked(|| {
            prepare(task);
            take_back();
            pass();
            has(task)
        });
        wait(slot, task, kept);
    }
}

/// The caller comes from where it ran without the turn, and waits for it.
pub unsafe fn come_back(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        locked(|| {
            task.away = false;
            if HOLDER.load(Ordering::Relaxed).is_null() {
                pass();
            }
        });
        wait(slot, task, false);
    }
}

/// A new thread waits for its first turn. Its trace has not begun.
pub unsafe fn arrive(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe { sleep(task::of(slot)) };
}

/// The caller goes where it runs without the turn, or ends.
pub unsafe fn leave(slot: *mut ThreadSlot, prepare: impl FnOnce(&mut Task)) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let task = task::of(slot);
        locked(|| {
            prepare(task);
            if has(task) {
                take_back();
                pass();
            } else if HOLDER.load(Ordering::Relaxed).is_null() {
                pass();
            }
        });
    }
}

/// Sleeps until the task has the turn. A thread that did not keep it notes that in its trace; and
/// so does one that kept it while the time of another ran out, so that it is seen when that was.
unsafe fn wait(slot: *mut ThreadSlot, task: &mut Task, kept: bool) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        if !kept {
            sleep(task);
        }
        let expired = time::note_expired(slot);
        if !kept || expired {
            super::turned(slot, kept);
        }
    }
}

unsafe fn sleep(task: &mut Task) {
    let begun = sys::ticks();
    let looks = PROCESSORS.load(Ordering::Relaxed) > 1;
    while task.turn.load(Ordering::Acquire) == 0 && (task.waiting || !super::is_free()) {
        if looks && sys::ticks() - begun < LOOKS {
            core::hint::spin_loop();
            continue;
        }
        task.asleep.store(true, Ordering::SeqCst);
        let late = sys::futex_wait(task.turn.as_ptr(), 0, patience(task));
        task.asleep.store(false, Ordering::SeqCst);
        if late {
            // SAFETY: the lock is held inside.
            locked(|| unsafe { look_around(task) });
        }
    }
    exit::wait();
}

fn patience(task: &Task) -> u64 {
    match () {
        () if task.is_ready() => WATCH,
        () if task.outside => LOOK_AGAIN,
        () if task.deadline != NEVER => PATIENCE,
        () => LONG,
    }
}

/// A thread has slept for a while and looks whether it should do something. Under the lock.
unsafe fn look_around(task: &mut Task) {
    // SAFETY: under the lock.
    unsafe {
        if task.turn.load(Ordering::Relaxed) != 0 {
            return;
        }
        // Who looks is here, whatever others took it for.
        task.away = false;
        if super::is_free() {
            if task.is_timed() {
                time::put_forward_to(task);
            }
            return;
        }
        if !HOLDER.load(Ordering::Relaxed).is_null() {
            return watch();
        }
        let now = sys::now(sys::MONOTONIC);
        let idle = now - IDLE_SINCE.load(Ordering::Relaxed);
        let timed = !strategy::lists_timeouts() && task::all().iter().any(|it| it.is_timed());
        if idle >= before_time() && timed {
            IDLE_SINCE.store(now, Ordering::Relaxed);
            time::put_forward();
        } else if task.outside && !is_in_vain(idle) {
            task.release();
            if is_alone(task) && !verdict::is_found() {
                return grant(task, 1);
            }
        }
        pass();
    }
}

/// Whether nobody else can go on. Then a thread may look outside without any strategy's being asked:
/// how often it looks in vain is a matter of time, and must change nothing. Under the lock.
unsafe fn is_alone(task: &Task) -> bool {
    // SAFETY: under the lock.
    unsafe {
        let others = task::all().iter().any(|it| it.is_ready() && !core::ptr::eq(it, task));
        !others && !strategy::follows()
    }
}

/// How long nobody may be able to go on before time is put forward. A thread in code that we do not
/// see, for which a schedule waits, will mostly be back before that.
unsafe fn before_time() -> u64 {
    // SAFETY: under the lock.
    unsafe {
        let away = task::all().iter().any(|it| it.alive && it.away);
        if away && strategy::follows() { IN_VAIN } else { PATIENCE }
    }
}

/// Whether nothing has happened for long though somebody could go on: a schedule wants another one
/// first, and what that one waits for outside may be what this one would do. Under the lock.
unsafe fn is_in_vain(idle: u64) -> bool {
    let ready = |it: &&Task| it.is_ready() && !it.spin.is_idle();
    // SAFETY: under the lock.
    let mut others = unsafe { task::all() }.iter().filter(ready).map(|it| it.looks);
    match others.next() {
        Some(looks) if looks && others.all(|it| it) => idle >= MAYBE_IN_VAIN,
        Some(_) => idle >= IN_VAIN,
        None => false,
    }
}

/// If the holder is in code that we do not see, the turn goes on without it. Under the lock.
unsafe fn watch() {
    // SAFETY: under the lock; tasks are static.
    unsafe {
        let holder = &mut *HOLDER.load(Ordering::Relaxed);
        if watch::is_away(holder, steps()) {
            verdict::away();
            take_back();
            holder.away = true;
            (*holder.slot).stop_at.store(0, Ordering::Relaxed);
            pass();
        }
    }
}

/// Wakes everybody: from now on nobody waits for a turn.
pub unsafe fn free_all() {
    // SAFETY: under the lock.
    for task in unsafe { task::all() } {
        if task.alive {
            // SAFETY: a word that its thread only reads.
            unsafe { (*task.slot).stop_at.store(u64::MAX, Ordering::Relaxed) };
            if !task.waiting {
                task.turn.store(1, Ordering::SeqCst);
                sys::futex_wake(task.turn.as_ptr());
            }
        }
    }
}
