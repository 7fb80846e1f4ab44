//! The functions that gcc calls for OpenMP's constructs (libgomp's interface). See [`omp`](crate::omp).

use core::{
    ffi::{c_int, c_long, c_uint},
    sync::atomic::AtomicU32,
};

use super::{
    alloc,
    openmp::{here, team_size},
    replace,
};
use crate::omp::{
    construct::{self, Chunk, Loop, Schedule},
    lock,
    task::{self, Body},
    team::{self, Region},
};

type Function = unsafe extern "C-unwind" fn(usize);

/// # Safety
/// The region is of gcc's kind.
unsafe fn call(region: &Region, _number: u32) {
    // SAFETY: guaranteed by the caller.
    unsafe { core::mem::transmute::<usize, Function>(region.function)(region.data) };
}

/// Executes a parallel region that may begin with a loop or sections.
///
/// # Safety
/// `function` is a function of gcc's kind for a region.
pub unsafe fn region(function: usize, data: usize, wanted: c_uint, work: Option<Loop>) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let region = Region { function, data, count: 0, call, work };
        let Some((slot, member, pc)) = here() else { return call(&region, 0) };
        team::fork(slot, pc, team_size(member, wanted), region);
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn parallel(function: usize, data: usize, wanted: c_uint, _flags: c_uint) {
    // SAFETY: guaranteed by the caller.
    unsafe { region(function, data, wanted, None) };
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn parallel_sections(
    function: usize,
    data: usize,
    wanted: c_uint,
    count: c_uint,
    _flags: c_uint,
) {
    let work = Loop::new(u64::from(count), 1, Schedule::Dynamic);
    // SAFETY: guaranteed by the caller.
    unsafe { region(function, data, wanted, Some(work)) };
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn end_nowait() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            construct::leave(member, slot, pc);
        }
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn end() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        end_nowait();
        barrier();
    }
}

/// Regions cannot be cancelled: no thread was.
///
/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn end_cancel() -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { end() };
    false
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn barrier() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            team::barrier(slot, member, pc);
        }
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn barrier_cancel() -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { barrier() };
    false
}

/// The number of the section in a chunk, from 1; 0 if there is none.
fn section(chunk: Option<Chunk>) -> c_uint {
    chunk.map_or(0, |it| it.first as c_uint + 1)
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn sections_start(count: c_uint) -> c_uint {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return 0 };
        Loop::new(u64::from(count), 1, Schedule::Dynamic).begin(member, slot, pc);
        sections_next()
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn sections_next() -> c_uint {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return 0 };
        section(construct::next_single(member, slot, pc))
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn single_start() -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return true };
        construct::single(member, slot, pc)
    }
}

/// Null for the thread that executes the region; for others, what that thread has copied.
///
/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn single_copy_start() -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return 0 };
        if construct::single(member, slot, pc) {
            return 0;
        }
        team::barrier(slot, member, pc);
        construct::copied((*member).now.team).map_or(0, |it| *it)
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn single_copy_end(data: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return };
        if let Some(copy) = construct::copied((*member).now.team) {
            *copy = data;
        }
        team::barrier(slot, member, pc);
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn ordered_start() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            construct::await_turn(member, slot, pc);
        }
    }
}

/// The turn passes at the end of the chunk.
///
/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn ordered_end() {}

/// Reports name variables in a module of this name by the variable alone, with spaces.
mod named {
    use super::AtomicU32;

    /// The lock of all critical regions without a name, and that of atomic constructs.
    #[allow(non_upper_case_globals, reason = "the name in reports")]
    pub(super) static omp_critical: AtomicU32 = AtomicU32::new(0);
}
static ATOMIC: AtomicU32 = AtomicU32::new(0);

/// Defines functions that acquire and release a lock.
macro_rules! critical {
    ($($enter:ident $leave:ident($($name:ident)?) = $lock:expr;)*) => { $(
        /// # Safety
        /// As for the function of libgomp in whose place it is called.
        unsafe extern "C-unwind" fn $enter($($name: usize)?) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some((slot, _, pc)) = here() {
                    lock::acquire(slot, $lock, pc);
                }
            }
        }

        /// # Safety
        /// As for the function of libgomp in whose place it is called.
        unsafe extern "C-unwind" fn $leave($($name: usize)?) {
            // SAFETY: guaranteed by the caller.
            unsafe {
                if let Some((slot, _, pc)) = here() {
                    lock::release(slot, $lock, pc);
                }
            }
        }
    )* };
}

critical! {
    critical_start critical_end() = &raw const named::omp_critical as usize;
    atomic_start atomic_end() = &raw const ATOMIC as usize;
    critical_name_start critical_name_end(name) = name;
}

/// # Safety
/// The body is that of a task of gcc's kind.
unsafe fn call_task(body: &Body) {
    // SAFETY: guaranteed by the caller.
    unsafe { core::mem::transmute::<usize, Function>(body.function)(body.data) };
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn task(
    function: usize,
    data: usize,
    copy: usize,
    size: c_long,
    align: c_long,
    deferred: bool,
    flags: c_uint,
) {
    const FINAL: c_uint = 2;
    const DEPENDS: c_uint = 8;
    type Copy = unsafe extern "C-unwind" fn(usize, usize);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return };
        if flags & DEPENDS != 0 {
            task::wait_children(slot, member, pc);
        }
        let deferred = deferred && flags & (FINAL | DEPENDS) == 0 && (*member).now.is_parallel();
        // A task that is executed at once uses its creator's data, unless these have a constructor.
        if !deferred && copy == 0 {
            let body = Body { function, data, call: call_task, block: 0 };
            return task::create(slot, member, pc, body, false);
        }
        let (size, align) = (size as usize, (align as usize).max(1));
        let block = alloc::malloc(size + align, pc);
        let own = block.next_multiple_of(align);
        match copy {
            0 => core::ptr::copy_nonoverlapping(data as *const u8, own as *mut u8, size),
            copy => core::mem::transmute::<usize, Copy>(copy)(own, data),
        }
        let body = Body { function, data: own, call: call_task, block };
        task::create(slot, member, pc, body, deferred);
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn task_wait() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            task::wait_children(slot, member, pc);
        }
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn task_yield() {}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn group_start() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, member, _)) = here() {
            task::begin_group(member);
        }
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn group_end() {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            task::end_group(slot, member, pc);
        }
    }
}

/// # Safety
/// As for the function of libgomp in whose place it is called.
unsafe extern "C-unwind" fn cancel(_which: c_int, _do: bool) -> bool {
    false
}

replace! {
    GOMP_parallel => parallel;
    GOMP_parallel_sections => parallel_sections;
    GOMP_loop_end => end;
    GOMP_loop_end_nowait => end_nowait;
    GOMP_loop_end_cancel => end_cancel;
    GOMP_sections_start => sections_start;
    GOMP_sections_next => sections_next;
    GOMP_sections_end => end;
    GOMP_sections_end_nowait => end_nowait;
    GOMP_sections_end_cancel => end_cancel;
    GOMP_single_start => single_start;
    GOMP_single_copy_start => single_copy_start;
    GOMP_single_copy_end => single_copy_end;
    GOMP_barrier => barrier;
    GOMP_barrier_cancel => barrier_cancel;
    GOMP_ordered_start => ordered_start;
    GOMP_ordered_end => ordered_end;
    GOMP_critical_start => critical_start;
    GOMP_critical_end => critical_end;
    GOMP_critical_name_start => critical_name_start;
    GOMP_critical_name_end => critical_name_end;
    GOMP_atomic_start => atomic_start;
    GOMP_atomic_end => atomic_end;
    GOMP_task => task;
    GOMP_taskwait => task_wait;
    GOMP_taskyield => task_yield;
    GOMP_taskgroup_start => group_start;
    GOMP_taskgroup_end => group_end;
    GOMP_cancel => cancel;
    GOMP_cancellation_point => cancel;
}
