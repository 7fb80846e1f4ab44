//! Looks up the real functions of a dynamically linked program, by `dlsym`.

use core::{
    ffi::c_void,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Marks a function that was looked up and is absent.
const ABSENT: usize = 1;
const NEXT: *mut c_void = -1isize as *mut c_void;

/// The library of C++, where a module in C++ of a program in C has it.
const CXX: &[u8] = b"libstdc++.so.6\0";
/// `RTLD_LAZY | RTLD_NOLOAD` of libc.
const LOADED: i32 = 1 | 4;
/// `RTLD_DL_LINKMAP` of libc.
const MODULE: i32 = 2;

unsafe extern "C" {
    fn dladdr1(addr: usize, found: *mut [usize; 4], module: *mut *mut c_void, what: i32) -> i32;
    fn dlopen(name: *const u8, flags: i32) -> *mut c_void;
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
        match self.get() {
            0 => self.missing(),
            found => found,
        }
    }

    /// The same for a function of the C++ library that is called from `pc`. A program in C may load a module in C++:
    /// only that module has the library then, or its own copy of it, and `dlsym` knows that only for the module.
    pub fn required_by(&self, pc: usize) -> usize {
        match self.get() {
            0 => self.of_module(pc),
            found => found,
        }
    }

    #[cold]
    fn of_module(&self, pc: usize) -> usize {
        let (name, mut module) = (self.name.as_ptr(), core::ptr::null_mut());
        let ours = first(self.name.as_bytes());
        // SAFETY: the names end with a NUL byte, and the other buffers are local variables. In libc, a module is the
        // handle of itself. Its handle keeps the C++ library loaded, which it always stays.
        let found = unsafe {
            let of = |module: *mut c_void| {
                let found = if module.is_null() { 0 } else { dlsym(module, name) as usize };
                Some(found).filter(|it| *it != 0 && *it != ours)
            };
            dladdr1(pc, &mut [0; 4], &raw mut module, MODULE);
            of(module).or_else(|| of(dlopen(CXX.as_ptr(), LOADED)))
        };
        found.unwrap_or_else(|| self.missing())
    }

    fn missing(&self) -> ! {
        loop {
            crate::sys::say("norn: no library of the program has the function ");
            crate::sys::say(self.name.trim_end_matches('\0'));
            crate::sys::say("\nhint: link the program with --no-as-needed\n");
            // SAFETY: ends the process.
            unsafe { crate::sys::call(crate::sys::EXIT_GROUP, [70, 0, 0, 0, 0, 0]) };
        }
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
