//! Where the functions that come back to us really return to: each thread's, in the order of the
//! calls. In memory of the process alone, so that a forked child has its own.
//!
//! A return is recognised by where on the stack its address was, so nothing goes wrong when
//! functions are left in other ways: by an exception, a long jump, a switch to another stack. An
//! entry whose place on the stack no longer holds our address is dead.

use norn_abi::{arena::ThreadSlot, peek};

use super::{put_return, stub};
use crate::{sys, thread, tls};

/// Calls in each other whose returns can be seen.
const MOST: usize = 1 << 16;

#[repr(C)]
struct Stack {
    depth: usize,
    entries: [Entry; MOST],
}

#[repr(C)]
struct Entry {
    /// Where the return address was; 0 while the entry is being made.
    place: usize,
    back: usize,
    pc: usize,
    number: u32,
    /// That it is left is recorded already.
    expired: bool,
    /// The stream of events to which it belongs.
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
    // SAFETY: inside of the stack.
    unsafe { (&raw mut (*stack).entries).cast::<Entry>().add(at) }
}

/// From where the function is called whose return address is at `place`: if that is ours, it was
/// called in the place of another one's return.
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

/// Who called the function that finds `back` as its return address and has `sp` inside of its frame.
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

/// The last call whose return address was at `place`.
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

/// From now on the function whose return address is at `place` returns to us. A signal handler may
/// come in between at any time, and leaves all as it was.
///
/// # Safety
/// The slot is the current thread's and no stand, and `place` holds the return address of a
/// function that has just been called on it.
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

/// Before a call whose return address is at `place`: drops the last entries as far as they are
/// dead. Those of functions that are just being left by an exception are still there: they are
/// further out.
///
/// # Safety
/// The slot is the current thread's and no stand, and `place` is on its stack.
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
    // SAFETY: our handler knows of the load, should the memory be gone.
    unsafe { peek::word(place) == Some(stub::comeback() as u64) }
}

/// The function returns whose return address was at `place`.
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
            // What is above on the same stack was left without a word.
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

/// In [`Entry::place`]: it has returned, and others above it have not.
const DONE: usize = 1;

/// Records that a function is left, if that is not recorded yet.
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

/// The functions of the current stream are left whose return addresses are below `sp`.
///
/// # Safety
/// The slot is the current thread's and no stand.
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

/// The thread ends.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn retire(slot: *mut ThreadSlot) {
    // SAFETY: the stack is the current thread's.
    unsafe { expire(slot, usize::MAX) };
}

/// Puts the true return address back for who unwinds the stack.
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

/// The same for all, where it cannot be known which one is meant.
///
/// # Safety
/// Called on the thread whose functions are meant.
pub unsafe fn restore_all() {
    // SAFETY: all places that are armed are on the current thread's stack.
    unsafe {
        for at in 0..(*own()).depth {
            let entry = entry(own(), at);
            if (*entry).place > DONE && is_armed((*entry).place) {
                restore((*entry).place);
            }
        }
    }
}
