//! Formatted output. libc reads the texts that a format refers to by `%s`, and is not instrumented, so
//! they are recorded here, before the call. Texts of the program that are constant cannot change, and
//! are left out.

use core::ffi::c_int;

use norn_abi::{Kind, lane::Content};

use super::{
    interpose,
    stdio::{uses, variadic, writes},
    string::bounded,
};
use crate::{block, real, thread};

/// A `va_list`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Arguments {
    /// How many bytes of the saved registers are used: those for integers, then those for numbers with
    /// fractions.
    integers: u32,
    fractions: u32,
    stack: usize,
    saved: usize,
}

impl Arguments {
    /// The next integer or pointer.
    ///
    /// # Safety
    /// There is one.
    unsafe fn integer(&mut self) -> usize {
        const END: u32 = 48;
        let at = if self.integers < END {
            self.integers += 8;
            self.saved + self.integers as usize - 8
        } else {
            self.stack += 8;
            self.stack - 8
        };
        // SAFETY: guaranteed by the caller.
        unsafe { (at as *const usize).read() }
    }

    /// Skips a `double`.
    fn skip_double(&mut self) {
        const END: u32 = 176;
        if self.fractions < END {
            self.fractions += 16;
        } else {
            self.stack += 8;
        }
    }

    /// Skips a `long double`, which is aligned to 16 bytes.
    fn skip_long_double(&mut self) {
        self.stack = self.stack.next_multiple_of(16) + 16;
    }
}

unsafe extern "C" {
    /// Where the program's first file is mapped, and where its part that can be written begins.
    static __ehdr_start: u8;
    static __preinit_array_start: u8;
}

/// Whether a text is among the constants of the program.
pub(super) fn is_constant(text: usize) -> bool {
    let (start, end) =
        (&raw const __ehdr_start as usize, &raw const __preinit_array_start as usize);
    (start..end).contains(&text)
}

/// Records that a text is about to be read, of which at most `most` bytes count.
///
/// # Safety
/// `text` is null or a C string, or `most` bytes of it can be read.
pub(super) unsafe fn reads_text(text: usize, most: usize, pc: usize) {
    let Some(slot) = thread::recorded().filter(|_| text != 0 && !is_constant(text)) else { return };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let len = || bounded(text, most).saturating_add(1).min(most);
        // Another thread may run first, and change the length.
        block::begin(slot, Kind::RangeRead, text, len(), pc);
        block::touched(slot, Kind::RangeRead, text, len(), pc, Content::Now);
    }
}

/// Records the texts that a call with a format is about to read. What follows a part of the format that
/// is not known here is left out.
///
/// # Safety
/// The format and its arguments are those of a call of `printf`.
unsafe fn reads_texts(format: usize, list: usize, pc: usize) {
    if format == 0 || thread::recorded().is_none() {
        return;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut arguments = *(list as *const Arguments);
        let mut at = format;
        let byte = |at: usize| (at as *const u8).read();
        while byte(at) != 0 {
            at += 1;
            if byte(at - 1) != b'%' {
                continue;
            }
            let Some(next) = conversion(at, &mut arguments, pc) else { return };
            at = next;
        }
    }
}

/// Handles one conversion, which begins at `at`; returns the position behind it.
///
/// # Safety
/// As for [`reads_texts`].
unsafe fn conversion(start: usize, arguments: &mut Arguments, pc: usize) -> Option<usize> {
    let (mut at, mut most, mut wide, mut long_double) = (start, usize::MAX, false, false);
    // SAFETY: guaranteed by the caller.
    unsafe {
        loop {
            let byte = (at as *const u8).read();
            at += 1;
            match byte {
                b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'\'' | b'h' | b'j' | b'z' | b't' => {}
                b'l' | b'q' => wide = true,
                b'L' => long_double = true,
                b'*' => {
                    arguments.integer();
                }
                b'.' => (at, most) = precision(at, arguments),
                b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'p' | b'n' => {
                    arguments.integer();
                    return Some(at);
                }
                b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                    if long_double {
                        arguments.skip_long_double();
                    } else {
                        arguments.skip_double();
                    }
                    return Some(at);
                }
                b's' => {
                    let text = arguments.integer();
                    if !wide {
                        reads_text(text, most, pc);
                    }
                    return Some(at);
                }
                b'%' | b'm' => return Some(at),
                // Numbered arguments, and what is not known.
                _ => return None,
            }
        }
    }
}

/// The precision that begins at `at`, and the position behind it.
///
/// # Safety
/// As for [`reads_texts`].
unsafe fn precision(start: usize, arguments: &mut Arguments) -> (usize, usize) {
    let (mut at, mut number) = (start, 0usize);
    // SAFETY: guaranteed by the caller.
    unsafe {
        if (at as *const u8).read() == b'*' {
            // A negative one counts as none.
            let given = arguments.integer() as c_int;
            return (at + 1, usize::try_from(given).unwrap_or(usize::MAX));
        }
        while (at as *const u8).read().is_ascii_digit() {
            number = number.saturating_mul(10) + usize::from((at as *const u8).read() - b'0');
            at += 1;
        }
    }
    (at, number)
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn vprintf(format: usize, list: usize, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        reads_texts(format, list, pc);
        real::vprintf()(format, list)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn vfprintf(
    stream: usize,
    format: usize,
    list: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        uses(stream, pc);
        reads_texts(format, list, pc);
        real::vfprintf()(stream, format, list)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn vsnprintf(
    buffer: usize,
    size: usize,
    format: usize,
    list: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        reads_texts(format, list, pc);
        let real = || real::vsnprintf()(buffer, size, format, list);
        writes((buffer, size), pc, real, |len| usize::try_from(len).map_or(0, |it| it + 1))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn vsprintf(
    buffer: usize,
    format: usize,
    list: usize,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        reads_texts(format, list, pc);
        let real = || real::vsprintf()(buffer, format, list);
        writes((buffer, usize::MAX), pc, real, |len| usize::try_from(len).map_or(0, |it| it + 1))
    }
}

/// `__vsnprintf_chk`; `list` is a `va_list`.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn vsnprintf_checked(
    buffer: usize,
    size: usize,
    room: usize,
    format: usize,
    list: usize,
    pc: usize,
) -> c_int {
    if size > room {
        // SAFETY: the function does not return.
        unsafe { real::__chk_fail() };
    }
    // SAFETY: guaranteed by the caller.
    unsafe { vsnprintf(buffer, size, format, list, pc) }
}

variadic! {
    printf, "1", [], "rsi", "rdx" => vprintf;
    fprintf, "2", [], "rdx", "rcx" => vfprintf;
    snprintf, "3", [], "rcx", "r8" => vsnprintf;
    sprintf, "2", [], "rdx", "rcx" => vsprintf;
    // The argument before the format, or before the size of the buffer, says how strict the checks are. It
    // is dropped, and the next ones move up.
    __printf_chk, "2", ["mov rdi, rsi"], "rsi", "rdx" => vprintf;
    __fprintf_chk, "3", ["mov rsi, rdx"], "rdx", "rcx" => vfprintf;
    __snprintf_chk, "5", ["mov rdx, rcx" "mov rcx, r8"], "r8", "r9" => vsnprintf_checked;
}

interpose! {
    vprintf(2) => vprintf;
    vfprintf(3) => vfprintf;
    vsnprintf(4) => vsnprintf;
    vsprintf(3) => vsprintf;
}
