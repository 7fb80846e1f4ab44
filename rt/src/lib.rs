//! Norn's runtime: linked into every instrumented program in place of ThreadSanitizer's runtime.
//!
//! Compiled code calls a hook before each memory access, and calls of libc's thread, lock, memory
//! and process functions pass through the runtime. In a process that is being recorded each of them
//! writes an event to the arena that it shares with the recorder ([`norn_abi::arena`]); otherwise
//! the hooks return at once and the calls go directly to libc.
//!
//! Rules of this crate: a recorded path neither allocates nor calls a libc function that could
//! allocate, lock or set `errno`, and the access hooks ([`hook`]) contain only straight-line code.
#![no_std]
#![warn(clippy::missing_safety_doc)]

mod arena;
mod atomic;
mod block;
mod capture;
mod channel;
mod collect;
mod control;
mod event;
mod fork;
mod function;
mod handle;
mod hook;
mod input;
mod intercept;
mod libc_check;
mod number;
#[cfg(not(feature = "static"))]
mod omp;
mod own_lock;
mod real;
mod rust_std;
mod shared_memory;
mod signal;
mod sys;
mod task_state;
mod thread;
mod thread_id;
mod tls;

/// Panics cannot happen; if one does, the program must not continue in an unknown state.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::say("norn: the runtime has a bug and stops the program\n");
    loop {
        // SAFETY: ends the process.
        unsafe { sys::call(sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
    }
}

// The prebuilt `core` refers to a personality routine for unwinding. No function of the runtime has
// anything to clean up, so the routine returns "continue unwinding". It is hidden, so that a
// program may have its own.
core::arch::global_asm!(
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality,@function",
    "rust_eh_personality:",
    "mov eax, 8",
    "ret",
    ".size rust_eh_personality, . - rust_eh_personality",
);

// This ELF note identifies an instrumented program even after it was stripped.
core::arch::global_asm!(
    ".pushsection .note.norn,\"aR\",@note",
    ".p2align 2",
    ".long 5, 0, 1",
    ".asciz \"Norn\"",
    ".p2align 2",
    ".popsection",
);
