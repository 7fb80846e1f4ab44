//! Functions of libc's streams that read or write a buffer of the program: libc is not instrumented, so
//! the buffer is recorded here. In a controlled run another thread may run before.

use core::ffi::c_int;

use norn_abi::{Kind, lane::Content};

use super::{format::reads_text, interpose};
use crate::{
    block::{begin, touch, touched},
    real, thread,
};

/// Records that a stream is about to be used. Threads may use one at the same time, since libc locks it, but not after
/// `fclose` has freed it. The standard streams are never freed.
///
/// # Safety
/// None but that of recording.
pub(super) unsafe fn uses(stream: usize, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: libc's variables are always valid; the slot is the current thread's.
    unsafe {
        if ![real::stdin, real::stdout, real::stderr].contains(&stream) {
            touch(slot, Kind::RangeRead, stream, size_of::<c_int>(), pc, Content::None);
        }
    }
}

/// Makes a call that writes to a buffer; `len` is how much, by its result.
///
/// # Safety
/// `call` writes at `buffer`, at most `room` bytes.
pub(super) unsafe fn writes<T: Copy>(
    (buffer, room): (usize, usize),
    pc: usize,
    call: impl FnOnce() -> T,
    len: impl FnOnce(T) -> usize,
) -> T {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the call is guaranteed by the caller.
    unsafe {
        // How much is written is not known yet, but at least one byte mostly is.
        begin(slot, Kind::RangeWrite, buffer, room.min(1), pc);
        // The call may overwrite what the thread wrote last.
        (*slot).lane.settle_any();
        // The buffer of a stream is libc's own; its allocation would come between this and the event.
        let result = thread::quietly(slot, call);
        touched(slot, Kind::RangeWrite, buffer, len(result).min(room), pc, Content::Now);
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fread(
    buffer: usize,
    size: usize,
    count: usize,
    stream: usize,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        uses(stream, pc);
        let real = || real::fread()(buffer, size, count, stream);
        writes((buffer, size.saturating_mul(count)), pc, real, |items| items.saturating_mul(size))
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fgets(buffer: usize, size: c_int, stream: usize, pc: usize) -> usize {
    let room = usize::try_from(size).unwrap_or(0);
    // SAFETY: guaranteed by the caller; a result is a text in the buffer.
    unsafe {
        uses(stream, pc);
        let len = |text: usize| if text == 0 { 0 } else { real::strlen()(text) + 1 };
        writes((buffer, room), pc, || real::fgets()(buffer, size, stream), len)
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fwrite(
    buffer: usize,
    size: usize,
    count: usize,
    stream: usize,
    pc: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        uses(stream, pc);
        if let Some(slot) = thread::recorded() {
            let len = size.saturating_mul(count);
            touch(slot, Kind::RangeRead, buffer, len, pc, Content::Now);
        }
        real::fwrite()(buffer, size, count, stream)
    }
}

/// `name, fixed, moves, list, pc => function;`: defines the variadic function `name`, which has `fixed`
/// arguments before the variable ones, as a call of `function`. After the instructions `moves`, which
/// rearrange the fixed arguments, the register `list` has a `va_list` of the variable ones, and `pc` the
/// return address. The stub saves the registers as a variadic C function does.
macro_rules! variadic {
    ($($name:ident, $fixed:literal, [$($moves:literal)*], $list:literal, $pc:literal => $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", super::symbol!($name)),
            concat!(".type ", super::symbol!($name), ",@function"),
            concat!(super::symbol!($name), ":"),
            ".cfi_startproc",
            "sub rsp, 216",
            ".cfi_adjust_cfa_offset 216",
            "mov qword ptr [rsp + 32], rdi",
            "mov qword ptr [rsp + 40], rsi",
            "mov qword ptr [rsp + 48], rdx",
            "mov qword ptr [rsp + 56], rcx",
            "mov qword ptr [rsp + 64], r8",
            "mov qword ptr [rsp + 72], r9",
            "test al, al",
            "je 2f",
            "movaps xmmword ptr [rsp + 80], xmm0",
            "movaps xmmword ptr [rsp + 96], xmm1",
            "movaps xmmword ptr [rsp + 112], xmm2",
            "movaps xmmword ptr [rsp + 128], xmm3",
            "movaps xmmword ptr [rsp + 144], xmm4",
            "movaps xmmword ptr [rsp + 160], xmm5",
            "movaps xmmword ptr [rsp + 176], xmm6",
            "movaps xmmword ptr [rsp + 192], xmm7",
            "2:",
            // The list: how many bytes of the saved registers are used, integers and others; the
            // arguments on the stack; the saved registers.
            concat!("mov dword ptr [rsp], ", $fixed, " * 8"),
            "mov dword ptr [rsp + 4], 48",
            "lea rax, [rsp + 224]",
            "mov qword ptr [rsp + 8], rax",
            "lea rax, [rsp + 32]",
            "mov qword ptr [rsp + 16], rax",
            $($moves,)*
            concat!("mov ", $list, ", rsp"),
            concat!("mov ", $pc, ", qword ptr [rsp + 216]"),
            "call {function}",
            "add rsp, 216",
            ".cfi_adjust_cfa_offset -216",
            "ret",
            ".cfi_endproc",
            concat!(".size ", super::symbol!($name), ", . - ", super::symbol!($name)),
            function = sym $function,
        );
    )* };
}

pub(super) use variadic;

/// Defines functions that write a text to a stream; the first argument is the text.
macro_rules! puts {
    ($($name:ident($($stream:ident)?);)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name(text: usize, $($stream: usize,)? pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                $(uses($stream, pc);)?
                reads_text(text, usize::MAX, pc);
                real::$name()(text, $($stream)?)
            }
        }
    )* };
}

puts! {
    puts();
    fputs(stream);
    fputs_unlocked(stream);
}

/// `getdelim`; `line` points to the buffer, which the call may replace.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getdelim(
    line: usize,
    size: usize,
    end: c_int,
    stream: usize,
    pc: usize,
) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(slot) = thread::recorded() else {
            return real::getdelim()(line, size, end, stream);
        };
        uses(stream, pc);
        // The scheduler is not asked: an allocation may be the next event.
        (*slot).lane.settle_any();
        let result = real::getdelim()(line, size, end, stream);
        if let Ok(len) = usize::try_from(result) {
            let buffer = *(line as *const usize);
            touched(slot, Kind::RangeWrite, buffer, len + 1, pc, Content::Now);
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn getline(line: usize, size: usize, stream: usize, pc: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { getdelim(line, size, c_int::from(b'\n'), stream, pc) }
}

interpose! {
    fread(4) => fread;
    fwrite(4) => fwrite;
    fgets(3) => fgets;
    puts(1) => puts;
    fputs(2) => fputs;
    fputs_unlocked(2) => fputs_unlocked;
    getline(3) => getline;
    getdelim(4) => getdelim;
    __getdelim(4) => getdelim;
}
