//! Interceptors of the libc functions that create, synchronise or end threads, memory and
//! processes.
//!
//! There is one file per family. Each interceptor calls the real function and records the event. A
//! release takes its sequence number before the call and an acquire after it, so that the numbers
//! order them as they happened. A stub passes the return address of the call as an additional
//! argument ([`interpose`]), or inspects the call and jumps to the real function ([`tap`]) where
//! the runtime must not have a frame on the stack.

pub mod access;
pub mod alloc;
pub mod annotated_lock;
pub mod annotation;
pub mod barrier;
pub mod c11;
pub mod chance;
pub mod child;
pub mod clock;
pub mod cond;
#[cfg(not(feature = "static"))]
pub mod container;
#[cfg(not(feature = "static"))]
pub mod environment;
pub mod event_file;
pub mod failure;
pub mod fiber;
pub mod file_change;
pub mod format;
pub mod fortified;
pub mod futex;
#[cfg(not(feature = "static"))]
pub mod gomp;
#[cfg(not(feature = "static"))]
pub mod gomp_loop;
pub mod guard;
pub mod identity;
pub mod ignore;
pub mod io;
pub mod jump;
pub mod kernel_lock;
pub mod kill;
#[cfg(not(feature = "static"))]
pub mod kmpc;
#[cfg(not(feature = "static"))]
pub mod kmpc_loop;
#[cfg(not(feature = "static"))]
pub mod kmpc_task;
pub mod load;
pub mod lock;
pub mod map;
pub mod once;
#[cfg(not(feature = "static"))]
pub mod openmp;
pub mod path;
pub mod poll;
pub mod process;
pub mod sanitizer;
pub mod seed;
pub mod semaphore;
pub mod signal;
pub mod signal_mask;
pub mod sleep;
pub mod socket;
pub mod sort;
pub mod static_buffer;
pub mod stdio;
pub mod string;
pub mod threads;
pub mod timer;
pub mod timer_file;
pub mod timer_thread;
pub mod vector;
mod writers_first;

/// The symbol name by which the linker finds an interposed function.
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
/// the return address as an additional argument. The symbol is weak, so that a program may define a
/// function of that name.
macro_rules! interpose {
    ($($name:ident($count:tt) => $function:path;)*) => {
        $crate::intercept::stubs! { $crate::capture::capture!(); $($name($count) => $function;)* }
    };
}

/// Like [`interpose`], for functions that libc calls before a static program has thread-local words: the
/// state of the thread is not captured there.
macro_rules! interpose_early {
    ($($name:ident($count:tt) => $function:path;)*) => {
        $crate::intercept::stubs! { ""; $($name($count) => $function;)* }
    };
}

/// The stubs of [`interpose`], with their first instructions.
macro_rules! stubs {
    ($first:expr; $($name:ident($count:tt) => $function:path;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", $crate::intercept::symbol!($name)),
            concat!(".type ", $crate::intercept::symbol!($name), ",@function"),
            concat!($crate::intercept::symbol!($name), ":"),
            $first,
            concat!("mov ", $crate::intercept::register!($count), ", qword ptr [rsp]"),
            "jmp {function}",
            concat!(".size ", $crate::intercept::symbol!($name), ", . - ", $crate::intercept::symbol!($name)),
            function = sym $function,
        );
    )* };
}

/// `name => function;`: like [`interpose`], for functions with six arguments. No register is left,
/// so the stub puts the return address on the stack as the seventh argument.
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

/// `name => function;`: a call of `name` first calls `function(return address, first argument,
/// stack pointer of the caller)`. That function returns the address to continue at, with the stack
/// and the arguments unchanged.
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

/// `name => function;`: in a recorded thread, calls of `name` go to `function`, which gets the same
/// arguments and finds the return address in the thread's state; in others, to the library. For the
/// functions of a library that the program may not have.
#[cfg(not(feature = "static"))]
macro_rules! replace {
    ($($name:ident => $function:ident;)*) => { $(
        #[allow(non_snake_case, reason = "the linker's name")]
        mod $name {
            use crate::{intercept, real, thread};

            static REAL: real::Symbol = real::Symbol::new(concat!(stringify!($name), "\0"));

            /// # Safety
            /// Called by the stub, before the call continues.
            unsafe extern "C" fn look(pc: usize) -> usize {
                let Some(slot) = thread::recorded() else { return REAL.required() };
                // SAFETY: the slot is the current thread's.
                unsafe { (*thread::own(slot)).call_pc = pc };
                super::$function as *const () as usize
            }

            intercept::tap! { $name => look; }
        }
    )* };
}

#[cfg(not(feature = "static"))]
pub(crate) use replace;
pub(crate) use {interpose, interpose_early, interpose_six, register, stubs, symbol, tap};
