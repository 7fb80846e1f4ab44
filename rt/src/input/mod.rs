//! Input from outside of the program: sockets, devices, pipes of other processes. In a controlled
//! run it can be recorded, and replayed in another run, in which the calls are then not made at
//! all.
//!
//! Each thread has its own inputs, in the order of its calls. An input is replayed if the thread
//! makes the call that it was recorded from. The first call that differs is reported, and from then
//! on the thread's calls are made for real.

pub mod descriptor;
mod memory;
mod message;
pub mod ready;

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU64, Ordering},
};

use norn_abi::{
    arena::{ThreadSlot, role},
    input::{self, Asked, FEED, Input, KEEP, call},
};

pub use self::{
    descriptor::{is_outside, is_socket, start},
    memory::{Memory, blocks_len},
    message::{Message, name, named_buffer},
};
use crate::{arena, control, real, thread};

/// Number of calls so far by which the program sent something outside.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// A call whose result may come from outside.
pub struct Call {
    /// The call and its arguments.
    pub asked: Asked,
    /// The address of the call.
    pub pc: usize,
}

impl Call {
    pub fn new(call: u32, file: c_int, size: usize, pc: usize) -> Call {
        Call { asked: Asked { call, file, size: size as u64 }, pc }
    }

    /// Makes the call by `live` and records its result if that comes from outside, or replays the
    /// recorded result. `memory` maps a result to the memory that the call writes.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder, and `memory` is what the call
    /// writes.
    pub unsafe fn make(
        &self,
        is_outside: impl FnOnce() -> bool,
        memory: impl Fn(isize) -> Memory,
        live: impl FnOnce() -> isize,
    ) -> isize {
        let Some(slot) = controlled() else { return live() };
        // SAFETY: the slot is the current thread's; the memory is guaranteed by the caller.
        unsafe {
            let due = next(slot);
            if !is_outside() && !due.is_some_and(|it| self.has_lost(&it.input)) {
                return live();
            }
            if let Some(result) = self.feed(slot, due, &memory) {
                return result;
            }
            let result = live();
            if arena::plan().inputs & KEEP != 0 {
                self.keep(slot, result, &memory(result));
            }
            self.count();
            result
        }
    }

    /// Whether the call is the one that is due, on a descriptor that is not open in this run or
    /// that is standard input, which may be of another type.
    fn has_lost(&self, due: &Input) -> bool {
        let Asked { call, file, .. } = self.asked;
        let same = (due.asked.call, due.asked.file) == (call, file);
        same && (file == 0 || file > 0 && !descriptor::is_open(file))
    }

    fn count(&self) {
        TOLD.fetch_add(u64::from(call::is_output(self.asked.call)), Ordering::Relaxed);
    }

    /// The recorded result of the call; none if the call is to be made.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder.
    unsafe fn feed(
        &self,
        slot: *mut ThreadSlot,
        due: Option<Kept>,
        memory: &impl Fn(isize) -> Memory,
    ) -> Option<isize> {
        // SAFETY: the slot is the current thread's.
        unsafe {
            if arena::plan().inputs & FEED == 0 || (*thread::own(slot)).parted {
                return None;
            }
            let expected = due.map_or(Asked::default(), |it| it.input.asked);
            let Some(kept) = due.filter(|it| self.fits(it, memory)) else {
                part(slot, expected, self.asked);
                (*thread::own(slot)).parted = true;
                return None;
            };
            if expected != self.asked {
                part(slot, expected, self.asked);
            }
            let input = kept.input;
            control::feed::arrive(slot, self.pc, input.steps, || {
                call::is_output(self.asked.call) || TOLD.load(Ordering::Relaxed) >= input.told
            });
            control::feed::time_is(input.clock);
            memory(input.result as isize).put(kept.bytes);
            self.take(slot, &kept);
            Some(self.result(&input))
        }
    }

    /// Whether the input that is due belongs to this call.
    fn fits(&self, kept: &Kept, memory: &impl Fn(isize) -> Memory) -> bool {
        let (due, asked) = (kept.input.asked, self.asked);
        let same = (due.call, due.file) == (asked.call, asked.file);
        let sized = due.size == asked.size || call::writes(due.call);
        same && sized && memory(kept.input.result as isize).len() == kept.input.len as usize
    }

    /// Consumes the input: the thread's next input follows it.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder, and the input is its next.
    unsafe fn take(&self, slot: *mut ThreadSlot, kept: &Kept) {
        arena::inputs().used.fetch_add(1, Ordering::Relaxed);
        self.count();
        // SAFETY: the slot is the current thread's.
        unsafe {
            let own = thread::own(slot);
            (*own).inputs += 1;
            (*own).next_input = kept.at + input::size(kept.input.len as usize);
        }
    }

    /// The result of the call, as recorded, with two exceptions: a call that sent all of its data
    /// also sends all of this run's data, and an accepted connection needs a descriptor of this
    /// run.
    ///
    /// # Safety
    /// Called on a thread that libc knows, in place of the call.
    unsafe fn result(&self, input: &Input) -> isize {
        // SAFETY: libc's `errno` of the current thread.
        unsafe {
            if input.result < 0 {
                *real::__errno_location() = input.error as c_int;
            } else if call::writes(self.asked.call) && input.result as u64 == input.asked.size {
                return self.asked.size as isize;
            } else if self.asked.call == call::ACCEPT {
                let flags = self.asked.size as usize;
                return descriptor::stand_in(self.asked.file, input.result as usize, flags);
            }
        }
        input.result as isize
    }

    /// Records the result of the call.
    ///
    /// # Safety
    /// The slot is the current thread's and not a placeholder, and the call has just filled the
    /// memory.
    unsafe fn keep(&self, slot: *mut ThreadSlot, result: isize, memory: &Memory) {
        let inputs = arena::inputs();
        let size = input::size(memory.len());
        let at = inputs.kept.fetch_add(size as u64, Ordering::Relaxed) as usize;
        if at + size > input::ROOM || memory.len() > u32::MAX as usize {
            inputs.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // SAFETY: the slot is the current thread's; no other thread writes the reserved range.
        unsafe {
            let to = arena::input_room(1).add(at);
            let kept = to.cast::<Input>();
            (*kept).asked.file = self.asked.file;
            (*kept).asked.size = self.asked.size;
            (*kept).process = (*slot).head.process;
            (*kept).thread = (*slot).head.thread;
            (*kept).result = result as i64;
            (*kept).error = if result < 0 { real::errno() as u32 } else { 0 };
            (*kept).len = memory.len() as u32;
            (*kept).steps = control::feed::steps();
            (*kept).told = TOLD.load(Ordering::Relaxed);
            (*kept).clock = control::time::now();
            memory.get(to.add(size_of::<Input>()));
            core::sync::atomic::fence(Ordering::Release);
            (&raw mut (*kept).asked.call).write_volatile(self.asked.call);
        }
    }
}

/// An input that is to be replayed.
#[derive(Clone, Copy)]
struct Kept {
    input: Input,
    /// Its offset in the buffer.
    at: usize,
    bytes: *const u8,
}

/// The slot of the current thread, if its inputs are recorded or replayed.
fn controlled() -> Option<*mut ThreadSlot> {
    if !control::is_on() || arena::plan().inputs == 0 {
        return None;
    }
    // SAFETY: the slot is the current thread's.
    thread::recorded().filter(|it| unsafe { (**it).head.role == role::THREAD })
}

/// The next input to be replayed to the thread.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn next(slot: *mut ThreadSlot) -> Option<Kept> {
    if arena::plan().inputs & FEED == 0 || !control::feed::is_due() {
        return None;
    }
    let end = (arena::inputs().fed.load(Ordering::Relaxed) as usize).min(input::ROOM);
    // SAFETY: the slot is the current thread's; the tool has written complete records.
    unsafe {
        let entry = control::feed::entry(slot);
        let mut at = (*thread::own(slot)).next_input;
        while at + size_of::<Input>() <= end {
            let from = arena::input_room(0).add(at);
            let input = *from.cast::<Input>();
            if input.thread == entry {
                return Some(Kept { input, at, bytes: from.add(size_of::<Input>()) });
            }
            at += input::size(input.len as usize);
        }
    }
    None
}

/// Handles a call other than the one that is due. The first such call is reported.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
unsafe fn part(slot: *mut ThreadSlot, expected: Asked, actual: Asked) {
    let inputs = arena::inputs();
    if inputs.parted.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    // SAFETY: the slot is the current thread's; only one thread gets here, once.
    unsafe {
        inputs.thread.store(control::feed::entry(slot), Ordering::Relaxed);
        inputs.index.store(u64::from((*thread::own(slot)).inputs), Ordering::Relaxed);
        (&raw const inputs.expected).cast_mut().write_volatile(expected);
        (&raw const inputs.actual).cast_mut().write_volatile(actual);
    }
    inputs.parted.store(2, Ordering::Release);
}

/// Whether inputs are recorded or replayed in this process.
pub fn is_on() -> bool {
    control::is_on() && arena::plan().inputs != 0
}
