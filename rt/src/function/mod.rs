//! Calls of the functions that the person named, with their arguments and results.
//!
//! A function that is to be seen calls us at its beginning ([`patch`]), and by the address of that
//! call we know which one it is ([`table`]). There we exchange its return address for one of ours
//! and keep the true one aside ([`shadow`]). All registers are given back as they were: within a
//! program, compilers know which registers a function leaves alone.
//!
//! Functions that nobody named have two bytes of nothing to do.

mod mark;
mod patch;
mod shadow;
mod stub;
mod table;

use norn_abi::{Kind, arena::ThreadSlot, function::CALL_ONLY};
pub use patch::{find_defined, find_imported, is_wanted};
pub use shadow::{expire, retire, true_caller};

use crate::{arena, event, number, sys, thread};

/// The registers at a call or a return, as [`stub`] leaves them on the stack.
#[repr(C)]
struct Registers {
    vectors: [[u64; 2]; 16],
    r11: u64,
    r10: u64,
    /// In the reverse order of the calling convention: the sixth first.
    arguments: [u64; 6],
    rax: u64,
    /// At a call: who calls, then where to go on. At a return: where to go on.
    target: usize,
    /// At a call: where the function returns to.
    back: usize,
}

/// A function was called.
///
/// # Safety
/// Called by the stub, with the registers that a function was called with and its return address on
/// the stack.
unsafe extern "C" fn called(registers: &mut Registers) {
    let Some(function) = table::find(registers.target) else { lost() };
    registers.target = function.to;
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's; the return address is on its stack.
    unsafe {
        let pc = shadow::caller(&raw const registers.back);
        shadow::clean(slot, &raw const registers.back);
        let mut arguments = [0; 6];
        for (at, argument) in arguments.iter_mut().enumerate() {
            *argument = match function.register(at) {
                Some(register) => registers.arguments[5 - register],
                None => 0,
            };
        }
        put_call(slot, pc, function.number, &arguments);
        if function.flags & CALL_ONLY == 0 {
            shadow::push(slot, &raw mut registers.back, pc, function.number);
        }
    }
}

/// Records a call. Its last arguments are in a record of their own, right behind.
///
/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn put_call(slot: *mut ThreadSlot, pc: usize, number: u32, arguments: &[u64; 6]) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        event::put(slot, Kind::Call, pc, number as usize, &arguments[..3]);
        if arguments[3..].iter().any(|&it| it != 0) && arena::make_room(slot) {
            let seq = number::next(slot);
            (*slot).lane.sync(Kind::CallRest, pc, number as usize, seq, &arguments[3..]);
        }
    }
}

/// A function returns: `target` is where its return address was.
///
/// # Safety
/// Called by the stub, with the registers that a function returned with.
unsafe extern "C" fn returned(registers: &mut Registers) {
    // SAFETY: the entry is the current thread's.
    unsafe {
        let Some(entry) = shadow::take(&raw const registers.target as usize) else { lost() };
        registers.target = entry.back;
        if !entry.expired
            && let Some(slot) = thread::recorded()
        {
            put_return(slot, entry.pc, entry.number, Some(registers.rax));
        }
    }
}

/// # Safety
/// The slot is the current thread's and no stand.
unsafe fn put_return(slot: *mut ThreadSlot, pc: usize, number: u32, value: Option<u64>) {
    let arguments = [value.unwrap_or(0), u64::from(value.is_some())];
    // SAFETY: the slot is the current thread's.
    unsafe { event::put(slot, Kind::Return, pc, number as usize, &arguments) };
}

/// Without the true return address there is no way to go on.
fn lost() -> ! {
    sys::say("norn: the runtime has lost track of a recorded function and stops the program\n");
    loop {
        // SAFETY: ends the process.
        unsafe { sys::call(sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
    }
}
