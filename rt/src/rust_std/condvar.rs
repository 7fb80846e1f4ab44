//! `std::sync::Condvar`: a counter of notifications, on which threads sleep.

use core::sync::atomic::{AtomicU32, Ordering};

use norn_abi::{Kind, arena::ThreadSlot, rust_std::Role};

use super::{
    futex::{self, Request},
    mutex::{arrive, give, take},
    park::is_inside,
    redirect::{entries, original},
};
use crate::{
    control::{self, NEVER},
    event,
    intercept::cond::{
        begin, end, notify_all as notify_all_waiting, notify_one as notify_one_waiting,
    },
    thread,
};

/// The result of a wait that timed out.
const TIMED_OUT: i32 = 110;

/// Waits, with the mutex released. Returns whether the wait ended before the time, in nanoseconds.
///
/// # Safety
/// The condition variable and the mutex live, and the thread holds the mutex.
unsafe fn wait_for(cond: &AtomicU32, mutex: &AtomicU32, time: Option<u64>, pc: usize) -> bool {
    let kind = if time.is_some() { Kind::TimedWait } else { Kind::Wait };
    let object = cond.as_ptr() as usize;
    let request = Request::new(mutex.as_ptr() as usize, pc);
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let late = match request.slot() {
            Some(slot) if control::is_on() => {
                return !wait_in_scheduler(slot, (kind, object), mutex, (time, &request));
            }
            Some(slot) => {
                begin(slot, kind, object, request.object, pc);
                event::disarm(slot);
                let late = sleep(cond, mutex, time, &request);
                end(slot, object, request.object, pc, if late { TIMED_OUT } else { 0 });
                late
            }
            None => sleep(cond, mutex, time, &request),
        };
        !late
    }
}

/// Waits in the kernel. Returns whether the time passed.
///
/// # Safety
/// As for [`wait_for`].
unsafe fn sleep(cond: &AtomicU32, mutex: &AtomicU32, time: Option<u64>, request: &Request) -> bool {
    let notified = cond.load(Ordering::Relaxed);
    give(mutex, request);
    let late = futex::sleep(cond, notified, time);
    // SAFETY: guaranteed by the caller.
    unsafe { take(mutex, request) };
    late
}

/// Waits in a controlled run: only the scheduler knows the threads that wait. Returns whether the time
/// passed.
///
/// # Safety
/// As for [`wait_for`]; the slot is the current thread's.
unsafe fn wait_in_scheduler(
    slot: *mut ThreadSlot,
    (kind, object): (Kind, usize),
    mutex: &AtomicU32,
    (time, request): (Option<u64>, &Request),
) -> bool {
    let pc = request.pc;
    let deadline = time.map_or(NEVER, |it| control::time::now().saturating_add(it));
    // SAFETY: guaranteed by the caller.
    unsafe {
        arrive(slot, Kind::WaitRelease, request.object, pc);
        event::note(slot, Kind::WaitRelease, pc, request.object, &[]);
        event::note(slot, kind, pc, object, &[request.object as u64]);
        let late = control::block_after(slot, (Kind::Wait, object, pc), deadline, || {
            give(mutex, request);
        });
        control::before(slot, Kind::WaitAcquire, pc, request.object);
        take(mutex, request);
        let result = if late { TIMED_OUT as u64 } else { 0 };
        event::note(slot, Kind::WaitAcquire, pc, request.object, &[object as u64, result]);
        late
    }
}

/// # Safety
/// As for `Condvar::wait` of `std`.
unsafe extern "C" fn do_wait(cond: &AtomicU32, mutex: &AtomicU32, pc: usize) {
    type Wait = unsafe extern "C" fn(&AtomicU32, &AtomicU32);
    // SAFETY: guaranteed by the caller. The original is the function that was called.
    unsafe {
        if is_inside() {
            return core::mem::transmute::<usize, Wait>(original(Role::CondvarWait))(cond, mutex);
        }
        wait_for(cond, mutex, None, pc);
    }
}

/// The duration consists of seconds and nanoseconds.
///
/// # Safety
/// As for `Condvar::wait_timeout` of `std`.
unsafe extern "C" fn do_wait_timeout(
    cond: &AtomicU32,
    mutex: &AtomicU32,
    seconds: u64,
    nanoseconds: u32,
    pc: usize,
) -> bool {
    let time = seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(nanoseconds));
    // SAFETY: guaranteed by the caller.
    unsafe { wait_for(cond, mutex, Some(time), pc) }
}

/// # Safety
/// The condition variable lives, and `role` is that of the function that was called.
unsafe fn notify(
    (cond, role): (&AtomicU32, Role),
    (kind, pc): (Kind, usize),
    in_scheduler: fn(usize),
    most: u32,
) {
    type Notify = unsafe extern "C" fn(&AtomicU32);
    if is_inside() {
        // SAFETY: guaranteed by the caller. The original is the function that was called.
        return unsafe { core::mem::transmute::<usize, Notify>(original(role))(cond) };
    }
    let object = cond.as_ptr() as usize;
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe {
            arrive(slot, kind, object, pc);
            event::note(slot, kind, pc, object, &[]);
        }
    }
    cond.fetch_add(1, Ordering::Relaxed);
    in_scheduler(object);
    futex::wake(cond, most);
}

/// # Safety
/// As for `Condvar::notify_one` of `std`.
unsafe extern "C" fn do_notify_one(cond: &AtomicU32, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { notify((cond, Role::CondvarNotifyOne), (Kind::Signal, pc), notify_one_waiting, 1) };
}

/// # Safety
/// As for `Condvar::notify_all` of `std`.
unsafe extern "C" fn do_notify_all(cond: &AtomicU32, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        notify((cond, Role::CondvarNotifyAll), (Kind::Broadcast, pc), notify_all_waiting, u32::MAX);
    }
}

entries! {
    wait(2) => do_wait;
    wait_timeout(4) => do_wait_timeout;
    notify_one(1) => do_notify_one;
    notify_all(1) => do_notify_all;
}
