//! Functions of libc's streams and formatted output that read or write a buffer of the program: libc is
//! not instrumented, so the buffer is recorded here. In a controlled run another thread may run before.
//! The texts that a format refers to are not recorded.

use core::ffi::c_int;

use norn_abi::{Kind, lane::Content};

use super::interpose;
use crate::{
    block::{begin, touch, touched},
    real, thread,
};

/// Makes a call that writes to a buffer; `len` is how much, by its result.
///
/// # Safety
/// `call` writes at `buffer`, at most `room` bytes.
unsafe fn writes<T: Copy>(
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
        let result = call();
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
        if let Some(slot) = thread::recorded() {
            let len = size.saturating_mul(count);
            touch(slot, Kind::RangeRead, buffer, len, pc, Content::Now);
        }
        real::fwrite()(buffer, size, count, stream)
    }
}

/// `vsnprintf`; `list` is a `va_list`.
///
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
        let real = || real::vsnprintf()(buffer, size, format, list);
        writes((buffer, size), pc, real, |len| usize::try_from(len).map_or(0, |it| it + 1))
    }
}

/// `vsprintf`; `list` is a `va_list`.
///
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

variadic! {
    snprintf, "3", [], "rcx", "r8" => vsnprintf;
    sprintf, "2", [], "rdx", "rcx" => vsprintf;
    // The third argument, which says how strict the checks are, is dropped; the next two move up.
    __snprintf_chk, "5", ["mov rdx, rcx" "mov rcx, r8"], "r8", "r9" => vsnprintf_checked;
}

interpose! {
    fread(4) => fread;
    fwrite(4) => fwrite;
    fgets(3) => fgets;
    vsnprintf(4) => vsnprintf;
    vsprintf(3) => vsprintf;
}
