//! Failed assertions. Their text is kept in the outcome for the tool that judges the run.

use core::{ffi::c_int, sync::atomic::Ordering};

use norn_abi::Kind;

use super::interpose;
use crate::{arena, event, real, thread};

/// Appends a C string to the outcome's text.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn say(text: *const u8) {
    let outcome = arena::outcome();
    let mut len = outcome.text_len.load(Ordering::Relaxed) as usize;
    // SAFETY: the buffer is in the arena. If two threads fail an assertion at the same time, their
    // texts are mixed, which is harmless.
    unsafe {
        let out = (&raw const outcome.text).cast_mut().cast::<u8>();
        let mut at = text;
        while !at.is_null() && *at != 0 && len < outcome.text.len() {
            out.add(len).write_volatile(*at);
            (len, at) = (len + 1, at.add(1));
        }
    }
    outcome.text_len.store(len as u32, Ordering::Release);
}

/// # Safety
/// A plan is or was in force, so that there is an outcome.
unsafe fn number(mut value: u32) {
    let mut digits = [0; 11];
    let mut at = digits.len() - 1;
    while at > 0 && (value > 0 || at == digits.len() - 1) {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    // SAFETY: the text ends with a NUL byte.
    unsafe { say(digits[at..].as_ptr()) };
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn assert_fail(
    expression: *const u8,
    file: *const u8,
    line: u32,
    function: *const u8,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller. libc's function then aborts by an internal call, which the
    // runtime does not intercept.
    unsafe {
        let slot = thread::recorded();
        if let Some(slot) = slot {
            event::put(slot, Kind::Abort, pc, 0, &[]);
        }
        if slot.is_some() && arena::outcome().text_len.load(Ordering::Relaxed) == 0 {
            arena::outcome().process.store(arena::process_number(), Ordering::Relaxed);
            say(file);
            say(c":".as_ptr().cast());
            number(line);
            say(c": ".as_ptr().cast());
            say(function);
            say(c": Assertion `".as_ptr().cast());
            say(expression);
            say(c"' failed.".as_ptr().cast());
        }
        real::__assert_fail()(expression as usize, file as usize, line, function as usize)
    }
}

interpose! { __assert_fail(4) => assert_fail; }
