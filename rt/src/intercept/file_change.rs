//! Calls that change files and folders, which other threads may watch; see [`channel::watch`].

use core::ffi::{c_int, c_uint};

use super::interpose;
use crate::{
    channel::watch::{self, changing},
    real,
};

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn inotify_init1(flags: c_int, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    let file = unsafe { real::inotify_init1()(flags) };
    if file >= 0 {
        watch::add(file);
    }
    file
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn inotify_init(pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { inotify_init1(0, pc) }
}

/// Defines functions that change files.
macro_rules! changes {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => { $(
        /// # Safety
        /// As for the function of libc in whose place it is called.
        unsafe extern "C-unwind" fn $name($($arg: $type,)* pc: usize) -> c_int {
            // SAFETY: guaranteed by the caller.
            unsafe { changing(pc, || real::$name()($($arg),*)) }
        }
    )* };
}

changes! {
    creat(path: usize, mode: c_uint);
    unlink(path: usize);
    unlinkat(folder: c_int, path: usize, flags: c_int);
    remove(path: usize);
    rename(from: usize, to: usize);
    renameat(from_folder: c_int, from: usize, to_folder: c_int, to: usize);
    link(from: usize, to: usize);
    symlink(from: usize, to: usize);
    mkdir(path: usize, mode: c_uint);
    mkdirat(folder: c_int, path: usize, mode: c_uint);
    rmdir(path: usize);
    chmod(path: usize, mode: c_uint);
    truncate(path: usize, len: i64);
    ftruncate(file: c_int, len: i64);
    fflush(stream: usize);
    fclose(stream: usize);
}

interpose! {
    inotify_init(0) => inotify_init;
    inotify_init1(1) => inotify_init1;
    creat(2) => creat;
    creat64(2) => creat;
    unlink(1) => unlink;
    unlinkat(3) => unlinkat;
    remove(1) => remove;
    rename(2) => rename;
    renameat(4) => renameat;
    link(2) => link;
    symlink(2) => symlink;
    mkdir(2) => mkdir;
    mkdirat(3) => mkdirat;
    rmdir(1) => rmdir;
    chmod(2) => chmod;
    truncate(2) => truncate;
    truncate64(2) => truncate;
    ftruncate(2) => ftruncate;
    ftruncate64(2) => ftruncate;
    fflush(1) => fflush;
    fclose(1) => fclose;
}
