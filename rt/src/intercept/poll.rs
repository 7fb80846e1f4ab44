//! Calls that wait for one of several files. In a controlled run they poll without blocking, and
//! wait in between like the calls in [`super::io`].

use core::ffi::c_int;

use norn_abi::{Kind, arena::ThreadSlot, input::call};

use super::{
    interpose, interpose_six,
    io::{Awaited, call_time, controlled, until},
};
use crate::{
    channel,
    control::{self, NEVER},
    input::{Call, Memory, ready},
    real, thread,
};

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// The deadline of a call that began at `since`, with a timeout in milliseconds.
fn after(since: u64, milliseconds: c_int) -> u64 {
    match u64::try_from(milliseconds) {
        Ok(time) => since.saturating_add(time * MILLISECOND),
        Err(_) => NEVER,
    }
}

/// Whether a timeout is given and is zero: then a call does not wait.
///
/// # Safety
/// `time` is null or points to a `timespec` or `timeval`.
unsafe fn is_zero(time: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    time != 0 && unsafe { *(time as *const [u64; 2]) } == [0, 0]
}

/// The deadline of a call that began at `since`, with a relative `timespec` or `timeval`; `unit` is the
/// unit of its second word, in nanoseconds.
///
/// # Safety
/// `time` is null or points to a `timespec` or `timeval`.
unsafe fn after_time(since: u64, time: usize, unit: u64) -> u64 {
    if time == 0 {
        return NEVER;
    }
    // SAFETY: guaranteed by the caller.
    let [seconds, rest] = unsafe { *(time as *const [u64; 2]) };
    let length = seconds.saturating_mul(1_000_000_000).saturating_add(rest.saturating_mul(unit));
    since.saturating_add(length)
}

/// What a call waits for that waits for one of several files.
fn of_files(files: impl Iterator<Item = c_int>) -> Awaited {
    let mut files = files.peekable();
    match () {
        () if files.peek().is_none() => Awaited::Time,
        () if files.all(channel::internal::is_internal) => Awaited::File(Kind::Ready, 0),
        () => Awaited::Outside,
    }
}

/// What `poll` waits for. Negative descriptors are ignored, as the kernel does. A call without files is no
/// event.
///
/// # Safety
/// `files` points to `count` values of `struct pollfd`.
unsafe fn polled(files: usize, count: usize) -> Awaited {
    // SAFETY: guaranteed by the caller.
    let files = unsafe { channel::ready::files(files, count) };
    let awaited = of_files(files.filter(|it| *it >= 0));
    match awaited {
        Awaited::Time if count > 0 => Awaited::File(Kind::Ready, 0),
        awaited => awaited,
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C-unwind" fn poll(
    files: usize,
    count: usize,
    time: c_int,
    pc: usize,
) -> c_int {
    let call = Call::new(call::POLL, -1, count, pc);
    let deadline = after(call_time(), time);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = || wait_poll(files, count, (time, deadline), pc) as isize;
        polling(files, count, pc, || {
            call.make(|| ready::any_polled(files, count), ready::polled(files, count), real)
                as c_int
        })
    }
}

/// Makes a call that polls files, and records which it found ready. A call without files only sleeps.
///
/// # Safety
/// `files` points to `count` values of `struct pollfd`.
unsafe fn polling(files: usize, count: usize, pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    if count == 0 {
        return call();
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let used = channel::ready::files(files, count);
        channel::usage::during_all(used, pc, || {
            channel::ready::wait(pc, call, |_, each| channel::ready::polled(files, count, each))
        })
    }
}

/// # Safety
/// As for `poll`.
unsafe fn wait_poll(
    files: usize,
    count: usize,
    (time, deadline): (c_int, u64),
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| time != 0) else {
            return real::poll()(files, count, time);
        };
        let mut result = 0;
        let awaited = || polled(files, count);
        let called = until(slot, pc, (deadline, true), awaited, || {
            result = real::poll()(files, count, 0);
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
pub(super) unsafe extern "C-unwind" fn ppoll(
    files: usize,
    count: usize,
    time: usize,
    mask: usize,
    pc: usize,
) -> c_int {
    let call = Call::new(call::POLL, -1, count, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let deadline = after_time(call_time(), time, 1);
        let real = || wait_ppoll(files, count, (time, deadline), mask, pc) as isize;
        polling(files, count, pc, || {
            call.make(|| ready::any_polled(files, count), ready::polled(files, count), real)
                as c_int
        })
    }
}

/// # Safety
/// As for `ppoll`.
unsafe fn wait_ppoll(
    files: usize,
    count: usize,
    (time, deadline): (usize, u64),
    mask: usize,
    pc: usize,
) -> c_int {
    let now = [0u64; 2];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| !is_zero(time)) else {
            return real::ppoll()(files, count, time, mask);
        };
        let mut result = 0;
        let awaited = || polled(files, count);
        let called = until(slot, pc, (deadline, true), awaited, || {
            result = real::ppoll()(files, count, &raw const now as usize, mask);
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// `fd_set`, a set of files as `select` takes it.
type Files = [u64; 16];
/// Number of files in a set.
const MOST_FILES: c_int = 1024;

/// Copies a set, word by word with volatile stores; otherwise the compiler would call `memcpy`,
/// which the runtime intercepts.
///
/// # Safety
/// Each address is null or that of an `fd_set`.
unsafe fn copy(from: usize, to: usize) {
    for i in 0..if from == 0 || to == 0 { 0 } else { 16 } {
        // SAFETY: both addresses are those of sets.
        unsafe { (to as *mut u64).add(i).write_volatile(*(from as *const u64).add(i)) };
    }
}

/// Polls until one of the sets contains a file that is ready. Each attempt overwrites the sets, so
/// they are copied first.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and each of the sets is null or points
/// to an `fd_set`.
unsafe fn any_of(
    slot: *mut ThreadSlot,
    pc: usize,
    deadline: u64,
    (most, given): (c_int, [usize; 3]),
    attempt: impl Fn() -> c_int,
) -> c_int {
    let kept = [const { core::mem::MaybeUninit::<Files>::uninit() }; 3];
    let pairs = || given.iter().zip(&kept).map(|(set, kept)| (*set, kept.as_ptr() as usize));
    // SAFETY: the sets are guaranteed by the caller.
    unsafe {
        pairs().for_each(|(set, kept)| copy(set, kept));
        let mut result = 0;
        // Each attempt empties the given sets.
        let wanted = || {
            let mut sets = pairs().map(|(set, kept)| if set == 0 { 0 } else { kept });
            [(); 3].map(|()| sets.next().unwrap_or(0))
        };
        let awaited = || of_files(channel::ready::members(most.min(MOST_FILES), wanted()));
        let called = until(slot, pc, (deadline, true), awaited, || {
            pairs().for_each(|(set, kept)| copy(kept, set));
            result = attempt();
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn select(
    most: c_int,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    pc: usize,
) -> c_int {
    let sets = [read, write, except];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let deadline = after_time(call_time(), time, 1000);
        selecting(most, sets, pc, || wait_select(most, sets, (time, deadline), pc))
    }
}

/// Makes a call that waits for sets of files, or replays it.
///
/// # Safety
/// Each of the sets is null or points to an `fd_set`.
unsafe fn selecting(
    most: c_int,
    sets: [usize; 3],
    pc: usize,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let call = Call::new(call::SELECT, -1, most as usize, pc);
    // SAFETY: the sets are guaranteed by the caller.
    unsafe {
        let real = || real() as isize;
        let made = || {
            call.make(|| ready::any_selected(most, sets), ready::selected(most, sets), real)
                as c_int
        };
        if most == 0 {
            return made();
        }
        let used = channel::ready::members(most, sets);
        channel::usage::during_all(used, pc, || {
            channel::ready::wait(pc, made, |_, each| channel::ready::selected(most, sets[0], each))
        })
    }
}

/// # Safety
/// As for `select`.
unsafe fn wait_select(
    most: c_int,
    sets: [usize; 3],
    (time, deadline): (usize, u64),
    pc: usize,
) -> c_int {
    let [read, write, except] = sets;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| !is_zero(time)) else {
            return real::select()(most, read, write, except, time);
        };
        let attempt = || {
            let mut now = [0u64; 2];
            real::select()(most, read, write, except, &raw mut now as usize)
        };
        let result = any_of(slot, pc, deadline, (most, sets), attempt);
        if time != 0 {
            // The kernel subtracts the time that the call took.
            let left = deadline.saturating_sub(call_time());
            *(time as *mut [u64; 2]) = [left / SECOND, left % SECOND / 1000];
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn pselect(
    most: c_int,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    mask: usize,
    pc: usize,
) -> c_int {
    let sets = [read, write, except];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let deadline = after_time(call_time(), time, 1);
        selecting(most, sets, pc, || wait_pselect(most, sets, (time, deadline), mask, pc))
    }
}

/// # Safety
/// As for `pselect`.
unsafe fn wait_pselect(
    most: c_int,
    sets: [usize; 3],
    (time, deadline): (usize, u64),
    mask: usize,
    pc: usize,
) -> c_int {
    let [read, write, except] = sets;
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| !is_zero(time)) else {
            return real::pselect()(most, read, write, except, time, mask);
        };
        let now = [0u64; 2];
        let attempt = || real::pselect()(most, read, write, except, &raw const now as usize, mask);
        any_of(slot, pc, deadline, (most, sets), attempt)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn epoll_wait(
    file: c_int,
    events: usize,
    most: c_int,
    time: c_int,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { epoll_pwait(file, events, most, time, 0, pc) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn epoll_pwait(
    file: c_int,
    events: usize,
    most: c_int,
    time: c_int,
    mask: usize,
    pc: usize,
) -> c_int {
    const SIZE: isize = 12;
    let call = Call::new(call::EPOLL_WAIT, file, most as usize, pc);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let deadline = after(call_time(), time);
        let real = || wait_epoll(file, (events, most), (time, deadline), mask, pc) as isize;
        let made = || call.make(|| true, |it| Memory::buffer(events, it * SIZE), real) as c_int;
        channel::usage::during_all([file].into_iter(), pc, || {
            channel::ready::wait(pc, made, |count, each| {
                channel::ready::watched(file, events, count, each);
            })
        })
    }
}

/// # Safety
/// As for `epoll_pwait`.
unsafe fn wait_epoll(
    file: c_int,
    (events, most): (usize, c_int),
    (time, deadline): (c_int, u64),
    mask: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = controlled().filter(|_| time != 0) else {
            return real::epoll_pwait()(file, events, most, time, mask);
        };
        let mut result = 0;
        let awaited = || of_files(Some(file).into_iter());
        let called = until(slot, pc, (deadline, true), awaited, || {
            result = real::epoll_pwait()(file, events, most, 0, mask);
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn epoll_ctl(
    epoll: c_int,
    operation: c_int,
    file: c_int,
    event: usize,
    pc: usize,
) -> c_int {
    const REMOVE: c_int = 2;
    // SAFETY: guaranteed by the caller.
    unsafe {
        channel::usage::touch(epoll, pc);
        channel::usage::touch(file, pc);
        // Before the call: another thread may wait already, and be told of the file at once.
        if thread::recorded().is_some() {
            channel::ready::watch(epoll, operation == REMOVE, file, event);
        }
        let result = real::epoll_ctl()(epoll, operation, file, event);
        control::look_again();
        result
    }
}

interpose! {
    epoll_ctl(4) => epoll_ctl;
    poll(3) => poll;
    ppoll(4) => ppoll;
    select(5) => select;
    epoll_wait(4) => epoll_wait;
    epoll_pwait(5) => epoll_pwait;
}

interpose_six! {
    pselect => pselect;
}
