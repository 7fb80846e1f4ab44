//! Locks, semaphores and message queues of the kernel: `flock`, the locks of open files (`fcntl`), semaphores and
//! messages of System V, POSIX message queues.
//!
//! They order threads, so that what one thread did before it released is not in a race with what another one
//! does after it acquired. That order is recorded like that of ThreadSanitizer's annotations: a release happens
//! before each later acquire of the same object. We chose this over locks that prediction may exchange, because the
//! kernel's rules differ for each of them (conversion, several semaphores in one call, types of messages): a bug
//! may be missed, and no race is invented. The calls may block, so they are made without the turn.

use core::{
    ffi::{c_int, c_uint},
    sync::atomic::{AtomicU64, Ordering},
};

use norn_abi::Kind;

use super::interpose;
use crate::{
    channel::identity::{Tag, key},
    control, event,
    input::descriptor,
    real, thread,
};

/// `LOCK_UN`.
const UNLOCK: c_int = 8;
/// `F_OFD_SETLK` and `F_OFD_SETLKW`, and `F_UNLCK` in `l_type`. The other locks of `fcntl` belong to the process.
const SET_LOCK: c_int = 37;
const SET_LOCK_WAITING: c_int = 38;
const UNLOCKED: i16 = 2;

/// The descriptors below 1024 on which the program took a lock: to close one of these releases it.
static LOCKED: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

fn word(file: c_int) -> Option<(&'static AtomicU64, u64)> {
    let file = usize::try_from(file).ok()?;
    LOCKED.get(file / 64).map(|it| (it, 1 << (file % 64)))
}

/// The object that a lock on a file, or a message queue, is.
fn of_file(file: c_int) -> Option<u64> {
    descriptor::look(file).map(|it| key(Tag::FileLock, it.device, it.inode))
}

#[expect(clippy::cast_sign_loss, reason = "any number identifies the object")]
fn of_id(tag: Tag, id: c_int) -> Option<u64> {
    Some(key(tag, id as u64, 0))
}

/// # Safety
/// The current thread is not in the middle of recording another event.
unsafe fn record(kind: Kind, object: Option<u64>, pc: usize) {
    if let (Some(slot), Some(object)) = (thread::recorded(), object) {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, kind, pc, object as usize, &[]) };
    }
}

/// Makes a call that may release, before it, and may have acquired, after it.
///
/// # Safety
/// `f` makes a call of libc that the program makes here.
unsafe fn ordered<T>(
    object: Option<u64>,
    (releases, acquires): (bool, bool),
    pc: usize,
    f: impl FnOnce() -> T,
) -> T {
    // SAFETY: guaranteed by the caller. The call may block, and the runtime cannot foresee it.
    unsafe {
        if releases {
            record(Kind::HappensBefore, object, pc);
        }
        let result = control::outside(f);
        if acquires {
            record(Kind::HappensAfter, object, pc);
        }
        result
    }
}

/// Notes whether the program has a lock on a descriptor.
fn note(file: c_int, locked: bool) {
    if let Some((word, bit)) = word(file) {
        if locked {
            word.fetch_or(bit, Ordering::Relaxed);
        } else {
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }
}

/// A descriptor is closed, and a lock on it released.
///
/// # Safety
/// The current thread is not in the middle of recording another event.
pub unsafe fn close(file: c_int, pc: usize) {
    if word(file).is_some_and(|(word, bit)| word.fetch_and(!bit, Ordering::Relaxed) & bit != 0) {
        // SAFETY: guaranteed by the caller.
        unsafe { record(Kind::HappensBefore, of_file(file), pc) };
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn flock(file: c_int, operation: c_int, pc: usize) -> c_int {
    let unlocks = operation & UNLOCK != 0;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let call = || real::flock()(file, operation);
        let result = ordered(of_file(file), (unlocks, !unlocks), pc, call);
        if result == 0 {
            note(file, !unlocks);
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called, which is `real`.
unsafe fn control_file(
    (file, command, argument): (c_int, c_int, usize),
    pc: usize,
    real: unsafe extern "C-unwind" fn(c_int, c_int, usize) -> c_int,
) -> c_int {
    // SAFETY: guaranteed by the caller: with these commands, the argument points to a `struct flock`, which
    // begins with its type.
    unsafe {
        if !matches!(command, SET_LOCK | SET_LOCK_WAITING) || argument == 0 {
            return real(file, command, argument);
        }
        let unlocks = (argument as *const i16).read() == UNLOCKED;
        let call = || real(file, command, argument);
        let result = ordered(of_file(file), (unlocks, !unlocks), pc, call);
        if result == 0 && !unlocks {
            // Other parts of the file may stay locked after an unlock.
            note(file, true);
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fcntl(
    file: c_int,
    command: c_int,
    argument: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller. An argument that is not passed is not used either.
    unsafe { control_file((file, command, argument), pc, real::fcntl()) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fcntl64(
    file: c_int,
    command: c_int,
    argument: usize,
    pc: usize,
) -> c_int {
    // SAFETY: see `fcntl`.
    unsafe { control_file((file, command, argument), pc, real::fcntl64()) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn semop(id: c_int, list: usize, count: usize, pc: usize) -> c_int {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::semop()(id, list, count) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_id(Tag::Semaphores, id), (true, true), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn semtimedop(
    id: c_int,
    list: usize,
    count: usize,
    limit: usize,
    pc: usize,
) -> c_int {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::semtimedop()(id, list, count, limit) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_id(Tag::Semaphores, id), (true, true), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn msgsnd(
    id: c_int,
    from: usize,
    size: usize,
    flags: c_int,
    pc: usize,
) -> c_int {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::msgsnd()(id, from, size, flags) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_id(Tag::Messages, id), (true, false), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn msgrcv(
    id: c_int,
    to: usize,
    size: usize,
    kind: isize,
    flags: c_int,
    pc: usize,
) -> isize {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::msgrcv()(id, to, size, kind, flags) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_id(Tag::Messages, id), (false, true), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mq_send(
    queue: c_int,
    from: usize,
    size: usize,
    priority: c_uint,
    pc: usize,
) -> c_int {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::mq_send()(queue, from, size, priority) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_file(queue), (true, false), pc, call) }
}

/// Makes a call with a time limit, by the kernel's clock. The program has computed the limit by the clock of the run.
///
/// # Safety
/// `limit` is 0 or points to a `timespec`.
unsafe fn until<T>(limit: usize, call: impl FnOnce(usize) -> T) -> T {
    const REALTIME: c_int = 0;
    const SECOND: u64 = 1_000_000_000;
    if limit == 0 || !control::is_on() {
        return call(limit);
    }
    let mut now = [0_u64; 2];
    // SAFETY: the first is guaranteed by the caller; a `timespec` has two words.
    let limit = unsafe {
        real::clock_gettime()(REALTIME, &raw mut now as usize);
        *(limit as *const [u64; 2])
    };
    let nanoseconds = |it: [u64; 2]| it[0].saturating_mul(SECOND).saturating_add(it[1]);
    let left = nanoseconds(limit).saturating_sub(control::time::read(REALTIME));
    let then = nanoseconds(now).saturating_add(left);
    let limit = [then / SECOND, then % SECOND];
    call(&raw const limit as usize)
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mq_timedsend(
    queue: c_int,
    from: usize,
    size: usize,
    priority: c_uint,
    limit: usize,
    pc: usize,
) -> c_int {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { until(limit, |limit| real::mq_timedsend()(queue, from, size, priority, limit)) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_file(queue), (true, false), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mq_receive(
    queue: c_int,
    to: usize,
    size: usize,
    priority: usize,
    pc: usize,
) -> isize {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { real::mq_receive()(queue, to, size, priority) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_file(queue), (false, true), pc, call) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn mq_timedreceive(
    queue: c_int,
    to: usize,
    size: usize,
    priority: usize,
    limit: usize,
    pc: usize,
) -> isize {
    let call = || {
        // SAFETY: guaranteed by the caller.
        unsafe { until(limit, |limit| real::mq_timedreceive()(queue, to, size, priority, limit)) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { ordered(of_file(queue), (false, true), pc, call) }
}

interpose! {
    flock(2) => flock;
    fcntl(3) => fcntl;
    fcntl64(3) => fcntl64;
    semop(3) => semop;
    semtimedop(4) => semtimedop;
    msgsnd(4) => msgsnd;
    msgrcv(5) => msgrcv;
    mq_send(4) => mq_send;
    mq_timedsend(5) => mq_timedsend;
    mq_receive(4) => mq_receive;
    mq_timedreceive(5) => mq_timedreceive;
}
