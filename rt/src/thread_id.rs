//! The ids of threads as the program sees them. In a controlled run they are the same in every run, so
//! that a program whose path depends on `gettid` can be replayed.
//!
//! The first thread keeps the id of the process, which the runtime does not replace: programs write it
//! to files, give it to other processes, and rely on no other process having it. All other threads have
//! ids above those of the kernel, so that an id that the program passes back is recognised, and is
//! translated to the kernel's ([`to_kernel`]) in the functions that take one. libc itself uses the
//! kernel's ids, in mutexes for example, and does not notice.
//!
//! Processes that the program creates keep the kernel's ids: ids of threads are unique in all processes,
//! and a lock in shared memory may depend on it.

use core::ffi::c_int;

use norn_abi::arena::{ThreadSlot, role};

use crate::{arena, control, signal, sys, thread};

/// The kernel's ids are at most this large, on any machine.
const LARGEST: u32 = 1 << 22;
/// Number of ids for the children of the first thread, which have their positions among its children
/// as ids. Other threads have ids in the order of their creation, behind these.
const CHILDREN: u32 = 1 << 16;

/// The id of the current thread, if it is not that of the kernel.
pub fn current() -> Option<c_int> {
    if !control::was_on() {
        return None;
    }
    // SAFETY: the slot is the current thread's.
    thread::recorded().and_then(|it| unsafe { of(signal::root(it)) })
}

/// The id of a thread, if it is not that of the kernel.
///
/// # Safety
/// The slot is that of a living thread.
unsafe fn of(slot: *mut ThreadSlot) -> Option<c_int> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let head = &(*slot).head;
        let controlled = (*thread::own(slot)).task.is_some();
        if head.thread == 0 || !controlled || arena::process_number() != 0 {
            return None;
        }
        let by_parent = head.role == role::THREAD && head.parent == 0 && head.child < CHILDREN;
        let index = if by_parent { head.child } else { CHILDREN + head.thread };
        Some((LARGEST + index) as c_int)
    }
}

/// The kernel's id for an id that the program passes: of a thread, a process or, if negative, a group.
pub fn to_kernel(id: c_int) -> c_int {
    if id <= LARGEST as c_int || !control::was_on() {
        return id;
    }
    control::tid_where(|slot| {
        // SAFETY: the slot is that of a living thread.
        unsafe { of(slot) == Some(id) }
    })
    .map_or(id, |tid| tid as c_int)
}

/// Notes that the program asks for the id of a process, which differs from run to run.
pub fn note_process_id() {
    if control::is_on() {
        arena::outcome().process_ids.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }
}

/// Whether the program has asked for the id of a process.
pub fn is_process_id_known() -> bool {
    control::is_on()
        && arena::outcome().process_ids.load(core::sync::atomic::Ordering::Relaxed) != 0
}

/// The id that the kernel gives the parent of this process.
pub fn parent() -> c_int {
    const GETPPID: usize = 110;
    // SAFETY: the call has no effect.
    unsafe { sys::call(GETPPID, [0; 6]) as c_int }
}

/// `/proc/self/task/ID` with the kernel's id of the thread.
pub struct TaskPath {
    text: [u8; TaskPath::LEN],
}

impl TaskPath {
    /// Longer paths are used as they are.
    const LEN: usize = 128;

    /// Translates the id of a thread in a path, if there is one.
    ///
    /// # Safety
    /// `path` is null or a C string.
    pub unsafe fn new(path: usize) -> Option<TaskPath> {
        const START: &[u8] = b"/proc/";
        if path == 0 || !control::was_on() {
            return None;
        }
        let byte = |at: usize| {
            // SAFETY: guaranteed by the caller; bytes behind the end are not asked for.
            unsafe { ((path + at) as *const u8).read() }
        };
        if !START.iter().enumerate().all(|(at, it)| byte(at) == *it) {
            return None;
        }
        let (mut text, mut from, mut to, mut found) = ([0u8; TaskPath::LEN], 0, 0, false);
        while byte(from) != 0 {
            let digits = (0..10).take_while(|it| byte(from + it).is_ascii_digit()).count();
            let written = (0..digits).fold(0u32, |number, it| {
                number.wrapping_mul(10).wrapping_add(u32::from(byte(from + it) - b'0'))
            });
            let kernel = if digits == 0 { 0 } else { to_kernel(written as c_int) as u32 };
            if digits != 0 && kernel != written {
                found = true;
                to = put_decimal(&mut text, to, kernel)?;
                from += digits;
            } else {
                for _ in 0..digits.max(1) {
                    *text.get_mut(to).filter(|_| to + 1 < TaskPath::LEN)? = byte(from);
                    (from, to) = (from + 1, to + 1);
                }
            }
        }
        found.then_some(TaskPath { text })
    }

    /// The address of the translated path.
    pub fn address(&self) -> usize {
        self.text.as_ptr() as usize
    }
}

/// Writes a number in decimal digits; returns the position behind it, if there is room.
fn put_decimal(text: &mut [u8], at: usize, number: u32) -> Option<usize> {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut rest = number;
    for to in text.get_mut(at..at + digits)?.iter_mut().rev() {
        *to = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    (at + digits < text.len()).then_some(at + digits)
}
