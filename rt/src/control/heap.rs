//! The heap of a controlled run. Each thread allocates from memory of its own, in order, so the
//! same schedule gives the same addresses. Freed blocks are kept for a while, and one byte for
//! each 16 says whether they may be accessed, so that a use after free, or behind the end, is
//! seen at the access.
//!
//! ```text
//! block: [ header 32 bytes | the program's bytes, a multiple of 16 ]
//! ```

use core::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, Ordering},
};

use norn_abi::{arena::ThreadSlot, control::verdict as found};

use super::verdict;
use crate::{real, sys};

/// Where the heap begins, how large one thread's part is, and how many parts there are.
const START: usize = 0x6000_0000_0000;
const PART: usize = 1 << 32;
const PARTS: usize = 1024;
const SIZE: usize = PART * PARTS;
/// Where it is noted what may be accessed.
const NOTES: usize = 0x6800_0000_0000;
const GRAIN: usize = 16;

/// Never allocated, or before the beginning of a block.
const OUTSIDE: u8 = 0;
const LIVE: u8 = 1;
const FREED: u8 = 2;

/// Freed bytes that are kept before they are used again.
const KEPT: usize = 64 << 20;
/// Classes of sizes: four for each power of two.
const CLASSES: usize = 112;

/// Before each block.
#[repr(C)]
struct Header {
    /// What the program asked for.
    size: usize,
    /// Bytes from the header's end that are the block's.
    room: usize,
    /// The next block in the list that it is in.
    next: *mut Header,
    /// Where the memory of header and block begins.
    start: usize,
}

const HEADER: usize = size_of::<Header>();

struct Heap {
    /// How much of each thread's part was handed out so far.
    used: [usize; PARTS],
    /// Free memory, by class.
    free: [*mut Header; CLASSES],
    /// Freed blocks, the oldest first.
    oldest: *mut Header,
    newest: *mut Header,
    kept: usize,
}

struct Shared(UnsafeCell<Heap>);

// SAFETY: touched under the lock only.
unsafe impl Sync for Shared {}

static HEAP: Shared = Shared(UnsafeCell::new(Heap {
    used: [0; PARTS],
    free: [core::ptr::null_mut(); CLASSES],
    oldest: core::ptr::null_mut(),
    newest: core::ptr::null_mut(),
    kept: 0,
}));
static LOCK: AtomicBool = AtomicBool::new(false);
static ON: AtomicBool = AtomicBool::new(false);

fn locked<T>(f: impl FnOnce(&mut Heap) -> T) -> T {
    while LOCK.swap(true, Ordering::Acquire) {
        sys::yield_now();
    }
    // SAFETY: under the lock.
    let result = f(unsafe { &mut *HEAP.0.get() });
    LOCK.store(false, Ordering::Release);
    result
}

/// Reserves the memory. In a static program libc's own calls do not come to us, so its heap and
/// ours would be mixed up; there, and where memory is limited, libc's heap is used.
///
/// # Safety
/// No other thread runs yet.
pub unsafe fn start() {
    if cfg!(feature = "static") {
        return;
    }
    // SAFETY: new memory.
    unsafe {
        let on = sys::reserve(START, SIZE) && sys::reserve(NOTES, SIZE / GRAIN);
        ON.store(on, Ordering::Relaxed);
    }
}

/// In a forked child: nobody holds the lock.
pub fn after_fork() {
    LOCK.store(false, Ordering::Relaxed);
}

/// Whether blocks come from here.
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Whether an address is in this heap.
#[inline(always)]
pub fn contains(addr: usize) -> bool {
    addr.wrapping_sub(START) < SIZE
}

#[inline(always)]
fn note(addr: usize) -> *mut u8 {
    (NOTES + (addr - START) / GRAIN) as *mut u8
}

/// Whether the bytes at an address may be accessed.
///
/// # Safety
/// The heap is in use.
#[inline(always)]
pub unsafe fn is_good(addr: usize) -> bool {
    // SAFETY: there are notes for all of the heap.
    !contains(addr) || unsafe { *note(addr) == LIVE }
}

/// # Safety
/// The block is in the heap, and the caller's.
unsafe fn set_notes(block: usize, len: usize, what: u8) {
    let first = note(block);
    for i in 0..len.div_ceil(GRAIN) {
        // SAFETY: there are notes for all of the heap.
        unsafe { first.add(i).write_volatile(what) };
    }
}

/// The class of a size, and the size of its members.
fn class(size: usize) -> (usize, usize) {
    let size = size.max(GRAIN).next_multiple_of(GRAIN);
    let power = usize::BITS as usize - 1 - size.leading_zeros() as usize;
    let step = 1 << (power - 2);
    let quarter = (size - (1 << power)).div_ceil(step);
    ((power - 4) * 4 + quarter, ((1 << power) + quarter * step).next_multiple_of(GRAIN))
}

/// A new block: its address, or 0 if there is no room. Its bytes are zero if `zero`.
///
/// # Safety
/// The slot is the current thread's and no stand, and the heap is in use.
pub unsafe fn allocate(slot: *mut ThreadSlot, size: usize, align: usize, zero: bool) -> usize {
    let extra = if align > GRAIN { align } else { 0 };
    let Some(whole) = size.max(1).checked_add(HEADER + extra).filter(|it| *it < PART) else {
        return 0;
    };
    let (class, whole) = class(whole);
    // SAFETY: the slot is the current thread's; the memory is the block's alone.
    unsafe {
        let part = (*slot).head.thread as usize % PARTS;
        let (start, used) = locked(|heap| take(heap, part, class, whole));
        if start == 0 {
            return 0;
        }
        let block = (start + HEADER).next_multiple_of(align.max(GRAIN));
        let header = (block - HEADER) as *mut Header;
        (*header).size = size;
        (*header).room = start + whole - block;
        (*header).next = core::ptr::null_mut();
        (*header).start = start;
        if zero && used {
            real::memset()(block, 0, size);
        }
        set_notes(block, size.max(1), LIVE);
        block
    }
}

/// Memory for a block, and whether it was used before.
///
/// # Safety
/// The caller holds the heap's lock.
unsafe fn take(heap: &mut Heap, part: usize, class: usize, whole: usize) -> (usize, bool) {
    // SAFETY: what is in the lists is free.
    unsafe {
        let free = heap.free[class];
        if !free.is_null() {
            heap.free[class] = (*free).next;
            return (free as usize, true);
        }
    }
    if heap.used[part] + whole > PART {
        return (0, false);
    }
    let start = START + part * PART + heap.used[part];
    heap.used[part] += whole;
    (start, false)
}

/// The size of a block of this heap.
///
/// # Safety
/// The block is one of this heap.
pub unsafe fn size(block: usize) -> usize {
    // SAFETY: the header is before the block.
    unsafe { (*((block - HEADER) as *const Header)).size }
}

/// Frees a block of this heap. One that is none, or that is free already, ends the run.
///
/// # Safety
/// The slot is the current thread's, and the heap is in use. The block need not be a good one.
pub unsafe fn free(slot: *mut ThreadSlot, block: usize, pc: usize) {
    // SAFETY: the notes say whether there is a block.
    unsafe {
        let state = *note(block);
        let begins = block.is_multiple_of(GRAIN) && *note(block - 1) == OUTSIDE;
        if state == FREED && begins {
            verdict::memory(slot, found::DOUBLE_FREE, pc, block, block);
        }
        if state != LIVE || !begins {
            verdict::memory(slot, found::BAD_FREE, pc, block, block);
        }
        let header = (block - HEADER) as *mut Header;
        set_notes(block, (*header).size.max(1), FREED);
        locked(|heap| keep(heap, header));
    }
}

/// Keeps a freed block, and gives up the oldest if there are too many.
///
/// # Safety
/// The caller holds the heap's lock, and the block is freed and in no list.
unsafe fn keep(heap: &mut Heap, header: *mut Header) {
    // SAFETY: the lists are ours.
    unsafe {
        (*header).next = core::ptr::null_mut();
        match heap.newest.is_null() {
            true => heap.oldest = header,
            false => (*heap.newest).next = header,
        }
        heap.newest = header;
        heap.kept += (*header).room;
        while heap.kept > KEPT && heap.oldest != heap.newest {
            let oldest = heap.oldest;
            heap.oldest = (*oldest).next;
            heap.kept -= (*oldest).room;
            give_up(heap, oldest);
        }
    }
}

/// # Safety
/// The caller holds the heap's lock, and the block is in no list.
unsafe fn give_up(heap: &mut Heap, header: *mut Header) {
    // SAFETY: the block is nobody's any more.
    unsafe {
        let block = header as usize + HEADER;
        set_notes(block, (*header).room, OUTSIDE);
        let start = (*header).start;
        let (class, _) = class(block + (*header).room - start);
        let free = start as *mut Header;
        (*free).next = heap.free[class];
        heap.free[class] = free;
    }
}

/// An access to memory that is not to be accessed ends the run.
///
/// # Safety
/// The slot is the current thread's, or a stand.
#[cold]
pub unsafe fn complain(slot: *mut ThreadSlot, addr: usize, pc: usize) {
    // SAFETY: there are notes for all of the heap.
    unsafe {
        let what = if *note(addr) == FREED { found::USE_AFTER_FREE } else { found::OUT_OF_BOUNDS };
        verdict::memory(slot, what, pc, addr, block_of(addr));
    }
}

/// The beginning of the block that an address belongs to, or comes after.
///
/// # Safety
/// The address is in the heap.
unsafe fn block_of(addr: usize) -> usize {
    let mut at = addr & !(GRAIN - 1);
    // SAFETY: there are notes for all of the heap.
    unsafe {
        while at > START && *note(at) == OUTSIDE {
            at -= GRAIN;
        }
        while at > START && *note(at - GRAIN) != OUTSIDE {
            at -= GRAIN;
        }
    }
    at
}

/// Looks whether all of a range may be accessed.
///
/// # Safety
/// The slot is the current thread's, or a stand.
pub unsafe fn check(slot: *mut ThreadSlot, addr: usize, len: usize, pc: usize) {
    if !is_on() {
        return;
    }
    // SAFETY: the slot is the current thread's.
    unsafe {
        let mut at = addr;
        while at < addr + len {
            if !is_good(at) {
                return complain(slot, at, pc);
            }
            at = (at & !(GRAIN - 1)) + GRAIN;
        }
    }
}
