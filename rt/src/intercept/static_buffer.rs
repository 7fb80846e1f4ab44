//! Functions that return a buffer of libc which their next call overwrites, in whatever thread: POSIX
//! calls them not thread-safe. libc is not instrumented, so the buffer is recorded here as written. What
//! the program reads in it is recorded by the program.

use core::cell::UnsafeCell;

use norn_abi::{Kind, arena::ThreadSlot, lane::Content};

use super::{interpose, string::bounded};
use crate::{
    block::{self, touched},
    control, real, thread,
};

/// What a function returns.
enum Returned {
    /// A structure of this size.
    Structure(usize),
    /// A text.
    Text,
}

/// Makes a call that overwrites a buffer of libc and returns its address.
///
/// # Safety
/// The call returns null, or the address of such a buffer.
unsafe fn overwrites(returned: &Returned, pc: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe {
        control::before(slot, Kind::RangeWrite, pc, 0);
        (*slot).lane.settle_any();
        // What libc reads and allocates inside, such as the rules of a time zone, is its own.
        let buffer = thread::quietly(slot, call);
        if buffer != 0 {
            let len = match *returned {
                Returned::Structure(size) => size,
                Returned::Text => real::strlen()(buffer) + 1,
            };
            touched(slot, Kind::RangeWrite, buffer, len, pc, Content::Now);
        }
        buffer
    }
}

/// Defines functions with one argument, and what they return.
macro_rules! returns {
    ($($name:ident($type:ty) $returned:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(argument: $type, pc: usize) -> usize {
            // SAFETY: guaranteed by the caller.
            unsafe { overwrites(&$returned, pc, || real::$name()(argument)) }
        }
    )* };
}

/// Size of `struct tm`.
const TM: usize = 56;

returns! {
    localtime(usize) Returned::Structure(TM);
    gmtime(usize) Returned::Structure(TM);
    asctime(usize) Returned::Text;
    ctime(usize) Returned::Text;
}

/// Sizes of `struct passwd`, `struct group` and `struct hostent`.
#[cfg(not(feature = "static"))]
const PASSWD: usize = 48;
#[cfg(not(feature = "static"))]
const GROUP: usize = 32;
#[cfg(not(feature = "static"))]
const HOST: usize = 32;

/// The same, for functions that a static program does not have: they need the shared libraries of libc.
#[cfg(not(feature = "static"))]
macro_rules! looks_up {
    ($($name:ident($type:ty) $size:expr;)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(argument: $type, pc: usize) -> usize {
            type Function = unsafe extern "C-unwind" fn($type) -> usize;
            static REAL: real::Symbol = real::Symbol::new(concat!(stringify!($name), "\0"));
            // SAFETY: guaranteed by the caller; the function has this type.
            unsafe {
                let real = core::mem::transmute::<usize, Function>(REAL.required());
                overwrites(&Returned::Structure($size), pc, || real(argument))
            }
        }
    )* };
}

#[cfg(not(feature = "static"))]
looks_up! {
    getpwnam(usize) PASSWD;
    getpwuid(u32) PASSWD;
    getgrnam(usize) GROUP;
    getgrgid(u32) GROUP;
    gethostbyname(usize) HOST;
}

/// Where `strtok` continues. That of libc cannot be seen, so the runtime has its own.
struct Rest(UnsafeCell<usize>);

// SAFETY: as for `strtok` itself: a program that uses it in two threads at the same time has a race.
unsafe impl Sync for Rest {}

/// Reports name variables in a module of this name by the variable alone, with spaces.
mod named {
    use super::{Rest, UnsafeCell};

    #[allow(non_upper_case_globals, reason = "the name in reports")]
    pub(super) static strtok_state: Rest = Rest(UnsafeCell::new(0));
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn strtok(text: usize, ends: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { strtok_r(text, ends, named::strtok_state.0.get() as usize, pc) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn strtok_r(text: usize, ends: usize, rest: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else { return real::strtok_r()(text, ends, rest) };
        if text == 0 {
            block::touch(slot, Kind::RangeRead, rest, size_of::<usize>(), pc, Content::Now);
        }
        let from = if text == 0 { *(rest as *const usize) } else { text };
        control::before(slot, Kind::RangeRead, pc, from);
        let token = real::strtok_r()(text, ends, rest);
        let next = *(rest as *const usize);
        scanned(slot, (from, token, next), pc);
        touched(slot, Kind::RangeWrite, rest, size_of::<usize>(), pc, Content::Now);
        token
    }
}

/// Records what the search for a token has read, and that the token got an end.
///
/// # Safety
/// `strtok_r` has just found `token`, or nothing, from `from` on, and continues at `next`.
unsafe fn scanned(slot: *mut ThreadSlot, (from, token, next): (usize, usize, usize), pc: usize) {
    if from == 0 || next < from {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let len = if token == 0 { bounded(from, usize::MAX) + 1 } else { next - from };
        touched(slot, Kind::RangeRead, from, len, pc, Content::Now);
        if token != 0 && next > token && *(next as *const u8).sub(1) == 0 {
            touched(slot, Kind::RangeWrite, next - 1, 1, pc, Content::Now);
        }
    }
}

interpose! {
    localtime(1) => localtime;
    gmtime(1) => gmtime;
    asctime(1) => asctime;
    ctime(1) => ctime;
    strtok(2) => strtok;
    strtok_r(3) => strtok_r;
    __strtok_r(3) => strtok_r;
}

#[cfg(not(feature = "static"))]
interpose! {
    getpwnam(1) => getpwnam;
    getpwuid(1) => getpwuid;
    getgrnam(1) => getgrnam;
    getgrgid(1) => getgrgid;
    gethostbyname(1) => gethostbyname;
}
