//! Uses and closes of descriptors. A thread that closes a descriptor which another thread still uses
//! makes that thread's call fail, or, once the number is given to another file, hit that file. Each call
//! on a descriptor is preceded by an event, so that the order of both can be analysed; in a controlled
//! run, what went wrong is detected at the call.
//!
//! Standard input, output and error are left out: programs rarely close them, and use them much.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

use norn_abi::{Kind, ObjectClass, arena::ThreadSlot, control::verdict as found};
use norn_sched::TASKS;

use crate::{control, event, input::descriptor, thread};

/// The first descriptor that is observed, and the number of those whose closing is remembered.
const FIRST: c_int = 3;
const FILES: usize = 1024;
/// Maximum number of descriptors of one call that are remembered while it lasts.
const CALLS: usize = 8;

/// By descriptor: the number of the thread that closed it, from 1; 0 if it was not closed, or is known
/// to be open again.
static CLOSED_BY: [AtomicU32; FILES] = [const { AtomicU32::new(0) }; FILES];

/// The descriptors of the call that a thread is in.
struct InCall {
    /// Descriptors, from 1; 0 for none.
    files: [AtomicU32; CALLS],
    /// The number of events of the thread. If it has grown, the thread has left the call in a way that
    /// the runtime did not see, such as cancellation.
    steps: AtomicU64,
}

static IN_CALL: [InCall; TASKS] =
    [const { InCall { files: [const { AtomicU32::new(0) }; CALLS], steps: AtomicU64::new(0) } };
        TASKS];

fn closed_by(file: c_int) -> Option<&'static AtomicU32> {
    CLOSED_BY.get(usize::try_from(file).ok()?)
}

/// In a forked child: what threads of the parent did does not count.
pub fn after_fork() {
    CLOSED_BY.iter().for_each(|it| it.store(0, Relaxed));
}

/// Records that a call on descriptors begins, and ends the run if another thread has closed one of them.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn begin(slot: *mut ThreadSlot, files: impl Iterator<Item = c_int> + Clone, pc: usize) {
    let files = files.filter(|it| *it >= FIRST);
    // SAFETY: guaranteed by the caller.
    unsafe {
        for file in files.clone() {
            event::put(slot, Kind::Use, pc, file as usize, &[ObjectClass::Descriptor as u64]);
            if control::is_on() {
                check_use(slot, file, pc);
            }
        }
        if let Some(call) = in_call(slot) {
            call.steps.store((*slot).steps, Relaxed);
            for (place, file) in call.files.iter().zip(files) {
                place.store(file as u32 + 1, Relaxed);
            }
        }
    }
}

/// Makes a call on a descriptor, and records that it uses it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn during<T>(
    slot: *mut ThreadSlot,
    file: c_int,
    pc: usize,
    call: impl FnOnce() -> T,
) -> T {
    // SAFETY: guaranteed by the caller.
    unsafe {
        begin(slot, [file].into_iter(), pc);
        let result = call();
        end(slot);
        result
    }
}

/// Makes a call on several descriptors, and records that it uses them.
///
/// # Safety
/// The program is about to make the call.
pub unsafe fn during_all<T>(
    files: impl Iterator<Item = c_int> + Clone,
    pc: usize,
    call: impl FnOnce() -> T,
) -> T {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's.
    unsafe {
        begin(slot, files, pc);
        let result = call();
        end(slot);
        result
    }
}

/// Records that a call which does not block uses a descriptor.
///
/// # Safety
/// The program is about to make the call.
pub unsafe fn touch(file: c_int, pc: usize) {
    if let Some(slot) = thread::recorded() {
        // SAFETY: the slot is the current thread's.
        unsafe { during(slot, file, pc, || ()) };
    }
}

/// The call on descriptors has returned.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn end(slot: *mut ThreadSlot) {
    // SAFETY: guaranteed by the caller.
    if let Some(call) = unsafe { in_call(slot) } {
        call.files.iter().for_each(|it| it.store(0, Relaxed));
    }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn in_call(slot: *mut ThreadSlot) -> Option<&'static InCall> {
    // SAFETY: guaranteed by the caller.
    let task = unsafe { control::task(slot) }.filter(|_| control::is_on())?;
    IN_CALL.get(task.index())
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn check_use(slot: *mut ThreadSlot, file: c_int, pc: usize) {
    let Some(by) = closed_by(file).filter(|it| it.load(Relaxed) != 0) else { return };
    if descriptor::is_open(file) {
        return by.store(0, Relaxed);
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        if by.load(Relaxed) != (*slot).head.thread + 1 {
            control::verdict::memory(slot, found::USE_AFTER_CLOSE, pc, file as usize, 0);
        }
    }
}

/// Records that a descriptor is about to be closed, and ends the run if another thread has closed it, or
/// is in a call on it. The caller closes it at once: another thread that runs in between would find it
/// open.
///
/// # Safety
/// The program is about to close the descriptor.
pub unsafe fn close(file: c_int, pc: usize) {
    let Some(slot) = thread::recorded().filter(|_| file >= FIRST) else { return };
    // A loop over all possible descriptors is not worth an event for each of them.
    let known = closed_by(file).is_some_and(|it| it.load(Relaxed) != 0);
    if !known && !descriptor::is_open(file) {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::put(slot, Kind::Destroy, pc, file as usize, &[ObjectClass::Descriptor as u64]);
        if control::is_on() {
            check_close(slot, file, pc);
        }
    }
}

/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn check_close(slot: *mut ThreadSlot, file: c_int, pc: usize) {
    let Some(by) = closed_by(file) else { return };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let own = (*slot).head.thread + 1;
        if !descriptor::is_open(file) {
            if by.load(Relaxed) != own && !is_sweep(own, file) {
                control::verdict::memory(slot, found::DOUBLE_CLOSE, pc, file as usize, 0);
            }
        } else if is_in_use(slot, file) {
            control::verdict::memory(slot, found::CLOSE_IN_USE, pc, file as usize, 0);
        }
        by.store(own, Relaxed);
        LAST.store(u64::from(own) << 32 | u64::from(file as u32), Relaxed);
    }
}

/// The last thread that closed a descriptor, and which.
static LAST: AtomicU64 = AtomicU64::new(0);

/// Whether a thread closes one descriptor after the other, open or not, as programs do before they start
/// others.
fn is_sweep(thread: u32, file: c_int) -> bool {
    LAST.load(Relaxed) == u64::from(thread) << 32 | u64::from(file as u32 - 1)
}

/// Whether another thread is in a call on a descriptor.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn is_in_use(slot: *mut ThreadSlot, file: c_int) -> bool {
    // SAFETY: guaranteed by the caller.
    let own = unsafe { control::task(slot) };
    control::any_other(own, |task, steps| {
        let Some(call) = IN_CALL.get(task.index()) else { return false };
        let uses = call.files.iter().any(|it| it.load(Relaxed) == file as u32 + 1);
        uses && call.steps.load(Relaxed) == steps
    })
}
