//! Calls of the functions that the user named, with their arguments and results.
//!
//! A traced function calls the runtime at its beginning ([`patch`]); the return address of that
//! call identifies the function ([`table`]). The runtime then replaces the function's return
//! address by one of its own and keeps the original aside ([`shadow`]). All registers are restored:
//! within a program, compilers may know which registers a function does not change, beyond the
//! calling convention.
//!
//! A function that is not named executes a two-byte no-op.

mod mark;
mod patch;
mod shadow;
mod stub;
mod table;

use norn_abi::{Kind, arena::ThreadSlot, function::CALL_ONLY};
pub use patch::{ask, find_defined, find_imported, is_wanted};
pub use shadow::{expire, retire, true_caller};

use crate::{arena, event, number, sys, thread};

/// The registers at a call or a return, as [`stub`] saves them on the stack.
#[repr(C)]
struct Registers {
    vectors: [[u64; 2]; 16],
    r11: u64,
    r10: u64,
    /// In the reverse order of the calling convention: the sixth argument comes first.
    arguments: [u64; 6],
    rax: u64,
    /// At a call: first the address of the call, then where to continue. At a return: where to
    /// continue.
    target: usize,
    /// At a call: the return address of the function.
    back: usize,
}

/// Handles the call of a traced function.
///
/// # Safety
/// Called by the stub, with the registers that a function was called with, and with its return
/// address on the stack.
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

/// Records a call. The arguments after the third are in a second record that follows at once.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
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

/// Handles the return of a traced function: `target` is where its return address was.
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
/// The slot is the current thread's and not a placeholder.
unsafe fn put_return(slot: *mut ThreadSlot, pc: usize, number: u32, value: Option<u64>) {
    let arguments = [value.unwrap_or(0), u64::from(value.is_some())];
    // SAFETY: the slot is the current thread's.
    unsafe { event::put(slot, Kind::Return, pc, number as usize, &arguments) };
}

/// Ends the program: without the original return address it cannot continue.
fn lost() -> ! {
    sys::say("norn: the runtime has lost track of a recorded function and stops the program\n");
    loop {
        // SAFETY: ends the process.
        unsafe { sys::call(sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
    }
}
