//! The encoder of one thread's events, in the format of [`crate::codec`].
//!
//! Nothing here makes a call, allocates or locks: these functions are inlined into the access
//! hooks.
#![expect(unsafe_code, reason = "the encoder writes through raw pointers into shared memory")]
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fields are cut to the bits they have, and differences wrap around"
)]

mod event;
mod site;

pub use self::site::{Located, Site};
use crate::{
    Kind,
    codec::{CELLS, LEAVE, RECENTS, SITES, SLACK, UNKNOWN, cell, key, slot_of, tag_of},
    field::{value, varint},
    peek,
};

/// The state of one thread's encoder. Zeroed at the start of each chunk.
#[repr(C)]
#[derive(Debug)]
pub struct Lane {
    /// The position of the next byte.
    pub cur: *mut u8,
    /// No record begins at or after this address.
    pub lim: *mut u8,
    /// The previous record's site; [`Located::NOWHERE`] while a write is pending.
    pub prev: Located,
    /// The previous record's site while a write is pending.
    pub held: Located,
    /// Address of the write whose value is still to be read back; 0 for none.
    pub pend_addr: usize,
    /// Head byte of that write's record.
    pub pend_head: *mut u8,
    /// The number of its bytes, or of those of the block.
    pub pend_size: usize,
    /// Address of the block whose content is still to be read back; 0 for none. While there is one,
    /// `lim` is null and `block_lim` holds its value, so that the hooks, which compare with `lim`
    /// anyway, take their cold path and settle the block there.
    pub pend_block: usize,
    /// The value of `lim` once the block is settled.
    pub block_lim: *mut u8,
    /// The last sequence number in this chunk.
    pub last_seq: u64,
    /// The recent values; see [`recent`](crate::codec::recent).
    pub recents: [u64; RECENTS],
    /// The sites.
    pub sites: [Site; SITES],
    /// What [`Located::NOWHERE`] leads to.
    pub nowhere: Site,
    /// The last values by address; see [`cell`].
    pub cells: [u64; CELLS],
}

impl Lane {
    /// Resets the tables and uses the memory from `start` to `end`.
    ///
    /// # Safety
    /// `this` points to a lane; the memory between `start` and `end` belongs to it alone and is
    /// longer than [`SLACK`].
    pub unsafe fn start(this: *mut Lane, start: *mut u8, end: *mut u8, last_seq: u64) {
        // SAFETY: zero is a valid value for every field; the rest is set below.
        unsafe {
            zero(this.cast(), size_of::<Lane>() / 8);
            (*this).cur = start;
            (*this).lim = end.sub(SLACK);
            (*this).prev = Located::FIRST;
            (*this).nowhere = Site::NOWHERE;
            (*this).last_seq = last_seq;
        }
    }

    /// Whether the next record would not fit.
    #[inline(always)]
    pub fn full(&self) -> bool {
        self.cur >= self.lim
    }

    /// Whether the last write's value is still to be read back.
    #[inline(always)]
    pub fn pending(&self) -> bool {
        self.pend_addr != 0
    }

    /// Records a memory access of up to 8 bytes of the predicted site, if its address is as predicted. This is
    /// what happens in loops, where it saves half of the instructions. Returns false and changes nothing
    /// if it is not; the caller then calls [`Lane::moved_access`].
    ///
    /// # Safety
    /// The lane is started, belongs to this thread and has nothing pending; this thread is about to
    /// access `addr` as `K` states; the site was just located and is the next one.
    #[inline(always)]
    pub unsafe fn foreseen_access<const K: u16, const VALUES: bool>(
        &mut self,
        at: Located,
        addr: usize,
    ) -> bool {
        let foreseen = self.is_foreseen(at, addr);
        if foreseen {
            let head = self.cur;
            // SAFETY: the record fits into the slack after `lim`.
            unsafe { self.finish::<K>(head, 0, head.add(1), addr, VALUES) };
        }
        foreseen
    }

    /// Records a memory access of up to 8 bytes of the predicted site, whatever its address is.
    ///
    /// # Safety
    /// As for [`Lane::foreseen_access`].
    #[inline(always)]
    pub unsafe fn moved_access<const K: u16, const VALUES: bool>(
        &mut self,
        at: Located,
        addr: usize,
    ) {
        // SAFETY: the record fits into the slack after `lim`.
        unsafe {
            let head = self.cur;
            let (bits, end) = self.begin_next(head, at, addr);
            self.finish::<K>(head, bits, end, addr, VALUES);
        }
    }

    /// Records a memory access of up to 8 bytes, whatever its address and the site before it are.
    ///
    /// # Safety
    /// As for [`Lane::foreseen_access`], but the site may be any.
    #[inline(always)]
    pub unsafe fn unforeseen_access<const K: u16, const VALUES: bool>(
        &mut self,
        at: Located,
        addr: usize,
    ) {
        // SAFETY: the record fits into the slack after `lim`.
        unsafe {
            let head = self.cur;
            let (bits, end) = self.begin(head, at, addr);
            self.finish::<K>(head, bits, end, addr, VALUES);
        }
    }

    /// Records a memory access of up to 8 bytes whose site was not located. Returns false and changes
    /// nothing if the chunk is full or the site has no slot yet; the caller then makes room and
    /// calls [`Lane::any_access`].
    ///
    /// # Safety
    /// As for [`Lane::foreseen_access`].
    #[inline(always)]
    pub unsafe fn access<const K: u16, const VALUES: bool>(
        &mut self,
        addr: usize,
        pc: usize,
    ) -> bool {
        let Some(at) = self.site(slot_of(pc, K), tag_of(pc, K)) else { return false };
        // SAFETY: guaranteed by the caller.
        unsafe { self.unforeseen_access::<K, VALUES>(at, addr) };
        true
    }

    /// Records a memory access of up to 8 bytes in every case.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    pub unsafe fn any_access<const K: u16>(
        &mut self,
        addr: usize,
        pc: usize,
        seq: Option<u64>,
        values: bool,
    ) {
        // SAFETY: as in `access`.
        unsafe {
            let (head, bits, at) = self.open(Kind::of_constant::<K>(), pc, addr);
            let at = self.number(at, seq);
            self.finish::<K>(head, bits, at, addr, values);
        }
    }

    /// Writes the sequence number of an access, in the mode with a total order.
    #[inline(always)]
    unsafe fn number(&mut self, at: *mut u8, seq: Option<u64>) -> *mut u8 {
        let Some(seq) = seq else { return at };
        let more = seq.wrapping_sub(self.last_seq);
        self.last_seq = seq;
        // SAFETY: it fits into the slack.
        unsafe { varint(at, more) }
    }

    /// Writes the value of a read, or leaves that of a write pending until the next event.
    #[inline(always)]
    unsafe fn finish<const K: u16>(
        &mut self,
        head: *mut u8,
        bits: u8,
        at: *mut u8,
        addr: usize,
        values: bool,
    ) {
        // SAFETY: as in `access`.
        unsafe {
            if values && K & 8 == 0 {
                let loaded = load::<K>(addr);
                let cell = self.cell(addr, K & 7);
                if *cell == loaded {
                    *head = bits;
                    self.cur = at;
                    return;
                }
                let tables = (cell, &raw mut self.recents);
                let (code, at) = value(at, tables, loaded, 64 - (8 << (K & 7)));
                *head = bits | code;
                self.cur = at;
                return;
            }
            *head = bits | UNKNOWN;
            self.cur = at;
            if values {
                self.pend_addr = addr;
                self.pend_head = head;
                self.pend_size = 1 << (K & 7);
                self.held = self.prev;
                self.prev = Located::NOWHERE;
            }
        }
    }

    /// The cell of `1 << log2` bytes at an address.
    #[inline(always)]
    fn cell(&mut self, addr: usize, log2: u16) -> *mut u64 {
        // SAFETY: the index of a cell is below `CELLS`.
        unsafe { self.cells.as_mut_ptr().add(cell(addr, log2)) }
    }

    /// Completes the record of the last write with the current value in memory, if it is readable.
    ///
    /// # Safety
    /// As for [`peek::word`].
    #[inline(always)]
    pub unsafe fn settle(&mut self) {
        let (addr, size) = (self.pend_addr, self.pend_size);
        if addr == 0 {
            return;
        }
        self.release();
        // SAFETY: the caller allows to read.
        unsafe {
            match size {
                8 => self.complete(peek::word(addr), addr, 3),
                4 => self.complete(peek::half(addr), addr, 2),
                2 => self.complete(peek::quarter(addr), addr, 1),
                _ => self.complete(peek::byte(addr), addr, 0),
            }
        }
    }

    /// Completes the record of a write of `1 << log2` bytes with their value.
    #[inline(always)]
    unsafe fn complete(&mut self, written: Option<u64>, addr: usize, log2: u16) {
        let Some(written) = written else { return };
        let cell = self.cell(addr, log2);
        // SAFETY: the pending record is the last one before `cur`.
        unsafe {
            if *cell == written {
                *self.pend_head &= !UNKNOWN;
            } else {
                let tables = (cell, &raw mut self.recents);
                let (code, at) = value(self.cur, tables, written, 64 - (8 << log2));
                *self.pend_head ^= UNKNOWN ^ code;
                self.cur = at;
            }
        }
    }

    /// Nothing is pending any more.
    #[inline(always)]
    fn release(&mut self) {
        self.pend_addr = 0;
        self.prev = self.held;
    }

    /// Drops a pending write, because its memory may be unmapped.
    pub fn forget(&mut self) {
        if self.pending() {
            self.release();
        }
        if self.pend_block != 0 {
            self.pend_block = 0;
            self.lim = self.block_lim;
        }
    }

    /// Records a return from the current function.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    #[inline(always)]
    pub unsafe fn leave(&mut self) {
        // SAFETY: one byte fits into the slack.
        unsafe {
            *self.cur = LEAVE;
            self.cur = self.cur.add(1);
        }
    }

    /// Records the entry of a function that was called at `call`; returns false as `access` does.
    ///
    /// # Safety
    /// As for [`Lane::access`].
    #[inline(always)]
    pub unsafe fn enter(&mut self, call: usize, pc: usize) -> bool {
        let code = Kind::Enter.code();
        let Some(at) = self.site(slot_of(pc, code), tag_of(pc, code)) else { return false };
        // SAFETY: as in `access`.
        unsafe {
            let head = self.cur;
            let foreseen = self.is_next(at) && self.is_foreseen(at, call);
            let (bits, end) = if foreseen { (0, head.add(1)) } else { self.begin(head, at, call) };
            *head = bits | UNKNOWN;
            self.cur = end;
        }
        true
    }

    /// Settles pending writes, defines the site, and writes slot and address.
    unsafe fn open(&mut self, kind: Kind, pc: usize, addr: usize) -> (*mut u8, u8, *mut u8) {
        let key = key(pc, kind);
        // SAFETY: the caller guarantees it.
        unsafe {
            self.settle_any();
            let at = self.define(key);
            let head = self.cur;
            let (bits, at) = self.begin(head, at, addr);
            (head, bits, at)
        }
    }
}

/// When the content of a block can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Never, or it is not wanted.
    None,
    /// Now: the block was read or has been written.
    Now,
    /// At the thread's next event: the block is about to be written.
    Later,
}

/// Loads the value for a load hook, before the program does.
#[inline(always)]
unsafe fn load<const K: u16>(addr: usize) -> u64 {
    // SAFETY: the program is about to read the same bytes.
    unsafe {
        match K & 7 {
            0 => u64::from((addr as *const u8).read_volatile()),
            1 => u64::from((addr as *const u16).read_unaligned()),
            2 => u64::from((addr as *const u32).read_unaligned()),
            _ => (addr as *const u64).read_unaligned(),
        }
    }
}

/// Zeroes words without `memset`, which the runtime interposes.
unsafe fn zero(words: *mut u64, count: usize) {
    // SAFETY: the caller owns the words.
    unsafe {
        core::arch::asm!(
            "rep stosq",
            inout("rdi") words => _, inout("rcx") count => _, in("rax") 0,
            options(nostack, preserves_flags),
        );
    }
}
