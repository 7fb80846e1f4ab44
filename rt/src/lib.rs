//! Norn's runtime: linked into every subject in the place of ThreadSanitizer's.
//!
//! Compiled code calls a hook before each memory access; calls of the thread, lock, memory and
//! process functions of libc come through here on their way. In a process that is being recorded
//! each of them leaves an event in the arena that the recorder shares ([`norn_abi::arena`]);
//! otherwise the hooks return at once and the calls pass straight on.
//!
//! Rules of the house: no allocation, no libc function that could allocate, lock or set `errno`
//! on a recorded path, and nothing but straight-line code in the access hooks ([`hook`]).
#![no_std]
#![warn(clippy::missing_safety_doc)]

mod arena;
mod atomic;
mod block;
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
mod real;
mod sys;
mod thread;
mod tls;

/// Panics cannot happen; if one does, the subject must not go on in a state we do not know.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::say("norn: the runtime has a bug and stops the program\n");
    loop {
        // SAFETY: ends the process.
        unsafe { sys::call(sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
    }
}

// The prebuilt `core` names a personality routine for unwinding. None of our functions have
// anything to clean up, so it says "go on"; hidden, so that a subject may have its own.
core::arch::global_asm!(
    ".weak rust_eh_personality",
    ".hidden rust_eh_personality",
    ".type rust_eh_personality,@function",
    "rust_eh_personality:",
    "mov eax, 8",
    "ret",
    ".size rust_eh_personality, . - rust_eh_personality",
);

// By this note a program that was stripped still shows that it was built for us.
core::arch::global_asm!(
    ".pushsection .note.norn,\"aR\",@note",
    ".p2align 2",
    ".long 5, 0, 1",
    ".asciz \"Norn\"",
    ".p2align 2",
    ".popsection",
);
