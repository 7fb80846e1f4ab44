//! The machine code around [`super::called`] and [`super::returned`]. It preserves all registers.
//!
//! An unwinder (for an exception, or for a cancelled thread) finds the address of `norn_return`
//! where a return address should be. The unwind information of `norn_return` states that the
//! caller's frame is the same and that its return address is where the unwinder found ours. Before
//! the unwinder reads it, it calls the personality routine, which restores the original address
//! there.

use core::{arch::global_asm, ffi::c_void};

use super::shadow;

macro_rules! stub {
    ($name:literal, $before:literal, $($operand:ident = $path:path),*) => {
        global_asm!(
            concat!(".hidden ", $name),
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            ".cfi_startproc",
            $before,
            "push rax", "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9",
            "push r10", "push r11",
            ".cfi_adjust_cfa_offset 72",
            "sub rsp, 256",
            ".cfi_adjust_cfa_offset 256",
            "movups [rsp], xmm0", "movups [rsp + 16], xmm1", "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3", "movups [rsp + 64], xmm4", "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6", "movups [rsp + 112], xmm7", "movups [rsp + 128], xmm8",
            "movups [rsp + 144], xmm9", "movups [rsp + 160], xmm10", "movups [rsp + 176], xmm11",
            "movups [rsp + 192], xmm12", "movups [rsp + 208], xmm13", "movups [rsp + 224], xmm14",
            "movups [rsp + 240], xmm15",
            "mov rdi, rsp",
            "push rbx",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset rbx, 0",
            "mov rbx, rsp",
            ".cfi_def_cfa_register rbx",
            "and rsp, -16",
            "cld",
            "call {function}",
            "mov rsp, rbx",
            ".cfi_def_cfa_register rsp",
            "pop rbx",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore rbx",
            "movups xmm0, [rsp]", "movups xmm1, [rsp + 16]", "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]", "movups xmm4, [rsp + 64]", "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]", "movups xmm7, [rsp + 112]", "movups xmm8, [rsp + 128]",
            "movups xmm9, [rsp + 144]", "movups xmm10, [rsp + 160]", "movups xmm11, [rsp + 176]",
            "movups xmm12, [rsp + 192]", "movups xmm13, [rsp + 208]", "movups xmm14, [rsp + 224]",
            "movups xmm15, [rsp + 240]",
            "add rsp, 256",
            ".cfi_adjust_cfa_offset -256",
            "pop r11", "pop r10", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            "pop rax",
            ".cfi_adjust_cfa_offset -72",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            $($operand = sym $path,)*
        );
    };
}

// On the stack: the return address of the inserted call, and above it the function's own one.
stub!("norn_call", "norn_call: .cfi_def_cfa_offset 16", function = super::called);

// Nothing is on the stack. The byte before the label is for unwinders, which look up the return
// address minus one.
stub!(
    "norn_return",
    ".cfi_personality 0x1b, {personality}
     .cfi_def_cfa rsp, 0
     .cfi_offset rip, -8
     nop
     norn_return: sub rsp, 8
     .cfi_adjust_cfa_offset 8",
    function = super::returned,
    personality = personality
);

// The symbol is absent in programs that cannot throw.
global_asm!(".weak _Unwind_GetCFA");

unsafe extern "C" {
    fn norn_call();
    fn norn_return();
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

/// The address that a traced function calls.
pub fn call() -> usize {
    norn_call as *const () as usize
}

/// The address that replaces the return address of a traced function.
pub fn comeback() -> usize {
    norn_return as *const () as usize
}

/// Personality routine: an exception passes through a function that was to return to the runtime.
///
/// # Safety
/// Called by the unwinder, with a valid context.
unsafe extern "C" fn personality(
    _version: i32,
    _actions: i32,
    _class: u64,
    _exception: *mut c_void,
    context: *mut c_void,
) -> i32 {
    const CONTINUE_UNWIND: i32 = 8;
    let known = _Unwind_GetCFA as *const () as usize;
    // SAFETY: the unwinder's context is valid during this call.
    unsafe {
        if core::hint::black_box(known) == 0 {
            shadow::restore_all();
        } else {
            shadow::restore(_Unwind_GetCFA(context) - 8);
        }
    }
    CONTINUE_UNWIND
}
