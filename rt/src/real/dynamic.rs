//! Looks up the real functions of a dynamically linked program, by `dlsym`.

use core::{
    ffi::c_void,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Marks a function that was looked up and is absent.
const ABSENT: usize = 1;
const NEXT: *mut c_void = -1isize as *mut c_void;

unsafe extern "C" {
    fn dlsym(module: *mut c_void, name: *const u8) -> *mut c_void;
    fn dlvsym(module: *mut c_void, name: *const u8, version: *const u8) -> *mut c_void;
}

/// The first definition of a symbol, as the program would find it. The name ends with a zero
/// byte.
pub fn first(name: &[u8]) -> usize {
    if name.last() != Some(&0) {
        return 0;
    }
    // SAFETY: the name ends with a zero byte.
    unsafe { dlsym(core::ptr::null_mut(), name.as_ptr()) as usize }
}

/// A function that is looked up once.
pub struct Symbol {
    name: &'static str,
    address: AtomicUsize,
}

impl Symbol {
    pub const fn new(name: &'static str) -> Self {
        Symbol { name, address: AtomicUsize::new(0) }
    }

    #[inline]
    pub fn get(&self) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.look_up(),
            ABSENT => 0,
            address => address,
        }
    }

    /// The function, without which the program cannot continue.
    pub fn required(&self) -> usize {
        let found = self.get();
        if found == 0 {
            crate::sys::say("norn: no library of the program has the function ");
            crate::sys::say(self.name.trim_end_matches('\0'));
            crate::sys::say("\nhint: link the program with --no-as-needed\n");
            // SAFETY: ends the process.
            unsafe { crate::sys::call(crate::sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
        }
        found
    }

    #[cold]
    fn look_up(&self) -> usize {
        let name = self.name.as_ptr();
        let mut found = core::ptr::null_mut();
        // SAFETY: the names end with a NUL byte. Condition variables also have an old symbol
        // version with another layout, which `dlsym` without a version may return.
        unsafe {
            if self.name.starts_with("pthread_cond_") && self.name != "pthread_cond_clockwait\0" {
                found = dlvsym(NEXT, name, c"GLIBC_2.3.2".as_ptr().cast());
            }
            if found.is_null() {
                found = dlsym(NEXT, name);
            }
        }
        let found = found as usize;
        self.address.store(found.max(ABSENT), Ordering::Relaxed);
        found
    }
}
