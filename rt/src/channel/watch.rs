//! Watches of files (`inotify`): a change of a watched file or folder comes before the read that reports
//! it. The channel of an instance is counted in bytes of events. How many a change has added is asked of
//! the kernel before and after the call, since only the kernel knows which paths lead to a watched file,
//! and it merges a change with the last one if both are equal.
//!
//! Other processes may change files, too, so a thread that waits for such a change waits for the outside.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicI32, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot};

use super::{
    Sending,
    identity::{Tag, key},
};
use crate::{control, input::descriptor, sys, thread};

/// How many instances are known at the same time. Changes that others report order nothing.
const MOST: usize = 4;
/// The descriptors of the instances, plus 1; 0 for a free entry.
static INSTANCES: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];

/// Notes that a descriptor is a new instance.
pub fn add(file: c_int) {
    let order = Ordering::Relaxed;
    let _ = INSTANCES.iter().find(|it| it.compare_exchange(0, file + 1, order, order).is_ok());
}

/// Notes that a descriptor is about to be closed.
pub fn remove(file: c_int) {
    for it in INSTANCES.iter().filter(|it| it.load(Ordering::Relaxed) == file + 1) {
        it.store(0, Ordering::Relaxed);
    }
}

/// The channel of an instance, if the descriptor is one.
pub fn channel(file: c_int) -> Option<u64> {
    let known = INSTANCES.iter().any(|it| it.load(Ordering::Relaxed) == file + 1);
    known.then(|| of(file))
}

fn of(file: c_int) -> u64 {
    key(Tag::Watch, file as u64, 0)
}

/// Number of bytes that can be read from a descriptor.
fn unread(file: c_int) -> u64 {
    const IOCTL: usize = 16;
    const FIONREAD: usize = 0x541b;
    let mut count = 0u32;
    // SAFETY: the kernel writes the number.
    unsafe { sys::call(IOCTL, [file as usize, FIONREAD, &raw mut count as usize, 0, 0, 0]) };
    u64::from(count)
}

/// One instance during a call that may change a watched file.
struct Watched {
    file: c_int,
    sending: Sending,
    unread: u64,
}

/// Makes a call that writes to a file, which may be watched if it is a regular one.
///
/// # Safety
/// As for the call.
pub unsafe fn writing<T>(file: c_int, pc: usize, call: impl FnOnce() -> T) -> T {
    let regular = || descriptor::look(file).is_some_and(|it| it.kind == descriptor::REGULAR);
    if is_used() && regular() {
        // SAFETY: guaranteed by the caller.
        return unsafe { changing(pc, call) };
    }
    call()
}

/// Whether there are instances.
fn is_used() -> bool {
    INSTANCES.iter().any(|it| it.load(Ordering::Relaxed) != 0)
}

/// Makes a call that may change files, and records which instances report that.
///
/// # Safety
/// As for the call, which calls no function of the program.
pub unsafe fn changing<T>(pc: usize, call: impl FnOnce() -> T) -> T {
    let Some(slot) = thread::recorded().filter(|_| is_used()) else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        super::before(slot, Kind::Send, pc, 0);
        // What libc allocates inside, such as a stream, would come between this and the event.
        report(slot, pc, || thread::quietly(slot, call))
    }
}

/// Does the same for a call before which the scheduler must not be asked.
///
/// # Safety
/// As for the call.
pub unsafe fn closing<T>(pc: usize, call: impl FnOnce() -> T) -> T {
    let Some(slot) = thread::recorded().filter(|_| is_used()) else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe { report(slot, pc, call) }
}

/// # Safety
/// The slot is the current thread's and not a placeholder; the rest is as for the call.
unsafe fn report<T>(slot: *mut ThreadSlot, pc: usize, call: impl FnOnce() -> T) -> T {
    let watched = INSTANCES.each_ref().map(|it| {
        let file = it.load(Ordering::Relaxed) - 1;
        (file >= 0).then(|| {
            // SAFETY: guaranteed by the caller.
            let number = unsafe { Sending::number_before(slot, of(file)) };
            let sending = Sending { slot, channel: of(file), pc, number };
            Watched { file, sending, unread: unread(file) }
        })
    });
    let result = call();
    for Watched { file, sending, unread: before } in watched.into_iter().flatten() {
        let added = unread(file).saturating_sub(before);
        // SAFETY: the thread is the one that made it.
        unsafe { sending.done((added > 0).then_some(added), 0) };
    }
    control::look_again();
    result
}
