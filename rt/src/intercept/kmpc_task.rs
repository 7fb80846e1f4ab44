//! The functions that clang calls for tasks (libomp's interface). The program writes into a task before
//! it is created, so the layout of its beginning is fixed.

use core::ffi::c_int;

use super::{alloc, openmp::here, replace};
use crate::omp::task::{self, Body};

type Entry = unsafe extern "C-unwind" fn(c_int, *mut Description) -> c_int;

/// The beginning of a task as the program knows it; its private variables follow.
#[repr(C)]
struct Description {
    shared: usize,
    entry: usize,
    part: c_int,
    destructors: usize,
    other: usize,
}

/// What precedes a task in memory.
#[repr(C)]
struct Header {
    flags: c_int,
    padding: [u64; 1],
}

const HEADER: usize = size_of::<Header>();
const FINAL: c_int = 2;
const HAS_DESTRUCTORS: c_int = 8;

/// # Safety
/// `description` was allocated by [`allocate`].
unsafe fn flags(description: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { (*((description - HEADER) as *const Header)).flags }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn allocate(
    _: usize,
    _: c_int,
    flags: c_int,
    size: usize,
    shared: usize,
    entry: usize,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((_, _, pc)) = here() else { return 0 };
        let own = size.next_multiple_of(16);
        let block = alloc::malloc(HEADER + own + shared, pc);
        if block == 0 {
            return 0;
        }
        (*(block as *mut Header)).flags = flags;
        let description = block + HEADER;
        let task = description as *mut Description;
        (*task).shared = if shared == 0 { 0 } else { description + own };
        (*task).entry = entry;
        (*task).part = 0;
        description
    }
}

/// # Safety
/// The body is that of a task of clang's kind.
unsafe fn call(body: &Body) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let number = here().map_or(0, |(_, member, _)| (*member).now.number as c_int);
        let description = body.data as *mut Description;
        core::mem::transmute::<usize, Entry>(body.function)(number, description);
        if flags(body.data) & HAS_DESTRUCTORS != 0 {
            let destructors = (*description).destructors;
            core::mem::transmute::<usize, Entry>(destructors)(number, description);
        }
    }
}

/// # Safety
/// `description` was allocated by [`allocate`].
unsafe fn create(description: usize, deferred: bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return };
        let function = (*(description as *const Description)).entry;
        let body = Body { function, data: description, call, block: description - HEADER };
        let deferred = deferred && flags(description) & FINAL == 0;
        task::create(slot, member, pc, body, deferred);
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn plain(_: usize, _: c_int, description: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { create(description, true) };
    0
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn with_dependences(place: usize, _: c_int, description: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        wait(place, 0);
        create(description, false);
    }
    0
}

/// Executes a loop whose iterations are tasks as one task.
///
/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn task_loop(_: usize, _: c_int, description: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { create(description, false) };
}

/// The program itself calls the task after this.
///
/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn begin_here(_: usize, _: c_int, _description: usize) {}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn complete_here(_: usize, _: c_int, description: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, _, pc)) = here() {
            alloc::free(description - HEADER, pc);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn wait(_: usize, _: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            task::wait_children(slot, member, pc);
        }
    }
    0
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn yields(_: usize, _: c_int, _: c_int) -> c_int {
    0
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn group(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, member, _)) = here() {
            task::begin_group(member);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn end_group(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            task::end_group(slot, member, pc);
        }
    }
}

replace! {
    __kmpc_omp_task_alloc => allocate;
    __kmpc_omp_task => plain;
    __kmpc_omp_task_with_deps => with_dependences;
    __kmpc_omp_task_begin_if0 => begin_here;
    __kmpc_omp_task_complete_if0 => complete_here;
    __kmpc_omp_wait_deps => wait;
    __kmpc_omp_taskwait => wait;
    __kmpc_omp_taskwait_deps_51 => wait;
    __kmpc_omp_taskyield => yields;
    __kmpc_taskgroup => group;
    __kmpc_end_taskgroup => end_group;
    __kmpc_taskloop => task_loop;
    __kmpc_taskloop_5 => task_loop;
}
