//! Captures the state of a thread that may be in an endless loop: its registers and its stack. If both
//! are the same in two rounds of the loop, and so is everything that the thread saw in between, it will
//! do the same again.
//!
//! Compiled code calls a hook as it calls any function, so all of its variables are in callee-saved
//! registers or in memory. The stubs of hooks and of intercepted functions save these registers while
//! the thread is watched: those of memory accesses by a table of their own ([`WATCHED`]), so that they
//! cost nothing otherwise, the others after a test.

use core::arch::{asm, global_asm, naked_asm};

use norn_abi::arena::ThreadSlot;

use crate::{arena, control::mix, hook::Table};

global_asm!(
    ".pushsection .tdata.norn,\"awT\",@progbits",
    ".p2align 3",
    ".hidden norn_watched",
    ".globl norn_watched",
    ".type norn_watched,@object",
    ".size norn_watched,8",
    // Whether the thread is watched.
    "norn_watched: .quad 0",
    ".hidden norn_captured",
    ".globl norn_captured",
    ".type norn_captured,@object",
    ".size norn_captured,64",
    // Six registers, the stack pointer, and the number of captures.
    "norn_captured: .quad 0, 0, 0, 0, 0, 0, 0, 0",
    ".hidden norn_behind",
    ".globl norn_behind",
    ".type norn_behind,@object",
    ".size norn_behind,8",
    // The hooks that those of a watched thread continue with.
    "norn_behind: .quad 0",
    ".hidden norn_stack_end",
    ".globl norn_stack_end",
    ".type norn_stack_end,@object",
    ".size norn_stack_end,8",
    // The end of the thread's stack.
    "norn_stack_end: .quad 0",
    ".popsection",
    ".hidden norn_capture",
    ".globl norn_capture",
    ".type norn_capture,@function",
    // Changes no register, so a stub can call it first.
    "norn_capture:",
    "mov qword ptr fs:[norn_captured@tpoff], rbx",
    "mov qword ptr fs:[norn_captured@tpoff + 8], rbp",
    "mov qword ptr fs:[norn_captured@tpoff + 16], r12",
    "mov qword ptr fs:[norn_captured@tpoff + 24], r13",
    "mov qword ptr fs:[norn_captured@tpoff + 32], r14",
    "mov qword ptr fs:[norn_captured@tpoff + 40], r15",
    "mov qword ptr fs:[norn_captured@tpoff + 48], rsp",
    "inc qword ptr fs:[norn_captured@tpoff + 56]",
    "ret",
    ".size norn_capture, . - norn_capture",
);

/// The first instructions of a stub: captures the registers of a watched thread.
macro_rules! capture {
    () => {
        "cmp qword ptr fs:[norn_watched@tpoff], 0\n je 2f\n call norn_capture\n 2:\n"
    };
}
pub(crate) use capture;

/// The hooks of a watched thread: they capture its registers and continue with those behind them.
pub static WATCHED: Table = Table::watching();

/// Continues with the access hook at index `K` of the table behind.
///
/// # Safety
/// Called by a hook of a watched thread.
#[unsafe(naked)]
pub unsafe extern "C" fn access<const K: u16>(_: usize, _: usize, _: *mut ThreadSlot) {
    naked_asm!(
        "call norn_capture",
        "mov rax, qword ptr fs:[norn_behind@tpoff]",
        "jmp qword ptr [rax + 8 * {kind}]",
        kind = const K,
    )
}

/// As [`access`], for the entry of a function.
///
/// # Safety
/// Called by a hook of a watched thread.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(_: usize, _: usize, _: *mut ThreadSlot, _: usize) {
    naked_asm!(
        "mov rax, qword ptr fs:[norn_behind@tpoff]",
        "jmp qword ptr [rax + {enter}]",
        enter = const core::mem::offset_of!(Table, enter),
    )
}

/// As [`access`], for the exit of a function.
///
/// # Safety
/// Called by a hook of a watched thread.
#[unsafe(naked)]
pub unsafe extern "C" fn leave(_: *mut ThreadSlot) {
    naked_asm!(
        "mov rax, qword ptr fs:[norn_behind@tpoff]",
        "jmp qword ptr [rax + {leave}]",
        leave = const core::mem::offset_of!(Table, leave),
    )
}

/// Defines functions that read and write one of the words above.
macro_rules! words {
    ($($get:ident $set:ident $word:literal;)*) => { $(
        fn $get() -> usize {
            let word;
            // SAFETY: reads the thread's own word.
            unsafe {
                asm!(
                    concat!("mov {word}, qword ptr fs:[", $word, "]"),
                    word = out(reg) word,
                    options(nostack, preserves_flags, readonly),
                );
            }
            word
        }

        fn $set(word: usize) {
            // SAFETY: writes the thread's own word.
            unsafe {
                asm!(
                    concat!("mov qword ptr fs:[", $word, "], {word}"),
                    word = in(reg) word,
                    options(nostack, preserves_flags),
                );
            }
        }
    )* };
}

words! {
    is_watched set_watched "norn_watched@tpoff";
    behind set_behind "norn_behind@tpoff";
    stack_end set_stack_end "norn_stack_end@tpoff";
    captures set_captures "norn_captured@tpoff + 56";
}

/// Notes where the stack of the current thread ends.
pub fn start(stack_end: usize) {
    set_stack_end(stack_end);
    set_captures(0);
    set_watched(0);
}

/// Begins or ends to capture the current thread's state at each event.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn watch(slot: *mut ThreadSlot, watched: bool) {
    if (is_watched() != 0) == watched {
        return;
    }
    let watching = (&raw const WATCHED).cast();
    // SAFETY: guaranteed by the caller. Another table than these means that accesses are ignored.
    unsafe {
        let control =
            if arena::is_stopped(slot) { arena::table_of_stopped() } else { arena::table() };
        let control = (&raw const *control).cast();
        if watched && (*slot).table == control {
            set_behind(control as usize);
            (*slot).table = watching;
        } else if !watched && (*slot).table == watching {
            (*slot).table = behind() as *const _;
        }
    }
    set_captures(0);
    set_watched(usize::from(watched));
}

/// A hash of the registers and of the stack of the program's functions, as they were when they were last
/// captured. None if they were not since the last call, or if the stack is too large.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn state(slot: *mut ThreadSlot) -> Option<u64> {
    /// Number of bytes above the stack pointer of the outermost function that may belong to it.
    const FRAME: usize = 4096;
    const MOST: usize = 1 << 16;
    /// The return addresses of the stub and of the capture.
    const RETURNS: usize = 16;
    if captures() == 0 || stack_end() == 0 {
        return None;
    }
    set_captures(0);
    let (words, own): (*const [usize; 7], usize);
    // SAFETY: computes addresses of the thread's own words.
    unsafe {
        asm!(
            "mov {own}, qword ptr fs:[0]",
            "lea {words}, [{own} + norn_captured@tpoff]",
            "lea {own}, [{own} + norn_slot@tpoff]",
            own = out(reg) own,
            words = out(reg) words,
            options(nostack, preserves_flags, readonly),
        );
    }
    // SAFETY: the words are the thread's own; the stack is, too, between its pointer and its end.
    unsafe {
        let registers = &*words;
        let begin = registers[6] + RETURNS;
        let outermost = if (*slot).depth > 0 { (*slot).frames[0].sp } else { begin };
        // The words of the runtime above the stack of a thread change.
        let limit = if own > begin { stack_end().min(own) } else { stack_end() };
        let end = outermost.max(begin).saturating_add(FRAME).min(limit);
        if begin >= end || end - begin > MOST {
            return None;
        }
        let hash = registers.iter().fold(0, |hash, it| mix(hash ^ *it as u64));
        let stack = (begin & !7..end & !7).step_by(8);
        Some(stack.fold(hash, |hash, at| mix(hash ^ (at as *const u64).read_volatile())))
    }
}
