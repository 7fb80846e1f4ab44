//! Reads memory that may be unmapped.
//!
//! The value of a write is read back at the thread's next event. By then another thread may have
//! unmapped or protected the page. Each load is therefore listed in a table (the section
//! `norn_faults`: addresses of the load and of the recovery code, both relative to the entry),
//! which the runtime's fault handler consults: the load then fails with `None` instead of a crash.
#![expect(unsafe_code, reason = "one instruction that may fault")]

use core::arch::asm;

/// Defines a load that may fault.
macro_rules! peek {
    ($(#[$doc:meta])* $name:ident, $load:literal) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// If no handler consults the table, the memory must be readable.
        #[inline(always)]
        pub unsafe fn $name(addr: usize) -> Option<u64> {
            let (value, there): (u64, u32);
            // SAFETY: only reads memory; after a fault, execution continues at the second label.
            unsafe {
                asm!(
                    "xor {there:e}, {there:e}",
                    concat!("2: ", $load),
                    "inc {there:e}",
                    "3:",
                    ".pushsection norn_faults,\"aR\",@progbits",
                    ".balign 4",
                    ".long 2b - .",
                    ".long 3b - .",
                    ".popsection",
                    addr = in(reg) addr,
                    value = out(reg) value,
                    there = out(reg) there,
                    options(nostack, readonly),
                );
            }
            (there != 0).then_some(value)
        }
    };
}

peek! {
    /// Eight bytes, if they can be read.
    word, "mov {value}, qword ptr [{addr}]"
}
peek! {
    /// Four bytes, if they can be read.
    half, "mov {value:e}, dword ptr [{addr}]"
}
peek! {
    /// Two bytes, if they can be read.
    quarter, "movzx {value:e}, word ptr [{addr}]"
}
peek! {
    /// One byte, if it can be read.
    byte, "movzx {value:e}, byte ptr [{addr}]"
}
