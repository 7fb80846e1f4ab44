//! Memory for tasks: a list of those that are not used. It is never seen by the program, so that its reuse
//! needs no events.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::{lock::Spin, task::Task};
use crate::sys;

/// The first task that is not used, and the lock of the list.
static UNUSED: AtomicUsize = AtomicUsize::new(0);
static LIST: Spin = Spin::new();

/// Memory for a task; null if there is none.
pub fn take() -> *mut Task {
    // SAFETY: the list consists of unused tasks, and changes only under its lock.
    unsafe {
        LIST.lock();
        let mut task = UNUSED.load(Ordering::Relaxed) as *mut Task;
        if task.is_null() {
            task = grow();
        }
        if !task.is_null() {
            UNUSED.store((*task).next as usize, Ordering::Relaxed);
        }
        LIST.unlock();
        task
    }
}

/// New memory for tasks, as a list.
fn grow() -> *mut Task {
    const BYTES: usize = 1 << 16;
    let Some(start) = sys::map_private(BYTES) else { return core::ptr::null_mut() };
    let all = start as *mut Task;
    let count = BYTES / size_of::<Task>();
    for index in 0..count - 1 {
        // SAFETY: the memory is new, and has room for all tasks.
        unsafe { (*all.add(index)).next = all.add(index + 1) };
    }
    all
}

/// Takes back the memory of a task.
///
/// # Safety
/// The task comes from [`take`], and is not used any more.
pub unsafe fn give_back(task: *mut Task) {
    LIST.lock();
    // SAFETY: guaranteed by the caller.
    unsafe { (*task).next = UNUSED.load(Ordering::Relaxed) as *mut Task };
    UNUSED.store(task as usize, Ordering::Relaxed);
    LIST.unlock();
}
