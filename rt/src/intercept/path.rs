//! Functions that open a file by its path, which may contain the id of a thread
//! (`/proc/self/task/ID`); see [`thread_id`].

use core::{
    ffi::{c_int, c_uint},
    sync::atomic::Ordering,
};

use super::interpose_early;
use crate::{
    arena, channel::watch::changing, control, input::descriptor, real, thread_id::TaskPath,
};

/// Makes a call with a path, in which the id of a thread is the kernel's.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn with_path<T>(path: usize, call: impl FnOnce(usize) -> T) -> T {
    // SAFETY: guaranteed by the caller.
    match unsafe { TaskPath::new(path) } {
        Some(translated) => call(translated.address()),
        None => call(path),
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn open(path: usize, flags: c_int, mode: c_uint, pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { with_path(path, |path| changing(pc, || real::open()(path, flags, mode))) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn openat(
    folder: c_int,
    path: usize,
    flags: c_int,
    mode: c_uint,
    pc: usize,
) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { with_path(path, |path| changing(pc, || real::openat()(folder, path, flags, mode))) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn fopen(path: usize, mode: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let stream = with_path(path, |path| changing(pc, || real::fopen()(path, mode)));
        // libc reads from the stream by itself, so random numbers cannot be replaced there.
        if control::is_on() && stream != 0 && descriptor::is_random(real::fileno(stream)) {
            arena::outcome().inputs.fetch_add(1, Ordering::Relaxed);
        }
        stream
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn opendir(path: usize, _pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { with_path(path, |path| real::opendir()(path)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn access(path: usize, mode: c_int, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { with_path(path, |path| real::access()(path, mode)) }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn readlink(path: usize, to: usize, len: usize, _pc: usize) -> isize {
    // SAFETY: guaranteed by the caller.
    unsafe { with_path(path, |path| real::readlink()(path, to, len)) }
}

// Offsets in files have 64 bits in both variants.
interpose_early! {
    open(3) => open;
    open64(3) => open;
    openat(4) => openat;
    openat64(4) => openat;
    fopen(2) => fopen;
    fopen64(2) => fopen;
    opendir(1) => opendir;
    access(2) => access;
    readlink(3) => readlink;
}
