//! `std::sync::Barrier`, which is compiled code of `std`: a mutex, a condition variable and a counter.

use norn_abi::{Kind, rust_std::Role};

use super::{
    park::inside,
    redirect::{entries, original},
};
use crate::{event, thread};

/// # Safety
/// As for `Barrier::wait` of `std`.
unsafe extern "C-unwind" fn do_wait(barrier: usize, pc: usize) -> bool {
    type Wait = unsafe extern "C-unwind" fn(usize) -> bool;
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        if let Some(slot) = thread::recorded() {
            event::put(slot, Kind::BarrierEnter, pc, barrier, &[]);
        }
        let real = core::mem::transmute::<usize, Wait>(original(Role::BarrierWait));
        let leads = inside(pc, || real(barrier));
        if let Some(slot) = thread::recorded() {
            event::put(slot, Kind::BarrierLeave, pc, barrier, &[u64::from(leads)]);
        }
        leads
    }
}

entries! { wait(1) => do_wait; }
