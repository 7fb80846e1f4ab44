//! System calls that may block. While we decide which thread goes next, a call is made when it
//! will not block; until then the thread waits like at a lock, and looks again when another
//! thread has done something to files, or when nobody else can run.
//!
//! What these calls read and write is not recorded here: the kernel does it. But what comes from
//! outside can be kept and fed back ([`input`]).

use core::{ffi::c_int, sync::atomic::Ordering};

use norn_abi::{arena::ThreadSlot, input::call};

use super::interpose;
use crate::{
    arena,
    control::{self, Interrupted, NEVER},
    input::{self, Call, Memory, Message, name, ready},
    real, sys, thread,
};

pub(super) const IN: i16 = 1;
pub(super) const OUT: i16 = 4;
const MILLISECOND: u64 = 1_000_000;

/// The current thread, if it must not block.
fn controlled() -> Option<*mut ThreadSlot> {
    if control::is_on() { thread::recorded() } else { None }
}

/// Looks until it is ready or the deadline has come. False if a signal came in between: of a
/// kind after which the call is not made again, unless `always`.
unsafe fn until(
    slot: *mut ThreadSlot,
    pc: usize,
    (deadline, always): (u64, bool),
    mut ready: impl FnMut() -> bool,
) -> bool {
    const EINTR: c_int = 4;
    // SAFETY: the slot is the current thread's.
    unsafe {
        while !ready() && control::is_on() {
            if control::block_outside(slot, pc, deadline) {
                ready();
                break;
            }
            control::test_cancel(slot);
            match control::take_interrupted(slot) {
                Interrupted::No => {}
                Interrupted::Restarts if !always => {}
                _ => {
                    *real::__errno_location() = EINTR;
                    return false;
                }
            }
        }
    }
    true
}

/// Makes a call on a file when that is ready, or the call will not block anyway.
pub(super) unsafe fn when_ready(
    (file, events): (c_int, i16),
    pc: usize,
    real: impl FnOnce() -> isize,
) -> isize {
    // SAFETY: as the caller called it.
    unsafe {
        if let Some(slot) = controlled()
            && !until(slot, pc, (NEVER, false), || sys::is_ready(file, events))
        {
            return -1;
        }
    }
    let result = real();
    if control::is_on() {
        if events == IN && input::is_outside(file) {
            arena::outcome().inputs.fetch_add(1, Ordering::Relaxed);
        }
        control::look_again();
    }
    result
}

/// Defines functions that read from a file: how much, and where it goes.
macro_rules! reads {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty, $call:ident, $size:expr, $memory:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> $out {
            // SAFETY: as the caller called it.
            unsafe {
                let call = Call::new(call::$call, file, $size, pc);
                let real = || when_ready((file, IN), pc, || real::$name()(file, $($arg),*) as isize);
                call.make(|| input::is_outside(file), $memory, real) as $out
            }
        }
    )* };
}

reads! {
    read(buffer: usize, len: usize) -> isize, READ, len,
        |it| Memory::filled(buffer, len, it);
    readv(blocks: usize, count: c_int) -> isize, READV, input::blocks_len(blocks, count as usize),
        |it| Memory::NONE.with_blocks(blocks, count as usize, it);
    pread(buffer: usize, len: usize, offset: i64) -> isize, PREAD, len,
        |it| Memory::filled(buffer, len, it);
    recv(buffer: usize, len: usize, flags: c_int) -> isize, RECV, len,
        |it| Memory::filled(buffer, len, it);
    recvmsg(message: usize, flags: c_int) -> isize, RECVMSG, Message::len(message),
        Message::memory(message);
    accept(address: usize, len: usize) -> c_int, ACCEPT, 0, name(address, len);
    accept4(address: usize, len: usize, flags: c_int) -> c_int, ACCEPT, flags as usize,
        name(address, len);
}

/// Defines functions that write to a file: how much.
macro_rules! writes {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty, $call:ident, $size:expr;)*) => { $(
        unsafe extern "C-unwind" fn $name(file: c_int, $($arg: $type,)* pc: usize) -> $out {
            // SAFETY: as the caller called it.
            unsafe {
                let call = Call::new(call::$call, file, $size, pc);
                let real = || when_ready((file, OUT), pc, || real::$name()(file, $($arg),*));
                call.make(|| input::is_socket(file), |_| Memory::NONE, real)
            }
        }
    )* };
}

writes! {
    write(buffer: usize, len: usize) -> isize, WRITE, len;
    writev(blocks: usize, count: c_int) -> isize, WRITEV, input::blocks_len(blocks, count as usize);
    send(buffer: usize, len: usize, flags: c_int) -> isize, SEND, len;
    sendmsg(message: usize, flags: c_int) -> isize, SENDMSG, Message::len(message);
}

/// Defines a function after which others may find files ready.
macro_rules! noisy {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => { $(
        unsafe extern "C-unwind" fn $name($($arg: $type,)* _pc: usize) -> c_int {
            // SAFETY: as the caller called it.
            unsafe {
                let result = real::$name()($($arg),*);
                control::look_again();
                result
            }
        }
    )* };
}

noisy! {
    close(file: c_int);
}

/// Until when a call with a timeout in milliseconds waits.
fn after(milliseconds: c_int) -> u64 {
    match u64::try_from(milliseconds) {
        Ok(time) => control::time::now().saturating_add(time * MILLISECOND),
        Err(_) => NEVER,
    }
}

/// Until when a call with a relative `timespec` or `timeval` waits; `unit` is that of its second
/// word, in nanoseconds.
unsafe fn after_time(time: usize, unit: u64) -> u64 {
    if time == 0 {
        return NEVER;
    }
    // SAFETY: the caller's.
    let [seconds, rest] = unsafe { *(time as *const [u64; 2]) };
    let length = seconds.saturating_mul(1_000_000_000).saturating_add(rest.saturating_mul(unit));
    control::time::now().saturating_add(length)
}

unsafe extern "C-unwind" fn poll(files: usize, count: usize, time: c_int, pc: usize) -> c_int {
    let call = Call::new(call::POLL, -1, count, pc);
    // SAFETY: as the caller called it.
    unsafe {
        let real = || wait_poll(files, count, time, pc) as isize;
        call.make(|| ready::any_polled(files, count), ready::polled(files, count), real) as c_int
    }
}

unsafe fn wait_poll(files: usize, count: usize, time: c_int, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = controlled().filter(|_| time != 0) else {
            return real::poll()(files, count, time);
        };
        let mut result = 0;
        let called = until(slot, pc, (after(time), true), || {
            result = real::poll()(files, count, 0);
            result != 0
        });
        if called { result } else { -1 }
    }
}

unsafe extern "C-unwind" fn ppoll(
    files: usize,
    count: usize,
    time: usize,
    mask: usize,
    pc: usize,
) -> c_int {
    let call = Call::new(call::POLL, -1, count, pc);
    // SAFETY: as the caller called it.
    unsafe {
        let real = || wait_ppoll(files, count, time, mask, pc) as isize;
        call.make(|| ready::any_polled(files, count), ready::polled(files, count), real) as c_int
    }
}

unsafe fn wait_ppoll(files: usize, count: usize, time: usize, mask: usize, pc: usize) -> c_int {
    let now = [0u64; 2];
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = controlled() else { return real::ppoll()(files, count, time, mask) };
        let mut result = 0;
        let called = until(slot, pc, (after_time(time, 1), true), || {
            result = real::ppoll()(files, count, &raw const now as usize, mask);
            result != 0
        });
        if called { result } else { -1 }
    }
}

/// A set of files, as `select` takes it.
type Files = [u64; 16];

/// Copies a set, word by word: as a whole it would be copied by `memcpy`, which is one of ours.
unsafe fn copy(from: usize, to: usize) {
    for i in 0..if from == 0 || to == 0 { 0 } else { 16 } {
        // SAFETY: both are sets.
        unsafe { (to as *mut u64).add(i).write_volatile(*(from as *const u64).add(i)) };
    }
}

unsafe extern "C-unwind" fn select(
    most: c_int,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    pc: usize,
) -> c_int {
    let (call, sets) = (Call::new(call::SELECT, -1, most as usize, pc), [read, write, except]);
    // SAFETY: as the caller called it.
    unsafe {
        let real = || wait_select(most, sets, time, pc) as isize;
        call.make(|| ready::any_selected(most, sets), ready::selected(most, sets), real) as c_int
    }
}

unsafe fn wait_select(most: c_int, given: [usize; 3], time: usize, pc: usize) -> c_int {
    let [read, write, except] = given;
    // SAFETY: as the caller called it. Each attempt overwrites the sets.
    unsafe {
        let Some(slot) = controlled() else {
            return real::select()(most, read, write, except, time);
        };
        let kept = [const { core::mem::MaybeUninit::<Files>::uninit() }; 3];
        given.iter().zip(&kept).for_each(|(set, kept)| copy(*set, kept.as_ptr() as usize));
        let mut result = 0;
        let called = until(slot, pc, (after_time(time, 1000), true), || {
            given.iter().zip(&kept).for_each(|(set, kept)| copy(kept.as_ptr() as usize, *set));
            let mut now = [0u64; 2];
            result = real::select()(most, read, write, except, &raw mut now as usize);
            result != 0
        });
        if called { result } else { -1 }
    }
}

unsafe extern "C-unwind" fn epoll_wait(
    file: c_int,
    events: usize,
    most: c_int,
    time: c_int,
    pc: usize,
) -> c_int {
    const SIZE: isize = 12;
    let call = Call::new(call::EPOLL_WAIT, file, most as usize, pc);
    // SAFETY: as the caller called it.
    unsafe {
        let real = || wait_epoll(file, events, most, time, pc) as isize;
        call.make(|| true, |it| Memory::buffer(events, it * SIZE), real) as c_int
    }
}

unsafe fn wait_epoll(file: c_int, events: usize, most: c_int, time: c_int, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = controlled().filter(|_| time != 0) else {
            return real::epoll_wait()(file, events, most, time);
        };
        let mut result = 0;
        let called = until(slot, pc, (after(time), true), || {
            result = real::epoll_wait()(file, events, most, 0);
            result != 0
        });
        if called { result } else { -1 }
    }
}

unsafe extern "C-unwind" fn waitpid(
    process: c_int,
    status: usize,
    options: c_int,
    pc: usize,
) -> c_int {
    const NO_HANG: c_int = 1;
    // SAFETY: as the caller called it.
    unsafe {
        let Some(slot) = controlled().filter(|_| options & NO_HANG == 0) else {
            return real::waitpid()(process, status, options);
        };
        let (mut result, mut waited) = (0, false);
        let called = until(slot, pc, (NEVER, false), || {
            result = real::waitpid()(process, status, options | NO_HANG);
            if result == 0 && !core::mem::replace(&mut waited, true) {
                control::verdict::away();
            }
            result != 0
        });
        if called { result } else { -1 }
    }
}

unsafe extern "C-unwind" fn wait(status: usize, pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe { waitpid(-1, status, 0, pc) }
}

/// Defines a function that may block in a way that cannot be tried: it runs without the turn.
macro_rules! blocking {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty;)*) => { $(
        unsafe extern "C-unwind" fn $name($($arg: $type,)* _pc: usize) -> $out {
            // SAFETY: as the caller called it.
            unsafe { control::outside(|| real::$name()($($arg),*)) }
        }
    )* };
}

blocking! {
    sigwait(set: usize, signal: usize) -> c_int;
    sigwaitinfo(set: usize, info: usize) -> c_int;
    sigsuspend(mask: usize) -> c_int;
    pause() -> c_int;
    flock(file: c_int, operation: c_int) -> c_int;
}

interpose! {
    read(3) => read;
    readv(3) => readv;
    pread(4) => pread;
    pread64(4) => pread;
    recv(4) => recv;
    recvmsg(3) => recvmsg;
    accept(3) => accept;
    accept4(4) => accept4;
    write(3) => write;
    writev(3) => writev;
    send(4) => send;
    sendmsg(3) => sendmsg;
    close(1) => close;
    poll(3) => poll;
    ppoll(4) => ppoll;
    select(5) => select;
    epoll_wait(4) => epoll_wait;
    waitpid(3) => waitpid;
    wait(1) => wait;
    sigwait(2) => sigwait;
    sigwaitinfo(2) => sigwaitinfo;
    sigsuspend(1) => sigsuspend;
    pause(0) => pause;
    flock(2) => flock;
}
