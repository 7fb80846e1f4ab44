//! The addresses of the loaded modules. They are read from `/proc/self/maps`, without a lock of the
//! loader, when the process starts and whenever a hook is called from code in an unknown module.

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot};

use crate::{arena, collect, control, function, number, rust_std, sys};

const MOST: usize = 512;

/// Start and end of the modules that are named in the trace; entries are only added.
static KNOWN: [(AtomicUsize, AtomicUsize); MOST] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static BUSY: AtomicBool = AtomicBool::new(false);

/// Whether the module that contains a program counter is named in the trace.
pub fn knows(pc: usize) -> bool {
    let count = COUNT.load(Ordering::Acquire);
    KNOWN[..count].iter().any(|(start, end)| {
        (start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed)).contains(&pc)
    })
}

/// In a new process: its trace names no module yet.
pub fn forget() {
    COUNT.store(0, Ordering::Relaxed);
    BUSY.store(false, Ordering::Relaxed);
}

/// Records the modules that are not named in the trace yet.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn modules(slot: *mut ThreadSlot) {
    if BUSY.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: the slot is the current thread's; the scan belongs to the thread that holds `BUSY`.
    unsafe {
        let before = COUNT.load(Ordering::Relaxed);
        each(|module| add(slot, module));
        if function::is_wanted() && COUNT.load(Ordering::Relaxed) > before {
            each(|module| {
                let known = position(module).is_some_and(|at| at >= before);
                if known {
                    function::find_imported(slot, module.start, module.end, module.path());
                }
            });
        }
    }
    BUSY.store(false, Ordering::Release);
}

/// Called when a module is loaded at the address of a known one: the same module again, or another
/// one in its place. Its functions are looked for again.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn again(slot: *mut ThreadSlot, pc: usize) {
    let program = again as *const () as usize;
    if BUSY.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: as in `modules`.
    unsafe {
        each(|module| {
            let range = module.start..module.end;
            if range.contains(&pc) && !range.contains(&program) {
                function::find_defined(slot, module.start, module.path());
                function::find_imported(slot, module.start, module.end, module.path());
            }
        });
    }
    BUSY.store(false, Ordering::Release);
}

/// Visits all modules that are mapped now. The caller must hold `BUSY`.
///
/// # Safety
/// The caller holds `BUSY`.
unsafe fn each(mut visit: impl FnMut(&Mapping)) {
    // SAFETY: the scan belongs to the thread that holds `BUSY`.
    let scan = unsafe { &mut *SCAN.0.get() };
    let Some(file) = sys::open(c"/proc/self/maps") else { return };
    scan.start(file);
    while scan.advance() {
        if scan.goes_on() {
            scan.merge();
        } else {
            visit(scan.module());
            scan.turn();
        }
    }
    visit(scan.module());
    sys::close(file);
}

/// # Safety
/// The slot is the current thread's and not a placeholder, and the module is mapped.
unsafe fn add(slot: *mut ThreadSlot, module: &Mapping) {
    let count = COUNT.load(Ordering::Relaxed);
    if !module.code || module.path().first() != Some(&b'/') || count == MOST || known(module) {
        return;
    }
    KNOWN[count].0.store(module.start, Ordering::Relaxed);
    KNOWN[count].1.store(module.end, Ordering::Relaxed);
    COUNT.store(count + 1, Ordering::Release);
    control::schedule::module(module.start, module.path());
    collect::code(module.start, module.end);
    // SAFETY: the slot is the current thread's.
    unsafe {
        if arena::make_room(slot) {
            let (seq, end) = (number::next(slot), module.end as u64);
            (*slot).lane.text(Kind::Module, module.start, seq, end, module.path());
        }
        if function::is_wanted() {
            function::find_defined(slot, module.start, module.path());
        }
        let own = add as *const () as usize;
        if (module.start..module.end).contains(&own) && rust_std::is_used() {
            rust_std::install(module.start, module.path());
        }
    }
}

/// Whether two addresses are in the same module.
#[cfg(not(feature = "static"))]
pub fn are_together(one: usize, other: usize) -> bool {
    KNOWN[..COUNT.load(Ordering::Acquire)].iter().any(|(start, end)| {
        let module = start.load(Ordering::Relaxed)..end.load(Ordering::Relaxed);
        module.contains(&one) && module.contains(&other)
    })
}

fn known(module: &Mapping) -> bool {
    position(module).is_some()
}

fn position(module: &Mapping) -> Option<usize> {
    let count = COUNT.load(Ordering::Relaxed);
    KNOWN[..count].iter().position(|(start, end)| {
        start.load(Ordering::Relaxed) == module.start && end.load(Ordering::Relaxed) == module.end
    })
}

/// One line of the list, `start-end perms offset device inode path`, or the merged lines of a
/// module.
struct Mapping {
    start: usize,
    end: usize,
    code: bool,
    path: [u8; 1024],
    len: usize,
}

impl Mapping {
    const EMPTY: Mapping = Mapping { start: 0, end: 0, code: false, path: [0; 1024], len: 0 };

    fn clear(&mut self) {
        (self.start, self.end, self.code, self.len) = (0, 0, false, 0);
    }

    fn path(&self) -> &[u8] {
        &self.path[..self.len]
    }

    /// Appends the next byte of the line, which belongs to the given `field`.
    fn push(&mut self, field: usize, byte: u8) {
        let digit = (byte as char).to_digit(16).unwrap_or(0) as usize;
        match field {
            0 => self.start = self.start << 4 | digit,
            1 => self.end = self.end << 4 | digit,
            2 => self.code |= byte == b'x',
            6 if self.len < self.path.len() => {
                self.path[self.len] = byte;
                self.len += 1;
            }
            _ => {}
        }
    }
}

/// Reads the list through a small buffer: the module so far and the next line.
struct Scan {
    file: usize,
    lines: [Mapping; 2],
    current: usize,
    buffer: [u8; 1024],
    at: usize,
    end: usize,
}

/// The only scan. It is static because it is too large for a small stack, and because moving it
/// would call `memcpy`, which the runtime intercepts.
struct Shared(UnsafeCell<Scan>);

// SAFETY: only accessed by the thread that holds `BUSY`.
unsafe impl Sync for Shared {}

static SCAN: Shared = Shared(UnsafeCell::new(Scan {
    file: 0,
    lines: [Mapping::EMPTY, Mapping::EMPTY],
    current: 0,
    buffer: [0; 1024],
    at: 0,
    end: 0,
}));

impl Scan {
    fn start(&mut self, file: usize) {
        (self.file, self.at, self.end) = (file, 0, 0);
        self.lines[self.current].clear();
    }

    fn module(&self) -> &Mapping {
        &self.lines[self.current]
    }

    /// Whether the next line belongs to the same module.
    fn goes_on(&self) -> bool {
        let (module, next) = (self.module().path(), self.lines[1 - self.current].path());
        module.len() == next.len() && module.iter().zip(next).all(|(a, b)| a == b)
    }

    fn merge(&mut self) {
        let (end, code) = (self.lines[1 - self.current].end, self.lines[1 - self.current].code);
        self.lines[self.current].end = end;
        self.lines[self.current].code |= code;
    }

    fn turn(&mut self) {
        self.current = 1 - self.current;
    }

    /// Reads the next line; returns false at the end.
    fn advance(&mut self) -> bool {
        self.lines[1 - self.current].clear();
        let (mut field, mut last) = (0, 0);
        while let Some(byte) = self.byte() {
            match byte {
                b'\n' => return true,
                b'-' if field == 0 => field = 1,
                b' ' if last == b' ' => {}
                b' ' if field < 6 => field += 1,
                _ => self.lines[1 - self.current].push(field, byte),
            }
            last = byte;
        }
        false
    }

    fn byte(&mut self) -> Option<u8> {
        if self.at == self.end {
            self.end = sys::read(self.file, &mut self.buffer);
            self.at = 0;
            if self.end == 0 {
                return None;
            }
        }
        self.at += 1;
        Some(self.buffer[self.at - 1])
    }
}
