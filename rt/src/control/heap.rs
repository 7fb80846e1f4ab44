//! The heap of a controlled run. Each thread allocates from its own part of the memory, in order,
//! so the same schedule yields the same addresses. Freed blocks are quarantined, and one shadow
//! byte per 16 bytes records whether they may be accessed, so that a use after free or an access
//! past the end is detected at the access.
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

/// Start of the heap, size of one thread's part, and number of parts.
const START: usize = 0x6000_0000_0000;
const PART: usize = 1 << 32;
const PARTS: usize = 1024;
const SIZE: usize = PART * PARTS;
/// Start of the shadow memory, which records what may be accessed.
const NOTES: usize = 0x6800_0000_0000;
const GRAIN: usize = 16;

/// Shadow byte of memory that was never allocated, or that precedes a block.
const OUTSIDE: u8 = 0;
const LIVE: u8 = 1;
const FREED: u8 = 2;

/// Number of freed bytes that are quarantined before they are reused.
const KEPT: usize = 64 << 20;
/// Number of size classes: four for each power of two.
const CLASSES: usize = 112;

/// The header before each block.
#[repr(C)]
struct Header {
    /// The size that the program requested.
    size: usize,
    /// Number of bytes after the header that belong to the block.
    room: usize,
    /// The next block in the list that contains this one.
    next: *mut Header,
    /// Start of the memory that holds the header and the block.
    start: usize,
}

const HEADER: usize = size_of::<Header>();

struct Heap {
    /// Number of bytes of each part that have been allocated so far.
    used: [usize; PARTS],
    /// Lists of reusable memory, by size class.
    free: [*mut Header; CLASSES],
    /// The quarantine: a list of freed blocks, the oldest first.
    oldest: *mut Header,
    newest: *mut Header,
    kept: usize,
}

struct Shared(UnsafeCell<Heap>);

// SAFETY: only accessed under the heap's lock.
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
    // SAFETY: the lock is held.
    let result = f(unsafe { &mut *HEAP.0.get() });
    LOCK.store(false, Ordering::Release);
    result
}

/// Reserves the address space. In a static program libc's internal calls do not reach the runtime's
/// allocator, so blocks of both heaps would be mixed up; there, and where address space is limited,
/// libc's heap is used.
///
/// # Safety
/// No other thread runs yet.
pub unsafe fn start() {
    if cfg!(feature = "static") {
        return;
    }
    // SAFETY: the address space is newly reserved.
    unsafe {
        let on = sys::reserve(START, SIZE) && sys::reserve(NOTES, SIZE / GRAIN);
        ON.store(on, Ordering::Relaxed);
    }
}

/// In a forked child: releases the lock, because no other thread exists.
pub fn after_fork() {
    LOCK.store(false, Ordering::Relaxed);
}

/// Whether blocks are allocated from this heap.
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
    // SAFETY: the shadow memory covers all of the heap.
    !contains(addr) || unsafe { *note(addr) == LIVE }
}

/// # Safety
/// The block is in the heap and belongs to the caller.
unsafe fn set_notes(block: usize, len: usize, what: u8) {
    let first = note(block);
    for i in 0..len.div_ceil(GRAIN) {
        // SAFETY: the shadow memory covers all of the heap.
        unsafe { first.add(i).write_volatile(what) };
    }
}

/// The size class of a size, and the size of the blocks of that class.
fn class(size: usize) -> (usize, usize) {
    let size = size.max(GRAIN).next_multiple_of(GRAIN);
    let power = usize::BITS as usize - 1 - size.leading_zeros() as usize;
    let step = 1 << (power - 2);
    let quarter = (size - (1 << power)).div_ceil(step);
    ((power - 4) * 4 + quarter, ((1 << power) + quarter * step).next_multiple_of(GRAIN))
}

/// Allocates a block. Returns its address, or 0 if there is no room. Its bytes are zero if `zero`.
///
/// # Safety
/// The slot is the current thread's and not a placeholder, and the heap is in use.
pub unsafe fn allocate(slot: *mut ThreadSlot, size: usize, align: usize, zero: bool) -> usize {
    let extra = if align > GRAIN { align } else { 0 };
    let Some(whole) = size.max(1).checked_add(HEADER + extra).filter(|it| *it < PART) else {
        return 0;
    };
    let (class, whole) = class(whole);
    // SAFETY: the slot is the current thread's; no other block uses the memory.
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

/// Takes memory for a block, and returns whether that memory was used before.
///
/// # Safety
/// The caller holds the heap's lock.
unsafe fn take(heap: &mut Heap, part: usize, class: usize, whole: usize) -> (usize, bool) {
    // SAFETY: the memory in the lists is free.
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

/// Frees a block of this heap. Ends the run if the address is not a block, or if the block is
/// already free.
///
/// # Safety
/// The slot is the current thread's, and the heap is in use. `block` need not be a valid block.
pub unsafe fn free(slot: *mut ThreadSlot, block: usize, pc: usize) {
    // SAFETY: the shadow memory tells whether there is a block.
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

/// Quarantines a freed block, and releases the oldest ones if the quarantine is too large.
///
/// # Safety
/// The caller holds the heap's lock, and the block is freed and in no list.
unsafe fn keep(heap: &mut Heap, header: *mut Header) {
    // SAFETY: the caller holds the lock, so the lists are not accessed by other threads.
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
    // SAFETY: the block is in no list, and the program may no longer use it.
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

/// Ends the run because of an access to memory that may not be accessed.
///
/// # Safety
/// The slot is the current thread's, or a placeholder.
#[cold]
pub unsafe fn complain(slot: *mut ThreadSlot, addr: usize, pc: usize) {
    // SAFETY: the shadow memory covers all of the heap.
    unsafe {
        let what = if *note(addr) == FREED { found::USE_AFTER_FREE } else { found::OUT_OF_BOUNDS };
        verdict::memory(slot, what, pc, addr, block_of(addr));
    }
}

/// The start of the block that contains an address, or of the block before it.
///
/// # Safety
/// The address is in the heap.
unsafe fn block_of(addr: usize) -> usize {
    let mut at = addr & !(GRAIN - 1);
    // SAFETY: the shadow memory covers all of the heap.
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

/// Checks whether all bytes of a range may be accessed, and ends the run if not.
///
/// # Safety
/// The slot is the current thread's, or a placeholder.
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
