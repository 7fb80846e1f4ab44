//! Functions by which code that no compiler instruments announces its accesses: with the site as an
//! argument, of unaligned memory, and of objects of a library.

use norn_abi::{AccessClass, Kind};

use super::{annotation::ignored, interpose};
use crate::{block, hook};

const fn code(write: bool, log2: u16) -> usize {
    Kind::access_code(AccessClass::Plain, write, log2) as usize
}

/// Exports hooks whose second argument is the site.
macro_rules! with_site {
    ($($name:ident $write:literal $log2:literal;)*) => { $(
        core::arch::global_asm!(
            concat!(".weak ", super::symbol!($name)),
            concat!(".type ", super::symbol!($name), ",@function"),
            concat!(super::symbol!($name), ":"),
            "mov rdx, qword ptr fs:[norn_slot@tpoff]",
            "mov rax, qword ptr [rdx]",
            "jmp qword ptr [rax + 8 * {code}]",
            concat!(".size ", super::symbol!($name), ", . - ", super::symbol!($name)),
            code = const code($write, $log2),
        );
    )* };
}

with_site! {
    __tsan_read1_pc false 0;
    __tsan_read2_pc false 1;
    __tsan_read4_pc false 2;
    __tsan_read8_pc false 3;
    __tsan_read16_pc false 4;
    __tsan_write1_pc true 0;
    __tsan_write2_pc true 1;
    __tsan_write4_pc true 2;
    __tsan_write8_pc true 3;
    __tsan_write16_pc true 4;
}

/// # Safety
/// The program is about to read the block.
unsafe extern "C" fn read_range(addr: usize, len: usize, site: usize, _pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { block::read_range(addr, len, site) };
}

/// # Safety
/// The program is about to write the block.
unsafe extern "C" fn write_range(addr: usize, len: usize, site: usize, _pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { block::write_range(addr, len, site) };
}

/// An access to an object of a library. ThreadSanitizer treats it as one of the object's first byte.
///
/// # Safety
/// The program is about to access the object.
unsafe extern "C" fn external_read(object: usize, _caller: usize, _tag: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { hook::access(code(false, 0), object, pc) };
}

/// # Safety
/// The program is about to access the object.
unsafe extern "C" fn external_write(object: usize, _caller: usize, _tag: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { hook::access(code(true, 0), object, pc) };
}

/// A tag for objects of a library: any value that is not null.
///
/// # Safety
/// None.
unsafe extern "C" fn tag() -> usize {
    1
}

macro_rules! unaligned {
    ($($load:ident $store:ident $type:ty, $log2:literal;)*) => { $(
        /// # Safety
        /// A value of this size can be read at the address.
        unsafe extern "C" fn $load(from: *const $type, pc: usize) -> $type {
            // SAFETY: guaranteed by the caller.
            unsafe {
                hook::access(code(false, $log2), from as usize, pc);
                from.read_unaligned()
            }
        }

        /// # Safety
        /// A value of this size can be written at the address.
        unsafe extern "C" fn $store(to: *mut $type, value: $type, pc: usize) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                hook::access(code(true, $log2), to as usize, pc);
                to.write_unaligned(value);
            }
        }
    )* };
}

unaligned! {
    load16 store16 u16, 1;
    load32 store32 u32, 2;
    load64 store64 u64, 3;
}

interpose! {
    __tsan_read_range_pc(3) => read_range;
    __tsan_write_range_pc(3) => write_range;
    __tsan_external_read(3) => external_read;
    __tsan_external_write(3) => external_write;
    __tsan_external_register_tag(1) => tag;
    __sanitizer_unaligned_load16(1) => load16;
    __sanitizer_unaligned_load32(1) => load32;
    __sanitizer_unaligned_load64(1) => load64;
    __sanitizer_unaligned_store16(2) => store16;
    __sanitizer_unaligned_store32(2) => store32;
    __sanitizer_unaligned_store64(2) => store64;
}
ignored! { __tsan_external_register_header __tsan_external_assign_tag }
