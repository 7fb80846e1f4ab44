//! The interface of all sanitizers, and the parts of ThreadSanitizer's that inspect its reports. The
//! runtime writes no reports, so there is never a current one, and what configures them has no effect.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{Kind, arena::FRAMES};

use super::{annotation::ignored, interpose};
use crate::{control, real, sys, thread};

/// # Safety
/// `block` is a heap block, or null.
unsafe extern "C" fn allocated_size(block: usize) -> usize {
    unsafe extern "C" {
        fn malloc_usable_size(block: usize) -> usize;
    }
    // SAFETY: guaranteed by the caller. The interposed function knows the blocks of controlled runs.
    unsafe { malloc_usable_size(block) }
}

/// # Safety
/// None.
unsafe extern "C" fn estimated_size(size: usize) -> usize {
    size
}

/// # Safety
/// None.
unsafe extern "C" fn one() -> usize {
    1
}

/// # Safety
/// None.
unsafe extern "C" fn report_path() -> *const u8 {
    c"stderr".as_ptr().cast()
}

/// Prints the addresses of the functions that the thread is in, innermost first.
///
/// # Safety
/// None.
unsafe extern "C" fn print_stack(pc: usize) {
    print_frame(0, pc);
    let Some(slot) = thread::recorded() else { return };
    // SAFETY: the slot is the current thread's.
    unsafe {
        let depth = (*slot).depth.min(FRAMES);
        for (number, at) in (0..depth).rev().enumerate() {
            print_frame(number + 1, (*slot).frames[at].call);
        }
    }
}

fn print_frame(number: usize, pc: usize) {
    let mut line = *b"    #                     0x                \n";
    let mut rest = number;
    for at in (5..25).rev() {
        line[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    hexadecimal(pc, &mut line[28..44]);
    if let Ok(text) = core::str::from_utf8(&line) {
        sys::say(text);
    }
}

/// Writes a number with leading zeros.
fn hexadecimal(number: usize, to: &mut [u8]) {
    let mut rest = number;
    for digit in to.iter_mut().rev() {
        *digit = b"0123456789abcdef"[rest % 16];
        rest /= 16;
    }
}

/// Describes an address, as far as the runtime can: it has no symbols.
///
/// # Safety
/// `size` bytes can be written at `to`.
unsafe extern "C" fn symbolize(pc: usize, _format: usize, to: *mut u8, size: usize) {
    let mut text = *b"0x0000000000000000\0";
    hexadecimal(pc, &mut text[2..18]);
    for (at, byte) in text.iter().enumerate().take(size) {
        // SAFETY: guaranteed by the caller.
        unsafe { *to.add(at) = if at + 1 == size { 0 } else { *byte } };
    }
}

/// Number of functions that the thread is in.
///
/// # Safety
/// None.
unsafe extern "C" fn stack_size() -> usize {
    // SAFETY: the slot is the current thread's.
    thread::recorded().map_or(0, |slot| unsafe { (*slot).depth })
}

/// # Safety
/// As for `memcpy`.
unsafe extern "C" fn copy(to: usize, from: usize, len: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { real::memcpy()(to, from, len) }
}

/// # Safety
/// As for `memmove`.
unsafe extern "C" fn shift(to: usize, from: usize, len: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { real::memmove()(to, from, len) }
}

/// # Safety
/// As for `memset`.
unsafe extern "C" fn fill(to: usize, value: c_int, len: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { real::memset()(to, value, len) }
}

/// A barrier for tests, which establishes no order: number of threads, number of arrivals.
#[repr(C)]
struct Barrier {
    threads: u32,
    arrived: AtomicU32,
}

/// # Safety
/// `barrier` points to eight bytes.
unsafe extern "C" fn barrier_init(barrier: *mut Barrier, threads: u32) {
    // SAFETY: guaranteed by the caller.
    unsafe { *barrier = Barrier { threads: threads.max(1), arrived: AtomicU32::new(0) } };
}

/// # Safety
/// `barrier` was initialised.
unsafe extern "C" fn barrier_wait(barrier: *const Barrier, pc: usize) {
    const FOR_EVER: u64 = 1 << 40;
    // SAFETY: guaranteed by the caller; the slot is the current thread's.
    unsafe {
        let (threads, arrived) = ((*barrier).threads, &(*barrier).arrived);
        if let Some(slot) = thread::recorded().filter(|_| control::was_on()) {
            let event = (Kind::BarrierEnter, barrier as usize, pc);
            control::meet_others(slot, event, threads as usize);
            return;
        }
        let round = arrived.fetch_add(1, Ordering::AcqRel) / threads;
        sys::futex_wake(arrived.as_ptr());
        loop {
            let now = arrived.load(Ordering::Acquire);
            if now / threads != round {
                return;
            }
            sys::futex_wait(arrived.as_ptr(), now, FOR_EVER);
        }
    }
}

interpose! {
    __sanitizer_get_allocated_size(1) => allocated_size;
    __sanitizer_get_allocated_size_fast(1) => allocated_size;
    __sanitizer_get_estimated_allocated_size(1) => estimated_size;
    __sanitizer_get_free_bytes(0) => one;
    __sanitizer_get_unmapped_bytes(0) => one;
    __sanitizer_acquire_crash_state(0) => one;
    __sanitizer_get_report_path(0) => report_path;
    __sanitizer_print_stack_trace(0) => print_stack;
    __sanitizer_symbolize_pc(4) => symbolize;
    __sanitizer_symbolize_global(4) => symbolize;
    __sanitizer_internal_memcpy(3) => copy;
    __sanitizer_internal_memmove(3) => shift;
    __sanitizer_internal_memset(3) => fill;
    __tsan_testonly_shadow_stack_current_size(0) => stack_size;
    __tsan_testonly_barrier_init(2) => barrier_init;
    __tsan_testonly_barrier_wait(1) => barrier_wait;
}

// What configures or inspects reports, statistics and coverage; and functions that a program may
// define, for a program that calls them without defining them.
ignored! {
    __sanitizer_free_hook __sanitizer_get_allocated_begin __sanitizer_get_current_allocated_bytes
    __sanitizer_get_heap_size __sanitizer_get_module_and_offset_for_pc __sanitizer_get_ownership
    __sanitizer_ignore_free_hook __sanitizer_install_malloc_and_free_hooks __sanitizer_malloc_hook
    __sanitizer_on_print __sanitizer_purge_allocator __sanitizer_report_error_summary
    __sanitizer_sandbox_on_notify __sanitizer_set_death_callback __sanitizer_set_report_fd
    __sanitizer_set_report_path __sanitizer_dump_coverage __sanitizer_dump_trace_pc_guard_coverage
    __tsan_check_no_mutexes_held __tsan_default_options __tsan_default_suppressions
    __tsan_flush_memory __tsan_get_alloc_stack __tsan_get_current_report __tsan_get_report_data
    __tsan_get_report_loc __tsan_get_report_loc_object_type __tsan_get_report_mop
    __tsan_get_report_mutex __tsan_get_report_stack __tsan_get_report_tag
    __tsan_get_report_thread __tsan_get_report_unique_tid __tsan_locate_address __tsan_on_report
    __tsan_on_thread_idle __tsan_symbolize_external __tsan_symbolize_external_ex
    __tsan_test_only_on_fork
}
