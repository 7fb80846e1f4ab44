//! The shadow stack: the original return addresses of the functions that return to the runtime, for
//! each thread, in the order of the calls. It is in memory that is private to the process, so that
//! a forked child has its own copy.
//!
//! A return is identified by the stack address at which its return address was, so a function may
//! also be left in other ways: by an exception, a long jump, a switch to another stack. An entry
//! whose place on the stack no longer holds the runtime's address is dead.

use norn_abi::{arena::ThreadSlot, peek};

use super::{put_return, stub};
use crate::{sys, thread, tls};

/// Maximum number of nested calls whose returns can be recorded.
const MOST: usize = 1 << 16;

#[repr(C)]
struct Stack {
    depth: usize,
    entries: [Entry; MOST],
}

#[repr(C)]
struct Entry {
    /// Stack address of the return address; 0 while the entry is being written.
    place: usize,
    back: usize,
    pc: usize,
    number: u32,
    /// It is already recorded that the function was left.
    expired: bool,
    /// The slot to which the call's events belong.
    stream: *mut ThreadSlot,
}

/// A function that returns.
pub struct Taken {
    pub back: usize,
    pub pc: usize,
    pub number: u32,
    pub expired: bool,
}

fn own() -> *mut Stack {
    tls::calls() as *mut Stack
}

/// # Safety
/// The stack is the current thread's, and `at` is below its capacity.
unsafe fn entry(stack: *mut Stack, at: usize) -> *mut Entry {
    // SAFETY: the index is inside the stack.
    unsafe { (&raw mut (*stack).entries).cast::<Entry>().add(at) }
}

/// The address from which the function was called whose return address is at `place`. If that is
/// the runtime's own address, the function was called by a tail call, in place of the return of
/// another traced function.
///
/// # Safety
/// `place` is on the current thread's stack and holds a return address.
pub unsafe fn caller(place: *const usize) -> usize {
    // SAFETY: the place is on the current thread's stack.
    unsafe {
        let back = *place;
        if back != stub::comeback() {
            return back;
        }
        find(place as usize).map_or(back, |it| (*it).pc)
    }
}

/// The caller of the function that finds `back` as its return address and has `sp` inside its
/// frame.
///
/// # Safety
/// `sp` is on the current thread's stack.
pub unsafe fn true_caller(back: usize, sp: usize) -> usize {
    let stack = own();
    if back != stub::comeback() || stack.is_null() {
        return back;
    }
    // SAFETY: the stack is the current thread's.
    unsafe {
        let mut entries = (0..(*stack).depth).rev().map(|at| entry(stack, at));
        entries.find(|&it| (*it).place >= sp).map_or(back, |it| (*it).pc)
    }
}

/// The latest call whose return address was at `place`.
///
/// # Safety
/// Called on the thread whose stack `place` is on.
unsafe fn find(place: usize) -> Option<*mut Entry> {
    let stack = own();
    if stack.is_null() {
        return None;
    }
    // SAFETY: the stack is the current thread's.
    unsafe { (0..(*stack).depth).rev().map(|at| entry(stack, at)).find(|&it| (*it).place == place) }
}

/// Makes the function whose return address is at `place` return to the runtime. A signal handler
/// may interrupt this at any point; it leaves the stack as it found it.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `place` holds the return address of
/// a function that has just been called on it.
pub unsafe fn push(slot: *mut ThreadSlot, place: *mut usize, pc: usize, number: u32) {
    // SAFETY: the stack is the current thread's.
    unsafe {
        let mut stack = own();
        if stack.is_null() {
            let Some(new) = sys::map_private(size_of::<Stack>()) else { return };
            stack = new as *mut Stack;
            tls::set_calls(new);
        }
        let at = (*stack).depth;
        if at == MOST {
            return;
        }
        let entry = entry(stack, at);
        (&raw mut (*entry).place).write_volatile(0);
        (&raw mut (*stack).depth).write_volatile(at + 1);
        ((*entry).back, (*entry).pc, (*entry).number) = (*place, pc, number);
        ((*entry).expired, (*entry).stream) = (false, slot);
        (&raw mut (*entry).place).write_volatile(place as usize);
        *place = stub::comeback();
    }
}

/// Before a call whose return address is at `place`: drops dead entries from the top of the stack.
/// The entries of functions that an exception is leaving right now are still alive: their frames
/// are further out.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and `place` is on its stack.
pub unsafe fn clean(slot: *mut ThreadSlot, place: *const usize) {
    let stack = own();
    if stack.is_null() {
        return;
    }
    // SAFETY: the stack is the current thread's.
    unsafe {
        while (*stack).depth > 0 {
            let last = entry(stack, (*stack).depth - 1);
            let at = (*last).place;
            let reused = at == place as usize && *place != stub::comeback();
            if at != DONE && !reused && (at == 0 || at > place as usize || is_armed(at)) {
                return;
            }
            if at != DONE && !(*last).expired && (*last).stream == slot {
                put_return(slot, (*last).pc, (*last).number, None);
            }
            (&raw mut (*stack).depth).write_volatile((*stack).depth - 1);
        }
    }
}

/// # Safety
/// `place` was on the current thread's stack; it need not be mapped any more.
unsafe fn is_armed(place: usize) -> bool {
    // SAFETY: if the memory is no longer mapped, the runtime's fault handler recovers from this
    // load.
    unsafe { peek::word(place) == Some(stub::comeback() as u64) }
}

/// Removes the entry of a function that returns, whose return address was at `place`.
///
/// # Safety
/// Called on the thread whose stack `place` is on.
pub unsafe fn take(place: usize) -> Option<Taken> {
    // SAFETY: the stack is the current thread's.
    unsafe {
        let found = find(place)?;
        let taken = Taken {
            back: (*found).back,
            pc: (*found).pc,
            number: (*found).number,
            expired: (*found).expired,
        };
        let stack = own();
        let at = found.offset_from(entry(stack, 0)) as usize;
        for above in at + 1..(*stack).depth {
            let above = entry(stack, above);
            // Functions further in on the same stack were left without a return.
            if (*above).place < place && (*above).stream == (*found).stream {
                leave(above);
            }
        }
        (*found).place = DONE;
        while (*stack).depth > 0 && (*entry(stack, (*stack).depth - 1)).place == DONE {
            (&raw mut (*stack).depth).write_volatile((*stack).depth - 1);
        }
        Some(taken)
    }
}

/// Value of [`Entry::place`] for a function that has returned while entries above it are still in
/// use.
const DONE: usize = 1;

/// Records that a function was left, unless that is already recorded.
///
/// # Safety
/// The entry is on the current thread's shadow stack.
unsafe fn leave(entry: *mut Entry) {
    // SAFETY: the entry is the current thread's.
    unsafe {
        if !(*entry).expired && (*entry).place > DONE {
            (*entry).expired = true;
            if let Some(slot) = thread::recorded() {
                put_return(slot, (*entry).pc, (*entry).number, None);
            }
        }
    }
}

/// Records that the functions of the current slot whose return addresses are below `sp` were left.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn expire(slot: *mut ThreadSlot, sp: usize) {
    let stack = own();
    if stack.is_null() {
        return;
    }
    // SAFETY: the stack is the current thread's.
    unsafe {
        for at in (0..(*stack).depth).rev() {
            let entry = entry(stack, at);
            if (*entry).stream == slot && (*entry).place < sp {
                leave(entry);
            }
        }
    }
}

/// Records, when the thread ends, that all its functions were left.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn retire(slot: *mut ThreadSlot) {
    // SAFETY: the stack is the current thread's.
    unsafe { expire(slot, usize::MAX) };
}

/// Restores the original return address at `place`, for an unwinder of the stack.
///
/// # Safety
/// Called on the thread whose stack `place` is on.
pub unsafe fn restore(place: usize) {
    // SAFETY: the place is on the current thread's stack.
    unsafe {
        let back = (0..(*own()).depth)
            .map(|at| entry(own(), at))
            .find(|&it| (*it).place == place && (*it).back != stub::comeback());
        if let Some(found) = back {
            *(place as *mut usize) = (*found).back;
        }
    }
}

/// Restores all original return addresses, where it is unknown which one the unwinder needs.
///
/// # Safety
/// Called on the thread whose functions are meant.
pub unsafe fn restore_all() {
    // SAFETY: all places that still hold the runtime's address are on the current thread's stack.
    unsafe {
        for at in 0..(*own()).depth {
            let entry = entry(own(), at);
            if (*entry).place > DONE && is_armed((*entry).place) {
                restore((*entry).place);
            }
        }
    }
}
