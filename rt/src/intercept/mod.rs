//! The functions of libc that make, order or end threads, memory and processes.
//!
//! One file per family. Each function calls the real one and records what happened: a release
//! takes its sequence number before, an acquire after, so that the numbers order them as they
//! were. A stub hands over where the call came from as one more argument ([`interpose`]) or looks
//! and jumps on ([`tap`]) where a call must not have a frame of ours on the stack.

pub mod alloc;
pub mod annotation;
pub mod barrier;
pub mod c11;
pub mod chance;
pub mod clock;
pub mod cond;
pub mod failure;
pub mod fortified;
pub mod futex;
pub mod guard;
pub mod io;
pub mod jump;
pub mod load;
pub mod lock;
pub mod map;
pub mod once;
pub mod poll;
pub mod process;
pub mod semaphore;
pub mod signal;
pub mod sleep;
pub mod socket;
pub mod string;
pub mod threads;

/// The name by which the linker finds an interposed function.
#[cfg(not(feature = "static"))]
macro_rules! symbol {
    ($name:ident) => {
        stringify!($name)
    };
}
#[cfg(feature = "static")]
macro_rules! symbol {
    ($name:ident) => {
        concat!("__wrap_", stringify!($name))
    };
}

/// The register of the argument after the first `n`.
macro_rules! register {
    (0) => {
        "rdi"
    };
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
}

/// `name(n) => function;`: calls of `name`, which has `n` arguments, go to `function`, which gets
/// the place of the call as one more. Weak, so that a program may have a function of that name.
macro_rules! interpose {
    ($($name:ident($count:tt) => $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", $crate::intercept::symbol!($name)),
            concat!(".type ", $crate::intercept::symbol!($name), ",@function"),
            concat!($crate::intercept::symbol!($name), ":"),
            concat!("mov ", $crate::intercept::register!($count), ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $crate::intercept::symbol!($name), ", . - ", $crate::intercept::symbol!($name)),
            function = sym $function,
        );
    )* };
}

/// `name => function;`: the same for functions with six arguments. No register is left, so the
/// stub puts the place of the call on the stack, where the seventh argument belongs.
macro_rules! interpose_six {
    ($($name:ident => $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", $crate::intercept::symbol!($name)),
            concat!(".type ", $crate::intercept::symbol!($name), ",@function"),
            concat!($crate::intercept::symbol!($name), ":"),
            ".cfi_startproc",
            "push qword ptr [rsp]",
            ".cfi_adjust_cfa_offset 8",
            "call {function}",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $crate::intercept::symbol!($name), ", . - ", $crate::intercept::symbol!($name)),
            function = sym $function,
        );
    )* };
}

/// `name => function;`: a call of `name` first calls `function(place of the call, first
/// argument, stack pointer of the caller)`, which returns where to go on, with the stack and the arguments as they were.
macro_rules! tap {
    ($($name:ident => $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", $crate::intercept::symbol!($name)),
            concat!(".type ", $crate::intercept::symbol!($name), ",@function"),
            concat!($crate::intercept::symbol!($name), ":"),
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            "mov rsi, rdi",
            "mov rdi, qword ptr [rsp + 56]",
            "lea rdx, [rsp + 64]",
            "call {function}",
            "mov r11, rax",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            "jmp r11",
            concat!(".size ", $crate::intercept::symbol!($name), ", . - ", $crate::intercept::symbol!($name)),
            function = sym $function,
        );
    )* };
}

use tap;
pub(crate) use {interpose, interpose_six, register, symbol};
