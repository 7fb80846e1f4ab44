//! Forks: a child continues its parent's thread with a process entry and a slot of its own.

use core::sync::atomic::Ordering;

use norn_abi::arena::{FRAMES, role};

use crate::{arena, atomic, collect, control, hook, intercept, real, signal, thread, tls};

/// No entry was requested for the next fork.
const NOT_TAKEN: usize = 0;
/// An entry was requested, but none was left.
const NONE_LEFT: usize = 1;
/// Offset that is added to the number of an entry that was taken.
const TAKEN: usize = 2;

/// Sets the entry for the process that this thread forks next, if one was requested. It is set
/// before the fork, so that parent and child agree on it.
pub fn set_next_process(taken: Option<Option<u32>>) {
    tls::set_forking(match taken {
        None => NOT_TAKEN,
        Some(None) => NONE_LEFT,
        Some(Some(number)) => number as usize + TAKEN,
    });
}

/// In the child: the entry that was taken for it, or one that is taken now.
fn next_process() -> Option<u32> {
    match tls::forking() {
        NOT_TAKEN => arena::take_process(),
        NONE_LEFT => None,
        number => Some((number - TAKEN) as u32),
    }
}

/// In a forked child: stops using the parent's slot and starts a trace of its own.
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
        // The thread-specific value is still the parent's slot.
        (real::pthread_setspecific())(thread::KEY.load(Ordering::Relaxed), core::ptr::null());
        let Some(number) = next_process() else {
            tls::NEW.set(&hook::IDLE);
            return arena::abandon();
        };
        arena::become_process(number, arena::process_number());
        collect::after_fork();
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
        control::after_fork(own_slot, slot);
        thread::attach(own_slot, thread::own_stack());
        let mask = if tls::is_stand(slot) { 0 } else { (*thread::own(slot)).mask };
        signal::begin(own_slot, mask);
        intercept::load::forget();
        intercept::threads::forget();
        intercept::load::modules(own_slot);
    }
}
