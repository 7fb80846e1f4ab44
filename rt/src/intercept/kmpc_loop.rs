//! The functions that clang calls for loops (libomp's interface), in four variants by the type of the
//! loop variable. Bounds are inclusive there.

use core::ffi::c_int;

use super::{openmp::here, replace};
use crate::omp::construct::{self, Loop, Schedule};

/// libomp's numbers of schedules, without the bits that modify them.
mod schedule {
    pub const MODIFIERS: i32 = 3 << 29;
    pub const STATIC_CHUNKED: i32 = 33;
    pub const STATIC: i32 = 34;
    pub const DYNAMIC: i32 = 35;
    pub const GUIDED: i32 = 36;
    pub const RUNTIME: i32 = 37;
    /// The first of those with `ordered` regions, and the distance to those without.
    pub const ORDERED: i32 = 65;
    pub const DISTANCE: i32 = 32;
    pub const DISTRIBUTE_CHUNKED: i32 = 91;
}

/// The loop that a number of libomp stands for, and whether its chunks have the given length.
fn kind(number: c_int) -> (Schedule, bool, bool) {
    let number = number & !schedule::MODIFIERS;
    let ordered = (schedule::ORDERED..schedule::ORDERED + 6).contains(&number);
    let plain = if ordered { number - schedule::DISTANCE } else { number };
    match plain {
        schedule::STATIC_CHUNKED => (Schedule::Static, true, ordered),
        schedule::STATIC => (Schedule::Static, false, ordered),
        schedule::DYNAMIC | schedule::RUNTIME => (Schedule::Dynamic, true, ordered),
        schedule::GUIDED => (Schedule::Guided, true, ordered),
        _ => (Schedule::Guided, false, ordered),
    }
}

/// Number of iterations of a loop with inclusive bounds.
fn total(first: i128, last: i128, step: i128) -> u64 {
    let distance = if step > 0 { last - first } else { first - last };
    if distance < 0 || step == 0 { 0 } else { (distance / step.abs() + 1) as u64 }
}

/// The part of a thread in a static loop: its bounds, the distance to its next part, and whether it has
/// the last iteration.
struct Part {
    first: i128,
    last: i128,
    stride: i128,
    is_last: bool,
}

/// Computes a thread's part of a static loop.
fn part(
    (number, size): (i128, i128),
    chunk: Option<i128>,
    (first, last, step): (i128, i128, i128),
) -> Part {
    let total = i128::from(total(first, last, step));
    if total == 0 {
        return Part { first, last, stride: step, is_last: false };
    }
    if let Some(chunk) = chunk.map(|it| it.max(1)) {
        let span = chunk * step;
        let from = first + span * number;
        let is_last = number == (total - 1) / chunk % size;
        return Part { first: from, last: from + span - step, stride: span * size, is_last };
    }
    let (each, more) = (total / size, total % size);
    let before = number * each + number.min(more);
    let count = each + i128::from(number < more);
    let from = first + before * step;
    let is_last = count > 0 && before + count == total;
    Part { first: from, last: from + (count - 1) * step, stride: total, is_last }
}

/// Defines the functions for one type of the loop variable and its signed type.
macro_rules! loops {
    ($($type:ty, $signed:ty: $static:ident $init:ident $next:ident;)*) => { $(
        /// # Safety
        /// As for the function of libomp in whose place it is called.
        unsafe extern "C-unwind" fn $static(
            _: usize, _: c_int, number: c_int, is_last: *mut c_int, first: *mut $type,
            last: *mut $type, stride: *mut $signed, step: $signed, chunk: $signed,
        ) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some((_, member, _)) = here() else { return };
                let now = &(*member).now;
                let plain = number & !schedule::MODIFIERS;
                let chunked = kind(number).1 || plain == schedule::DISTRIBUTE_CHUNKED;
                // All threads of a league would share such a loop; there is one team only.
                let alone = plain >= schedule::DISTRIBUTE_CHUNKED;
                let place = if alone { (0, 1) } else { (now.number.into(), now.size().into()) };
                let bounds = (*first as i128, *last as i128, step as i128);
                let part = part(place, chunked.then_some(chunk as i128), bounds);
                (*first, *last) = (part.first as $type, part.last as $type);
                *stride = part.stride as $signed;
                if !is_last.is_null() {
                    *is_last = c_int::from(part.is_last);
                }
            }
        }

        /// # Safety
        /// As for the function of libomp in whose place it is called.
        unsafe extern "C-unwind" fn $init(
            _: usize, _: c_int, number: c_int, first: $type, last: $type, step: $signed,
            chunk: $signed,
        ) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some((slot, member, pc)) = here() else { return };
                let (schedule, chunked, ordered) = kind(number);
                let chunk = if chunked { u64::try_from(chunk).unwrap_or(1).max(1) } else { 0 };
                let total = total(first as i128, last as i128, step as i128);
                let work = Loop::new(total, chunk, schedule);
                let work = work.over(first as u64, 0, step as u64).in_order(ordered);
                work.begin(member, slot, pc);
            }
        }

        /// # Safety
        /// As for the function of libomp in whose place it is called.
        unsafe extern "C-unwind" fn $next(
            _: usize, _: c_int, is_last: *mut c_int, first: *mut $type, last: *mut $type,
            step: *mut $signed,
        ) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let Some((slot, member, pc)) = here() else { return 0 };
                let Some(chunk) = construct::next(member, slot, pc) else {
                    construct::leave(member, slot, pc);
                    return 0;
                };
                let work = construct::current_loop(member);
                *first = work.value(chunk.first) as $type;
                *last = work.value(chunk.first + chunk.count - 1) as $type;
                if !step.is_null() {
                    *step = work.step() as $signed;
                }
                if !is_last.is_null() {
                    *is_last = c_int::from(chunk.is_last);
                }
                1
            }
        }
    )* };
}

loops! {
    i32, i32: static_4 init_4 next_4;
    u32, i32: static_4u init_4u next_4u;
    i64, i64: static_8 init_8 next_8;
    u64, i64: static_8u init_8u next_8u;
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn nothing(_: usize, _: c_int) {}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn ordered(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            construct::await_turn(member, slot, pc);
        }
    }
}

replace! {
    __kmpc_for_static_init_4 => static_4;
    __kmpc_for_static_init_4u => static_4u;
    __kmpc_for_static_init_8 => static_8;
    __kmpc_for_static_init_8u => static_8u;
    __kmpc_for_static_fini => nothing;
    __kmpc_dispatch_init_4 => init_4;
    __kmpc_dispatch_init_4u => init_4u;
    __kmpc_dispatch_init_8 => init_8;
    __kmpc_dispatch_init_8u => init_8u;
    __kmpc_dispatch_next_4 => next_4;
    __kmpc_dispatch_next_4u => next_4u;
    __kmpc_dispatch_next_8 => next_8;
    __kmpc_dispatch_next_8u => next_8u;
    __kmpc_dispatch_fini_4 => nothing;
    __kmpc_dispatch_fini_4u => nothing;
    __kmpc_dispatch_fini_8 => nothing;
    __kmpc_dispatch_fini_8u => nothing;
    __kmpc_dispatch_deinit => nothing;
    __kmpc_ordered => ordered;
    __kmpc_end_ordered => nothing;
}
