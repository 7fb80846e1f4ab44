//! The protocol between the runtime and the recorder for functions whose calls are recorded.
//!
//! The user names functions by patterns. The recorder can read symbols, the runtime can patch code.
//! So when a module is loaded, the runtime asks the recorder which of its functions match, and
//! waits for the answer. The whole run has at most one inquiry at a time.
//!
//! `norn cc` leaves [`BEFORE`] padding bytes before each function and [`INSIDE`] bytes at its
//! entry. The runtime patches the bytes at the entry to a jump to those before, which call the
//! runtime; the return address of this call identifies the function. A function that was not built
//! this way is intercepted where it is imported: its GOT entry in the importing module is
//! redirected through bytes of the same form.

use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::rust_std::Redirect;

/// Padding bytes before each function.
pub const BEFORE: usize = 16;
/// Padding bytes at its entry, after an `endbr64` if there is one.
pub const INSIDE: usize = 2;
/// Maximum number of functions in one answer.
pub const FUNCTIONS: usize = 4096;
/// Maximum number of calls of Rust's standard library in one answer: they take the place of the functions.
pub const REDIRECTS: usize = FUNCTIONS * size_of::<Function>() / size_of::<Redirect>();

/// The states of an inquiry: in [`Inquiry::state`].
pub mod state {
    /// There is no inquiry, or its answer was read.
    pub const IDLE: u32 = 0;
    /// The recorder must answer.
    pub const ASKED: u32 = 1;
    /// The runtime must read the answer.
    pub const ANSWERED: u32 = 2;
}

/// The subjects of an inquiry: in [`Inquiry::about`].
pub mod about {
    /// Functions that the module defines.
    pub const DEFINED: u32 = 0;
    /// Functions that the module imports.
    pub const IMPORTED: u32 = 1;
    /// Calls of Rust's standard library; the answer consists of [`Redirect`](crate::rust_std::Redirect).
    pub const RUST_STD: u32 = 2;
}

/// An inquiry about a module, and the answer.
#[repr(C)]
#[derive(Debug)]
pub struct Inquiry {
    /// Whether any functions are to be recorded; set before the subject starts.
    pub wanted: AtomicU32,
    /// The process that inquires; 0 if none.
    pub asker: AtomicU32,
    /// One of [`state`].
    pub state: AtomicU32,
    /// One of [`about`].
    pub about: AtomicU32,
    /// Number of functions in the answer.
    pub count: AtomicU32,
    /// Number of functions whose code or GOT entry could not be patched.
    pub refused: AtomicU32,
    /// The address of the module.
    pub start: AtomicU64,
    /// Length of the path in bytes.
    pub len: AtomicU32,
    /// The module's path.
    pub path: [u8; 1024],
    /// The answer.
    pub functions: [Function; FUNCTIONS],
}

/// Set in [`Function::flags`]: only the call is recorded. The function may return twice or never,
/// or it inspects its return address, so its return must not be intercepted.
pub const CALL_ONLY: u32 = 1;
/// Set in [`Function::flags`]: the GOT entry is write-protected.
pub const PROTECTED: u32 = 2;

/// A function whose calls are to be recorded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The offset of the function or of its GOT entry, relative to the module's lowest address.
    pub offset: u64,
    /// Its number; functions with the same name have the same number.
    pub number: u32,
    /// [`CALL_ONLY`] and [`PROTECTED`].
    pub flags: u32,
    /// By argument: the index of its register in the calling convention (0 to 5), or [`NOWHERE`].
    pub registers: [u8; 6],
    /// Length of the readable name in bytes.
    pub len: u16,
    /// The readable name, a zero, the linkage name, a zero.
    pub names: [u8; NAMES],
}

/// Bytes for the names of a function.
pub const NAMES: usize = 488;

impl Function {
    /// The readable (demangled) name.
    pub fn name(&self) -> &[u8] {
        &self.names[..(self.len as usize).min(NAMES)]
    }

    /// The linkage name and everything after it, terminated by a zero.
    pub fn linkage(&self) -> &[u8] {
        &self.names[(self.len as usize + 1).min(NAMES)..]
    }
}

/// In [`Function::registers`]: the compiler has optimized the argument away.
pub const NOWHERE: u8 = 0xff;

const _: () = assert!(size_of::<Function>() == 512);
