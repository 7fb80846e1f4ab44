//! What the runtime and the recorder say to each other about functions whose calls are recorded.
//!
//! The person names functions by patterns; the recorder can read symbols, the runtime can change
//! code. So when a module is there, the runtime asks which of its functions are meant, and waits
//! for the answer. There is one question at a time in the whole run.
//!
//! `norn cc` leaves [`BEFORE`] bytes before each function and [`INSIDE`] bytes at its beginning.
//! Those at the beginning become a jump to those before, which call the runtime; where they return
//! to tells which function it is. A function that was not built so is caught where it is imported:
//! its entry in the importing module's table is led through bytes of the same form.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// Bytes that are free before each function.
pub const BEFORE: usize = 16;
/// Bytes that are free at its beginning, behind a landing mark for indirect jumps.
pub const INSIDE: usize = 2;
/// Functions of one module that can be named in an answer.
pub const FUNCTIONS: usize = 4096;

/// Where a question is: in [`Inquiry::state`].
pub mod state {
    /// There is none, or the answer was read.
    pub const IDLE: u32 = 0;
    /// It waits for the recorder.
    pub const ASKED: u32 = 1;
    /// It waits for the asker.
    pub const ANSWERED: u32 = 2;
}

/// What a question asks for: in [`Inquiry::about`].
pub mod about {
    /// Functions that are there.
    pub const DEFINED: u32 = 0;
    /// Functions of other modules that are used there.
    pub const IMPORTED: u32 = 1;
}

/// A question about a module and the answer to it.
#[repr(C)]
#[derive(Debug)]
pub struct Inquiry {
    /// Whether there is anything to ask: set before the subject starts.
    pub wanted: AtomicU32,
    /// The process that asks; 0 if none does.
    pub asker: AtomicU32,
    /// One of [`state`].
    pub state: AtomicU32,
    /// One of [`about`].
    pub about: AtomicU32,
    /// How many functions the answer has.
    pub count: AtomicU32,
    /// Functions whose code or table could not be changed.
    pub refused: AtomicU32,
    /// Where the module is.
    pub start: AtomicU64,
    /// Length of the path.
    pub len: AtomicU32,
    /// The module's path.
    pub path: [u8; 1024],
    /// The answer.
    pub functions: [Function; FUNCTIONS],
}

/// Set in [`Function::flags`]: it may return twice, or not at all, or looks where it was called
/// from: its return is left alone.
pub const CALL_ONLY: u32 = 1;
/// Set in [`Function::flags`]: the place in the table is protected from writing.
pub const PROTECTED: u32 = 2;

/// A function whose calls are to be recorded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Where it begins, or where the table of imports has it; from the module's lowest address.
    pub offset: u64,
    /// Its number: functions of the same name have the same.
    pub number: u32,
    /// [`CALL_ONLY`] and [`PROTECTED`].
    pub flags: u32,
    /// Which register has each argument: 0 to 5 in the order of the calling convention, or
    /// [`NOWHERE`].
    pub registers: [u8; 6],
    /// Length of the name.
    pub len: u16,
    /// The name as people know it, a zero, the name as the linker knows it, a zero.
    pub names: [u8; NAMES],
}

/// Bytes for the names of a function.
pub const NAMES: usize = 488;

impl Function {
    /// The name as people know it.
    pub fn name(&self) -> &[u8] {
        &self.names[..(self.len as usize).min(NAMES)]
    }

    /// The name as the linker knows it, and all that follows: it ends with a zero.
    pub fn linkage(&self) -> &[u8] {
        &self.names[(self.len as usize + 1).min(NAMES)..]
    }
}

/// In [`Function::registers`]: the compiler has removed the argument.
pub const NOWHERE: u8 = 0xff;

const _: () = assert!(size_of::<Function>() == 512);
