//! The records of synchronisation, of blocks of memory and of texts: everything but single accesses.

use super::{Content, Lane};
use crate::{
    Kind,
    codec::{
        CONTENT, TEXT, UNKNOWN, atomic_cell, has_atomic_values, leaves_second, slot_of, tag_of,
        zigzag,
    },
    field::{bytes, difference, varint},
    peek,
};

impl Lane {
    /// Records an event of a `Sync` kind in the common case. Returns false and changes nothing if
    /// the site has no slot yet, the chunk is full or a block is pending.
    ///
    /// # Safety
    /// As for [`Lane::access`], but a write may be pending.
    #[inline(always)]
    pub unsafe fn quick_sync(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        seq: u64,
        args: &[u64],
    ) -> bool {
        let code = kind.code();
        // SAFETY: as in `access`; a lane with a pending block counts as full.
        unsafe {
            let Some(at) = self.site(slot_of(pc, code), tag_of(pc, code)) else { return false };
            self.settle();
            let head = self.cur;
            let (bits, at) = self.begin(head, at, addr);
            self.conclude((head, bits, at), kind, addr, seq, args);
        }
        true
    }

    /// Records an event of a `Bare` or `Sync` kind.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    pub unsafe fn sync(&mut self, kind: Kind, pc: usize, addr: usize, seq: u64, args: &[u64]) {
        // SAFETY: head, slot, two fields and the varints fit into the slack.
        unsafe {
            let record = self.open(kind, pc, addr);
            self.conclude(record, kind, addr, seq, args);
        }
    }

    /// Writes the sequence number and the arguments of a `Sync` record.
    #[inline(always)]
    unsafe fn conclude(
        &mut self,
        (head, bits, at): (*mut u8, u8, *mut u8),
        kind: Kind,
        addr: usize,
        seq: u64,
        args: &[u64],
    ) {
        // SAFETY: as in `access`.
        unsafe {
            let (code, mut at) = difference(at, seq.wrapping_sub(self.last_seq));
            self.last_seq = seq;
            match *args {
                [detail, ref values @ ..] if has_atomic_values(kind) => {
                    at = self.atomic_values(varint(at, detail), kind, addr, detail, values);
                }
                _ => {
                    for &arg in args {
                        at = varint(at, arg);
                    }
                }
            }
            *head = bits | code >> 3;
            self.cur = at;
        }
    }

    /// Writes the values of an atomic operation: the first by the bits that differ from the cell of
    /// the object, the second by its difference from the first.
    #[inline(always)]
    unsafe fn atomic_values(
        &mut self,
        at: *mut u8,
        kind: Kind,
        addr: usize,
        detail: u64,
        values: &[u64],
    ) -> *mut u8 {
        let (index, mask) = atomic_cell(addr, detail);
        let [first, ref second @ ..] = *values else { return at };
        // SAFETY: as in `access`; the index of a cell is below `CELLS`.
        unsafe {
            let cell = self.cells.as_mut_ptr().add(index);
            let mut at = varint(at, first ^ (*cell & mask));
            *cell = first;
            if let [second] = *second {
                at = varint(at, zigzag(second.wrapping_sub(first).cast_signed()));
                if leaves_second(kind) {
                    *cell = second;
                }
            }
            at
        }
    }

    /// Records an event of the `Text` kind. The text is cut to what fits.
    ///
    /// # Safety
    /// As for [`Lane::sync`].
    pub unsafe fn text(&mut self, kind: Kind, addr: usize, seq: u64, arg: u64, text: &[u8]) {
        // SAFETY: at most `TEXT` bytes of text fit into the slack besides the fields.
        unsafe {
            self.sync(kind, 0, addr, seq, &[arg]);
            self.cur = bytes(self.cur, text.as_ptr(), text.len().min(TEXT));
        }
    }

    /// Records an access to a block. `settle_any` reads the content of a write back.
    ///
    /// # Safety
    /// As for [`Lane::sync`]; with `content`, the block is readable now.
    #[expect(clippy::too_many_arguments, reason = "they are the fields of the record")]
    pub unsafe fn range(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        len: usize,
        seq: Option<u64>,
        content: Content,
    ) {
        // SAFETY: head, slot, fields and `CONTENT` bytes fit into the slack.
        unsafe {
            let (head, bits, at) = self.open(kind, pc, addr);
            let at = self.number(at, seq);
            self.block((head, bits, at), addr, len, content);
        }
    }

    /// The same in the common case, without a sequence number. Returns false and changes nothing if the
    /// site has no slot yet, the chunk is full or a block is pending.
    ///
    /// # Safety
    /// As for [`Lane::range`], but the lane may be full.
    #[inline(always)]
    pub unsafe fn quick_range(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        len: usize,
        content: Content,
    ) -> bool {
        let code = kind.code();
        let Some(at) = self.site(slot_of(pc, code), tag_of(pc, code)) else { return false };
        // SAFETY: as in `range`.
        unsafe {
            self.settle();
            let head = self.cur;
            let (bits, at) = self.begin(head, at, addr);
            self.block((head, bits, at), addr, len, content);
        }
        true
    }

    /// Writes length and content of a block.
    #[inline(always)]
    unsafe fn block(
        &mut self,
        (head, bits, at): (*mut u8, u8, *mut u8),
        addr: usize,
        len: usize,
        content: Content,
    ) {
        // SAFETY: as in `range`.
        unsafe {
            let at = varint(at, len as u64);
            *head = bits | UNKNOWN;
            let kept = if len <= CONTENT { len } else { 0 };
            match content {
                Content::Now => self.cur = bytes(at, addr as *const u8, kept),
                Content::None | Content::Later => self.cur = bytes(at, addr as *const u8, 0),
            }
            if content == Content::Later && kept > 0 {
                self.pend(addr, at, kept);
            }
        }
    }

    /// Leaves a block's content pending until the next event.
    fn pend(&mut self, addr: usize, count: *mut u8, len: usize) {
        self.pend_block = addr;
        self.pend_head = count;
        self.pend_size = len;
        self.block_lim = self.lim;
        self.lim = core::ptr::null_mut();
    }

    /// Records an access of 16 bytes; `value` is none for a write.
    ///
    /// # Safety
    /// As for [`Lane::sync`].
    pub unsafe fn wide(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        seq: Option<u64>,
        content: Content,
    ) {
        // SAFETY: as for `range`.
        unsafe {
            let (head, bits, at) = self.open(kind, pc, addr);
            let at = self.number(at, seq);
            *head = bits | UNKNOWN;
            self.cur = bytes(at, addr as *const u8, if content == Content::Now { 16 } else { 0 });
            if content == Content::Later {
                self.pend(addr, at, 16);
            }
        }
    }

    /// Completes the record of the last write, whether of a value or of a block.
    ///
    /// # Safety
    /// As for [`peek::word`].
    pub unsafe fn settle_any(&mut self) {
        // SAFETY: the pending record is the last one before `cur`; a block's ends in its count.
        unsafe {
            let (start, len) = (self.pend_block, self.pend_size);
            // A block is shorter than a page: if both ends can be read, all of it can.
            if start != 0 && peek::byte(start).and(peek::byte(start + len - 1)).is_some() {
                self.cur = bytes(self.pend_head, start as *const u8, len);
            }
            self.settle();
        }
        self.forget();
    }
}
