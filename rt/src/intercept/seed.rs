//! Seeds of libc's random numbers. Programs often take the id of their process as a seed, alone or
//! together with the time. That id differs from run to run, so in a controlled run another one takes its
//! place: the numbers are those of a process that has this id.

use core::{
    ffi::{c_long, c_uint},
    sync::atomic::{AtomicU32, Ordering},
};

use super::interpose;
use crate::{real, sys, thread_id};

/// The time in seconds that the program read last.
static TIME: AtomicU32 = AtomicU32::new(0);
/// The id in whose place a seed has the id of the process, or of its parent.
const STAND_IN: u32 = 1 << 15;

/// Notes what time the program reads.
pub fn note_time(seconds: u64) {
    TIME.store(seconds as u32, Ordering::Relaxed);
}

/// The seed with another id of the process, if it is made of that id.
fn stable(seed: u32) -> u32 {
    if !thread_id::is_process_id_known() {
        return seed;
    }
    let time = TIME.load(Ordering::Relaxed);
    let made = [
        |id: u32, _: u32| id,
        |id: u32, time: u32| time ^ id,
        |id: u32, time: u32| time.wrapping_add(id),
        |id: u32, time: u32| time.wrapping_sub(id),
        |id: u32, time: u32| id.wrapping_sub(time),
        |id: u32, time: u32| time.wrapping_mul(id),
        |id: u32, time: u32| time ^ id << 16,
        |id: u32, time: u32| time.wrapping_add(id << 16),
    ];
    let ids = [sys::process_id(), thread_id::parent() as u32];
    let found = made.iter().find(|it| ids.iter().any(|id| it(*id, time) == seed));
    found.map_or(seed, |it| it(STAND_IN, time))
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn srand(seed: c_uint, _pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { real::srand()(stable(seed)) };
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn srandom(seed: c_uint, _pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { real::srandom()(stable(seed)) };
}

/// Only the lower 32 bits of the seed count.
///
/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn srand48(seed: c_long, _pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { real::srand48()(c_long::from(stable(seed as u32))) };
}

interpose! {
    srand(1) => srand;
    srandom(1) => srandom;
    srand48(1) => srand48;
}
