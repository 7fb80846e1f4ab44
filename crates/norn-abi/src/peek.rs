//! Reading memory that may be gone.
//!
//! What a write left is read back at the thread's next event. By then another thread may have
//! unmapped or protected the page. So the load is noted in a table (the section `norn_faults`:
//! where the load is and where to go on, both relative to the entry), and the runtime's handler
//! for such faults looks there: the reader then simply learns that it cannot be read.
#![expect(unsafe_code, reason = "one instruction that may fault")]

use core::arch::asm;

/// Defines a load that may fault.
macro_rules! peek {
    ($(#[$doc:meta])* $name:ident, $load:literal) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Where no handler looks into the table, the memory must be readable.
        #[inline(always)]
        pub unsafe fn $name(addr: usize) -> Option<u64> {
            let (value, there): (u64, u32);
            // SAFETY: reads memory only; a fault goes on at the second label.
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
    /// One byte, if it can be read.
    byte, "movzx {value:e}, byte ptr [{addr}]"
}
