//! The hook of writes to the pointer to the virtual table, which constructors and destructors set.
//!
//! A destructor begins by setting it once more to the value that it has. Other threads may still call virtual
//! functions then, if the destructor is the one that waits for them: a write of the same value is nothing that
//! they can see, so it is not an event.

use core::arch::global_asm;

use super::vptr;

global_asm!(
    ".globl __tsan_vptr_update",
    ".type __tsan_vptr_update,@function",
    "__tsan_vptr_update:",
    "cmp qword ptr [rdi], rsi",
    "je 2f",
    "mov rdx, qword ptr fs:[norn_slot@tpoff]",
    "mov rsi, qword ptr [rsp]",
    "mov rax, qword ptr [rdx]",
    "jmp qword ptr [rax + 8 * {kind}]",
    "2:",
    "ret",
    ".size __tsan_vptr_update, . - __tsan_vptr_update",
    kind = const vptr(true),
);
