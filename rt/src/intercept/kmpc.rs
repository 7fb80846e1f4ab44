//! The functions that clang calls for OpenMP's constructs (libomp's interface). See [`omp`](crate::omp).
//! Each has the place in the source and the thread's number as arguments, which are not needed.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering, fence},
};

use norn_abi::Kind;

use super::{
    openmp::{here, team_size},
    replace,
};
use crate::{
    event,
    omp::{
        self, construct, lock,
        team::{self, Region},
    },
};

unsafe extern "C-unwind" {
    /// Calls `function(thread, bound, arguments…)`.
    fn norn_call_region(
        function: usize,
        thread: *const c_int,
        bound: *const c_int,
        count: usize,
        arguments: usize,
    );
    fn norn_fork_call();
}

// The arguments of a region are variable: three are in registers, the others behind the return
// address on the stack. `norn_fork_call` puts the three beside the others and passes the address;
// `norn_call_region` passes four in registers and the others on the stack.
core::arch::global_asm!(
    ".hidden norn_fork_call",
    ".globl norn_fork_call",
    ".type norn_fork_call,@function",
    "norn_fork_call:",
    "pop r11",
    "push r9",
    "push r8",
    "push rcx",
    "mov rcx, rsp",
    "push r11",
    "call {fork}",
    "pop r11",
    "add rsp, 24",
    "push r11",
    "ret",
    ".size norn_fork_call, . - norn_fork_call",
    ".hidden norn_call_region",
    ".globl norn_call_region",
    ".type norn_call_region,@function",
    "norn_call_region:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov r11, rdi",
    "mov r10, r8",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rax, rcx",
    "sub rcx, 4",
    "jle .Lnorn_registers",
    "test cl, 1",
    "jz .Lnorn_push",
    "sub rsp, 8",
    ".Lnorn_push:",
    "push qword ptr [r10 + rax * 8 - 8]",
    "dec rax",
    "dec rcx",
    "jnz .Lnorn_push",
    ".Lnorn_registers:",
    "mov rdx, qword ptr [r10]",
    "mov rcx, qword ptr [r10 + 8]",
    "mov r8, qword ptr [r10 + 16]",
    "mov r9, qword ptr [r10 + 24]",
    "xor eax, eax",
    "call r11",
    "leave",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size norn_call_region, . - norn_call_region",
    fork = sym fork,
);

/// # Safety
/// The region is of clang's kind.
unsafe fn call(region: &Region, number: u32) {
    let (thread, bound) = (number as c_int, 0);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let count = region.count as usize;
        norn_call_region(region.function, &raw const thread, &raw const bound, count, region.data);
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called; the arguments of the region are in memory.
unsafe extern "C-unwind" fn fork(_: usize, count: u32, function: usize, data: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let region = Region { function, data, count, call, work: None };
        let Some((slot, member, pc)) = here() else { return call(&region, 0) };
        team::fork(slot, pc, team_size(member, 0), region);
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn push_num_threads(_: usize, _: c_int, wanted: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, member, _)) = here() {
            (*member).wanted = u32::try_from(wanted).unwrap_or(0);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn serialized(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, member, _)) = here() {
            omp::descend(member);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn end_serialized(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((_, member, _)) = here() {
            omp::ascend(member);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn thread_number(_: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { here().map_or(0, |(_, member, _)| (*member).now.number as c_int) }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn barrier(_: usize, _: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, member, pc)) = here() {
            team::barrier(slot, member, pc);
        }
    }
}

/// Regions cannot be cancelled: no thread was.
///
/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn cancel_barrier(place: usize, thread: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { barrier(place, thread) };
    0
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn cancel(_: usize, _: c_int, _kind: c_int) -> c_int {
    0
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn single(_: usize, _: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return 1 };
        c_int::from(construct::single(member, slot, pc))
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn nothing(_: usize, _: c_int) {}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn copy_private(
    _: usize,
    _: c_int,
    _size: usize,
    data: usize,
    copy: usize,
    is_source: c_int,
) {
    type Copy = unsafe extern "C-unwind" fn(usize, usize);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some((slot, member, pc)) = here() else { return };
        let Some(shared) = construct::copied((*member).now.team) else { return };
        if is_source != 0 {
            *shared = data;
        }
        team::barrier(slot, member, pc);
        if is_source == 0 {
            core::mem::transmute::<usize, Copy>(copy)(data, *shared);
        }
        team::barrier(slot, member, pc);
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn master(_: usize, _: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { here().map_or(1, |(_, member, _)| c_int::from((*member).now.number == 0)) }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn masked(_: usize, _: c_int, filter: c_int) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        here().map_or(1, |(_, member, _)| c_int::from((*member).now.number as c_int == filter))
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn critical(_: usize, _: c_int, name: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::acquire(slot, name, pc);
        }
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn end_critical(_: usize, _: c_int, name: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            lock::release(slot, name, pc);
        }
    }
}

/// The lock of atomic constructs for which the processor has no instruction.
static ATOMIC: AtomicU32 = AtomicU32::new(0);

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn atomic_start() {
    // SAFETY: guaranteed by the caller.
    unsafe { critical(0, 0, &raw const ATOMIC as usize) };
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn atomic_end() {
    // SAFETY: guaranteed by the caller.
    unsafe { end_critical(0, 0, &raw const ATOMIC as usize) };
}

/// Begins to add the thread's part of a reduction. Of the methods that the program is prepared for, the
/// critical region is used: each thread adds its own part.
///
/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn reduce(
    _: usize,
    _: c_int,
    _count: c_int,
    _size: usize,
    _data: usize,
    _function: usize,
    name: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { critical(0, 0, name) };
    1
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn end_reduce(place: usize, thread: c_int, name: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        end_critical(place, thread, name);
        barrier(place, thread);
    }
}

/// # Safety
/// As for the function of libomp in whose place it is called.
unsafe extern "C-unwind" fn flush(_: usize) {
    const SEQ_CST: usize = 5;
    fence(Ordering::SeqCst);
    // SAFETY: guaranteed by the caller.
    unsafe {
        if let Some((slot, _, pc)) = here() {
            event::put(slot, Kind::Fence, pc, SEQ_CST, &[]);
        }
    }
}

replace! {
    __kmpc_fork_call => norn_fork_call;
    __kmpc_push_num_threads => push_num_threads;
    __kmpc_serialized_parallel => serialized;
    __kmpc_end_serialized_parallel => end_serialized;
    __kmpc_global_thread_num => thread_number;
    __kmpc_barrier => barrier;
    __kmpc_cancel_barrier => cancel_barrier;
    __kmpc_cancel => cancel;
    __kmpc_cancellationpoint => cancel;
    __kmpc_single => single;
    __kmpc_end_single => nothing;
    __kmpc_copyprivate => copy_private;
    __kmpc_master => master;
    __kmpc_end_master => nothing;
    __kmpc_masked => masked;
    __kmpc_end_masked => nothing;
    __kmpc_critical => critical;
    __kmpc_critical_with_hint => critical;
    __kmpc_end_critical => end_critical;
    __kmpc_atomic_start => atomic_start;
    __kmpc_atomic_end => atomic_end;
    __kmpc_reduce => reduce;
    __kmpc_reduce_nowait => reduce;
    __kmpc_end_reduce => end_reduce;
    __kmpc_end_reduce_nowait => end_critical;
    __kmpc_flush => flush;
}
