//! The functions of Norn's runtime, which a program may or may not contain.
//!
//! A weak reference has the address 0 if nothing defines it. Stable Rust has no weak references, but
//! assembly does, and an operand of the global offset table works in every kind of executable.

use core::{
    ffi::{CStr, c_char},
    sync::atomic::AtomicU32,
};

/// The name of an event, which the runtime numbers when it first occurs. It has the layout of `struct
/// norn_name` in `norn.h`.
#[repr(C)]
#[derive(Debug)]
pub struct Name {
    text: *const c_char,
    process: AtomicU32,
}

// SAFETY: the text is a constant, and the runtime accesses the number atomically.
unsafe impl Sync for Name {}

impl Name {
    /// A name that has not occurred yet.
    pub const fn new(text: &'static CStr) -> Name {
        Name { text: text.as_ptr(), process: AtomicU32::new(0) }
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linked {
    use core::{arch::asm, mem};

    use super::Name;

    /// The address of a function; 0 if it is not linked.
    macro_rules! weak {
        ($name:literal) => {{
            let address: usize;
            // SAFETY: reads an entry of the global offset table.
            unsafe {
                asm!(
                    concat!(".weak ", $name),
                    concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    out(reg) address,
                    options(nostack, preserves_flags, readonly)
                );
            }
            address
        }};
    }

    #[inline(always)]
    pub(super) fn event(name: &'static Name, object: u64) {
        let address = weak!("norn_event");
        if address != 0 {
            // SAFETY: the runtime defines a function with this signature.
            let call: extern "C" fn(&'static Name, u64) = unsafe { mem::transmute(address) };
            call(name, object);
        }
    }

    #[inline(always)]
    pub(super) fn region(begins: bool) {
        let address = if begins { weak!("norn_region_begin") } else { weak!("norn_region_end") };
        if address != 0 {
            // SAFETY: the runtime defines functions with this signature.
            let call: extern "C" fn() = unsafe { mem::transmute(address) };
            call();
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod linked {
    use super::Name;

    pub(super) fn event(_: &'static Name, _: u64) {}

    pub(super) fn region(_: bool) {}
}

/// Records an event.
#[inline(always)]
pub fn event_at(name: &'static Name, object: u64) {
    linked::event(name, object);
}

/// Begins a region.
#[inline(always)]
pub(crate) fn begin() {
    linked::region(true);
}

/// Ends the latest region.
#[inline(always)]
pub(crate) fn end() {
    linked::region(false);
}
