//! Encloses functions of the program in functions of the runtime.
//!
//! The compiler leaves room for a call at the beginning of each function ([`norn_abi::function`]). The runtime writes
//! a call of its own function there, which ends where the enclosed function begins, so that the return
//! address of this call says which one it is. Unlike [`redirect`](super::redirect) this also reaches calls through tables, and
//! jumps.

use norn_abi::function::BEFORE;

use crate::sys;

/// What the compiler leaves inside of a function: an instruction without effect.
const NOTHING: [u8; INSIDE] = [0x66, 0x90];
const INSIDE: usize = norn_abi::function::INSIDE;
/// A call, its distance, and before it the flags.
const CALL: u8 = 0xe8;
const CALL_SIZE: usize = 5;
const FLAGS: usize = CALL_SIZE + size_of::<i32>();
/// A jump to the call.
const JUMP: [u8; INSIDE] = [0xeb, (-((CALL_SIZE + INSIDE) as i8)) as u8];

const _: () = assert!(FLAGS <= BEFORE);

/// Makes a function call `target` instead. Returns where the function itself goes on.
///
/// # Safety
/// The function has room for a call, and no thread executes it now.
pub unsafe fn enclose(function: usize, target: usize, flags: i32) -> Option<usize> {
    // SAFETY: the recorder has found the room in the file.
    unsafe {
        let inside = function as *mut [u8; INSIDE];
        let distance = i32::try_from(target.wrapping_sub(function) as isize).ok()?;
        let first = (function - FLAGS) & !sys::PAGE_MASK;
        let len = function + INSIDE - first;
        if *inside != NOTHING || !sys::protect(first, len, sys::WRITABLE_CODE) {
            return None;
        }
        ((function - FLAGS) as *mut i32).write_unaligned(flags);
        ((function - CALL_SIZE) as *mut u8).write(CALL);
        ((function - CALL_SIZE + 1) as *mut i32).write_unaligned(distance);
        inside.write_volatile(JUMP);
        sys::protect(first, len, sys::CODE);
    }
    Some(function + INSIDE)
}

/// A function that is enclosed.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Enclosed(usize);

/// The first arguments of a function.
pub type Arguments = [usize; 4];

impl Enclosed {
    /// Calls the function itself.
    ///
    /// # Safety
    /// These are its arguments.
    pub unsafe fn call(self, [a, b, c, d]: Arguments) -> usize {
        type Function = unsafe extern "C-unwind" fn(usize, usize, usize, usize) -> usize;
        // SAFETY: guaranteed by the caller. The code begins behind the jump.
        unsafe { core::mem::transmute::<usize, Function>(self.0 + INSIDE)(a, b, c, d) }
    }

    pub fn flags(self) -> i32 {
        // SAFETY: they are before the call that led here.
        unsafe { ((self.0 - FLAGS) as *const i32).read_unaligned() }
    }
}

/// The result of a function that returns a `bool`, of which only the lowest byte is defined.
pub fn is_true(result: usize) -> bool {
    result & 0xff != 0
}

/// `name => function;`: an entry for enclosed functions. It passes the return address and the enclosed
/// function as additional arguments, after four others.
macro_rules! encloses {
    ($($name:ident => $function:path;)*) => { $(
        /// # Safety
        /// As for the function that it jumps to.
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                "pop r9",
                $crate::capture::capture!(),
                "mov r8, qword ptr [rsp]",
                "jmp {function}",
                function = sym $function,
            )
        }
    )* };
}
pub(super) use encloses;
