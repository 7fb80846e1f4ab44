//! The functions that gcc calls for loops whose iterations are distributed at run time (libgomp's
//! interface). A static loop calls none of them, unless it has `ordered` regions.

use core::ffi::{c_long, c_uint};

use super::{gomp::region, openmp::here, replace};
use crate::omp::construct::{self, Loop, Schedule};

/// A loop from `start` to `end` with a positive or negative step.
fn signed(start: c_long, end: c_long, step: c_long, chunk: c_long, schedule: Schedule) -> Loop {
    let distance = if step > 0 { end.saturating_sub(start) } else { start.saturating_sub(end) };
    let total = u64::try_from(distance).unwrap_or(0).div_ceil(step.unsigned_abs().max(1));
    let chunk = u64::try_from(chunk).unwrap_or(0);
    Loop::new(total, chunk, schedule).over(start as u64, end as u64, step as u64)
}

/// The same for unsigned numbers; the step is negative unless the loop goes `up`.
fn unsigned(up: bool, (start, end, step): (u64, u64, u64), chunk: u64, schedule: Schedule) -> Loop {
    let (from, to, size) = if up { (start, end, step) } else { (end, start, step.wrapping_neg()) };
    let total = to.saturating_sub(from).div_ceil(size.max(1));
    Loop::new(total, chunk, schedule).over(start, end, step)
}

/// Begins a loop, and stores the range of the first chunk.
///
/// # Safety
/// The range can be written.
unsafe fn start(work: Loop, first: *mut u64, end: *mut u64) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return false };
        work.begin(member, slot, pc);
        next(first, end)
    }
}

/// Stores the range of the next chunk.
///
/// # Safety
/// The range can be written.
unsafe extern "C-unwind" fn next(first: *mut u64, end: *mut u64) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return false };
        let Some(chunk) = construct::next(member, slot, pc) else { return false };
        let work = construct::current_loop(member);
        *first = work.value(chunk.first);
        *end = if chunk.is_last { work.end } else { work.value(chunk.first + chunk.count) };
        true
    }
}

/// Defines functions that begin a loop over signed and unsigned numbers.
macro_rules! loops {
    ($($plain:ident $ull:ident = $schedule:ident, $ordered:literal;)*) => { $(
        /// # Safety
        /// As for the function of libgomp in whose place it is called.
        unsafe extern "C-unwind" fn $plain(
            from: c_long, to: c_long, step: c_long, chunk: c_long, first: *mut u64, end: *mut u64,
        ) -> bool {
            let work = signed(from, to, step, chunk, Schedule::$schedule);
            // SAFETY: guaranteed by the caller.
            unsafe { start(work.in_order($ordered), first, end) }
        }

        /// # Safety
        /// As for the function of libgomp in whose place it is called.
        unsafe extern "C-unwind" fn $ull(
            up: bool, from: u64, to: u64, step: u64, chunk: u64, first: *mut u64, end: *mut u64,
        ) -> bool {
            let work = unsigned(up, (from, to, step), chunk, Schedule::$schedule);
            // SAFETY: guaranteed by the caller.
            unsafe { start(work.in_order($ordered), first, end) }
        }
    )* };
}

loops! {
    static_start static_start_ull = Static, false;
    dynamic_start dynamic_start_ull = Dynamic, false;
    guided_start guided_start_ull = Guided, false;
    ordered_static ordered_static_ull = Static, true;
    ordered_dynamic ordered_dynamic_ull = Dynamic, true;
    ordered_guided ordered_guided_ull = Guided, true;
}

/// Defines functions that execute a parallel region which consists of a loop.
macro_rules! regions {
    ($($region:ident = $schedule:ident;)*) => { $(
        /// # Safety
        /// As for the function of libgomp in whose place it is called.
        unsafe extern "C-unwind" fn $region(
            function: usize, data: usize, wanted: c_uint,
            from: c_long, to: c_long, step: c_long, chunk: c_long, _flags: c_uint,
        ) {
            let work = signed(from, to, step, chunk, Schedule::$schedule);
            // SAFETY: guaranteed by the caller.
            unsafe { region(function, data, wanted, Some(work)) };
        }
    )* };
}

regions! {
    static_region = Static;
    dynamic_region = Dynamic;
    guided_region = Guided;
}

// A loop with `schedule(runtime)` has no chunk here. The default of libgomp is `dynamic`.

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn runtime_start(
    from: c_long,
    to: c_long,
    step: c_long,
    first: *mut u64,
    end: *mut u64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { dynamic_start(from, to, step, 1, first, end) }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn ordered_runtime(
    from: c_long,
    to: c_long,
    step: c_long,
    first: *mut u64,
    end: *mut u64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { ordered_dynamic(from, to, step, 1, first, end) }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn runtime_start_ull(
    up: bool,
    from: u64,
    to: u64,
    step: u64,
    first: *mut u64,
    end: *mut u64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { dynamic_start_ull(up, from, to, step, 1, first, end) }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn runtime_region(
    function: usize,
    data: usize,
    wanted: c_uint,
    from: c_long,
    to: c_long,
    step: c_long,
    flags: c_uint,
) {
    // SAFETY: guaranteed by the caller.
    unsafe { dynamic_region(function, data, wanted, from, to, step, 1, flags) };
}

replace! {
    GOMP_parallel_loop_static => static_region;
    GOMP_parallel_loop_dynamic => dynamic_region;
    GOMP_parallel_loop_guided => guided_region;
    GOMP_parallel_loop_runtime => runtime_region;
    GOMP_parallel_loop_nonmonotonic_dynamic => dynamic_region;
    GOMP_parallel_loop_nonmonotonic_guided => guided_region;
    GOMP_parallel_loop_nonmonotonic_runtime => runtime_region;
    GOMP_parallel_loop_maybe_nonmonotonic_runtime => runtime_region;
    GOMP_loop_static_start => static_start;
    GOMP_loop_dynamic_start => dynamic_start;
    GOMP_loop_guided_start => guided_start;
    GOMP_loop_runtime_start => runtime_start;
    GOMP_loop_nonmonotonic_dynamic_start => dynamic_start;
    GOMP_loop_nonmonotonic_guided_start => guided_start;
    GOMP_loop_nonmonotonic_runtime_start => runtime_start;
    GOMP_loop_maybe_nonmonotonic_runtime_start => runtime_start;
    GOMP_loop_ordered_static_start => ordered_static;
    GOMP_loop_ordered_dynamic_start => ordered_dynamic;
    GOMP_loop_ordered_guided_start => ordered_guided;
    GOMP_loop_ordered_runtime_start => ordered_runtime;
    GOMP_loop_ull_static_start => static_start_ull;
    GOMP_loop_ull_dynamic_start => dynamic_start_ull;
    GOMP_loop_ull_guided_start => guided_start_ull;
    GOMP_loop_ull_runtime_start => runtime_start_ull;
    GOMP_loop_ull_nonmonotonic_dynamic_start => dynamic_start_ull;
    GOMP_loop_ull_nonmonotonic_guided_start => guided_start_ull;
    GOMP_loop_ull_nonmonotonic_runtime_start => runtime_start_ull;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_start => runtime_start_ull;
    GOMP_loop_ull_ordered_static_start => ordered_static_ull;
    GOMP_loop_ull_ordered_dynamic_start => ordered_dynamic_ull;
    GOMP_loop_ull_ordered_guided_start => ordered_guided_ull;
    GOMP_loop_static_next => next;
    GOMP_loop_dynamic_next => next;
    GOMP_loop_guided_next => next;
    GOMP_loop_runtime_next => next;
    GOMP_loop_nonmonotonic_dynamic_next => next;
    GOMP_loop_nonmonotonic_guided_next => next;
    GOMP_loop_nonmonotonic_runtime_next => next;
    GOMP_loop_maybe_nonmonotonic_runtime_next => next;
    GOMP_loop_ordered_static_next => next;
    GOMP_loop_ordered_dynamic_next => next;
    GOMP_loop_ordered_guided_next => next;
    GOMP_loop_ordered_runtime_next => next;
    GOMP_loop_ull_static_next => next;
    GOMP_loop_ull_dynamic_next => next;
    GOMP_loop_ull_guided_next => next;
    GOMP_loop_ull_runtime_next => next;
    GOMP_loop_ull_nonmonotonic_dynamic_next => next;
    GOMP_loop_ull_nonmonotonic_guided_next => next;
    GOMP_loop_ull_nonmonotonic_runtime_next => next;
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next => next;
    GOMP_loop_ull_ordered_static_next => next;
    GOMP_loop_ull_ordered_dynamic_next => next;
    GOMP_loop_ull_ordered_guided_next => next;
}
