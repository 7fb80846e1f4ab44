//! Forks: a child takes up where its parent's thread is, with an entry and a slot of its own.

use core::sync::atomic::Ordering;

use norn_abi::arena::{FRAMES, role};

use crate::{arena, atomic, control, hook, intercept, real, thread, tls};

/// No entry was taken for the next fork.
const NOT_TAKEN: usize = 0;
/// It was tried, and there was none.
const NONE_LEFT: usize = 1;
/// What is added to the number of an entry that was taken.
const TAKEN: usize = 2;

/// Says what was taken for the process that this thread forks next, if anything was: beforehand,
/// so that parent and child agree.
pub fn set_next_process(taken: Option<Option<u32>>) {
    tls::set_forking(match taken {
        None => NOT_TAKEN,
        Some(None) => NONE_LEFT,
        Some(Some(number)) => number as usize + TAKEN,
    });
}

/// In the child: what was taken for it, or now is.
fn next_process() -> Option<u32> {
    match tls::forking() {
        NOT_TAKEN => arena::take_process(),
        NONE_LEFT => None,
        number => Some((number - TAKEN) as u32),
    }
}

/// In a forked child: leaves the parent's memory alone and starts a trace of its own.
///
/// # Safety
/// Called by libc in a forked child, which has one thread.
pub unsafe extern "C" fn after_fork() {
    let slot = tls::current();
    if !arena::is_open() {
        return arena::count_unentered();
    }
    tls::set(tls::BUSY.slot());
    // SAFETY: the child has one thread, this one.
    unsafe {
        atomic::unlock_all();
        // The slot there is the parent's.
        (real::pthread_setspecific())(thread::KEY.load(Ordering::Relaxed), core::ptr::null());
        let Some(number) = next_process() else {
            tls::NEW.set(&hook::IDLE);
            return arena::abandon();
        };
        arena::become_process(number, arena::process_number());
        let Some(own_slot) = arena::take_slot() else { return };
        thread::name(
            own_slot,
            arena::process().threads.fetch_add(1, Ordering::Relaxed),
            0,
            0,
            role::THREAD,
        );
        if !tls::is_stand(slot) {
            (*own_slot).depth = (*slot).depth;
            for i in 0..(*slot).depth.min(FRAMES) {
                (&raw mut (*own_slot).frames[i]).write_volatile((*slot).frames[i]);
            }
        }
        control::after_fork(own_slot);
        thread::attach(own_slot, thread::own_stack());
        intercept::load::forget();
        intercept::load::modules(own_slot);
    }
}
