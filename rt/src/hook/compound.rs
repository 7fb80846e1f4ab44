//! The hooks of accesses that read and then write, as two accesses.

use core::arch::global_asm;

use super::plain;

/// Exports the hooks.
macro_rules! compound {
    ($($name:literal $log2:literal;)*) => { $(
        global_asm!(
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "mov rsi, qword ptr [rsp]",
            "push rdi",
            "push rsi",
            "sub rsp, 8",
            "mov rdx, qword ptr fs:[norn_slot@tpoff]",
            "mov rax, qword ptr [rdx]",
            "call qword ptr [rax + 8 * {read}]",
            "add rsp, 8",
            "pop rsi",
            "pop rdi",
            "mov rdx, qword ptr fs:[norn_slot@tpoff]",
            "mov rax, qword ptr [rdx]",
            "jmp qword ptr [rax + 8 * {write}]",
            concat!(".size ", $name, ", . - ", $name),
            read = const plain(false, $log2),
            write = const plain(true, $log2),
        );
    )* };
}

compound! {
    "__tsan_read_write1" 0;
    "__tsan_read_write2" 1;
    "__tsan_read_write4" 2;
    "__tsan_read_write8" 3;
    "__tsan_read_write16" 4;
    "__tsan_unaligned_read_write2" 1;
    "__tsan_unaligned_read_write4" 2;
    "__tsan_unaligned_read_write8" 3;
    "__tsan_unaligned_read_write16" 4;
}
