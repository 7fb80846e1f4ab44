//! The byte form of one thread's events, and its encoder.
//!
//! Most events repeat: a loop comes through the same sites in the same order, with addresses and
//! values close to the last ones. So both sides keep the same small tables and a record says
//! only what the tables did not foresee:
//!
//! - which *site* (program counter and kind) it is, unless it is the one that followed the
//!   previous site last time;
//! - how far the address is from where the site's last address and stride would have it;
//! - which bits of the value differ from the value last seen in the address's cell.
//!
//! A record is a head byte `0 m aaa vvv`, then the site's slot (2 bytes, if `m`), the address
//! difference, zigzag, in [`NEAR`]`[aaa]` bytes, and the differing bits of the value in
//! [`BITS`]`[vvv]` bytes; [`HIGH`] means the three highest bytes, as in most floating-point numbers
//! that programs use. `vvv` = [`UNKNOWN`] says that there is no value. Head bytes with the top
//! bit set are [`LEAVE`] and [`DEFINE`].
//!
//! The value of a *write* is not known before the store has happened, and hooks run before it.
//! Therefore the value field comes last, a write is recorded as unknown, and the thread's next
//! event reads the memory back and completes the record ([`Lane::settle`]). Whatever stops the
//! thread in between leaves a whole record behind.
//!
//! Nothing here calls, allocates or locks: these functions are inlined into the access hooks.
#![expect(unsafe_code, reason = "the encoder writes through raw pointers into shared memory")]
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "fields are cut to the bits they have, and differences wrap around"
)]

// Long because the hot path is here with all that it inlines, and is read with the format in view.

use crate::{Kind, peek};

/// Number of slots for sites.
pub const SITES: usize = 2048;
/// Number of cells for values.
pub const CELLS: usize = 2048;
/// Bytes that may be written past [`Lane::lim`] by one record that found room.
pub const SLACK: usize = TEXT + 256;
/// Head byte: the current function was left.
pub const LEAVE: u8 = 0x80;
/// Head byte: a slot (2 bytes) is from now on the site with a key (8 bytes).
pub const DEFINE: u8 = 0x81;
/// Value code: not known.
pub const UNKNOWN: u8 = 7;
/// Value code: the three highest bytes of eight, the others are as foreseen.
pub const HIGH: u8 = 6;
/// Bytes of a difference, by its code.
pub const NEAR: [u8; 8] = [0, 1, 2, 3, 4, 6, 8, 0];
/// Bytes of a value's bits, by their code.
pub const BITS: [u8; 8] = [0, 1, 2, 4, 6, 8, 3, 0];
/// How many bytes of a block's content are kept.
pub const CONTENT: usize = 64;
/// The longest text of a record.
pub const TEXT: usize = 4096;

/// By the number of leading zeros of a difference: `width << 8 | code << 3`.
static NEAR_FIELD: [u16; 65] = fields(NEAR, 3);
/// By the number of leading zeros of a value's bits: `width << 8 | code`.
static BITS_FIELD: [u16; 65] = fields(BITS, 0);
/// The same for bits that are all among the highest three bytes, and were shifted down.
static HIGH_FIELD: [u16; 65] = {
    let mut table = [(BITS[HIGH as usize] as u16) << 8 | HIGH as u16; 65];
    table[64] = 0;
    table
};

const fn fields(widths: [u8; 8], shift: u16) -> [u16; 65] {
    let mut table = [0; 65];
    let mut zeros = 0usize;
    while zeros < 65 {
        let mut code = 0;
        while (widths[code] as usize) * 8 < 64 - zeros {
            code += 1;
        }
        table[zeros] = (widths[code] as u16) << 8 | (code as u16) << shift;
        zeros += 1;
    }
    table
}

/// What is remembered of a site.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    /// Program counter and kind; see [`key`].
    pub key: u64,
    /// Its last address.
    pub addr: u64,
    /// The slot of the site that came after it last time; 0 also when none did.
    pub next: u32,
    /// How far the address moves from one time to the next.
    pub stride: i32,
    /// How far it moved the last time. Twice the same makes a stride.
    pub moved: i32,
    /// Keeps the size a power of two.
    pub unused: u32,
}

impl Site {
    /// Where the next address is expected.
    #[inline(always)]
    pub fn foreseen(&self) -> u64 {
        self.addr.wrapping_add(self.stride as u64)
    }

    /// Learns the address that it was; returns how far off the foreseen one it is.
    #[inline(always)]
    pub fn learn(&mut self, addr: u64) -> u64 {
        let delta = addr.wrapping_sub(self.addr);
        let (stride, moved) = (self.stride, delta as i32);
        self.addr = addr;
        self.stride = if moved == self.moved { moved } else { stride };
        self.moved = moved;
        delta.wrapping_sub(stride as u64)
    }
}

/// Everything the encoder keeps for one thread. Zeroed at the start of each chunk of events.
#[repr(C)]
#[derive(Debug)]
pub struct Lane {
    /// Where the next byte goes.
    pub cur: *mut u8,
    /// No record begins at or after this.
    pub lim: *mut u8,
    /// The previous record's site.
    pub prev: *mut Site,
    /// Address of the write whose value is still to be read back; 0 for none.
    pub pend_addr: usize,
    /// Head byte of that write's record.
    pub pend_head: *mut u8,
    /// Cell of that write.
    pub pend_cell: *mut u64,
    /// 64 less the write's size in bits; for a block, its length.
    pub pend_shift: usize,
    /// Address of the block whose content is still to be read back; 0 for none. While there is
    /// one, `lim` is null and `block_lim` keeps it: so the hooks, which look at `lim` anyway,
    /// take their cold path and settle it there.
    pub pend_block: usize,
    /// What `lim` will be once the block is settled.
    pub block_lim: *mut u8,
    /// The last sequence number in this chunk.
    pub last_seq: u64,
    /// The sites.
    pub sites: [Site; SITES],
    /// The last values by address; see [`cell`].
    pub cells: [u64; CELLS],
}

/// Whether records carry the values of memory accesses, and a number in a total order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Values of memory accesses are kept.
    pub values: bool,
    /// Memory accesses have sequence numbers.
    pub global: bool,
}

/// The site key of `kind` at `pc`. Programs have no code above the 48th bit.
#[inline(always)]
pub const fn key(pc: usize, kind: Kind) -> u64 {
    pc as u64 | (kind.0 as u64) << 48
}

/// The slot in which a site with this key lives.
#[inline(always)]
pub const fn slot(key: u64) -> usize {
    slot_of(key as usize, Kind((key >> 48) as u16))
}

/// The kind's share is apart, so that a hook, which knows its kind, adds a constant.
#[inline(always)]
const fn slot_of(pc: usize, kind: Kind) -> usize {
    (pc ^ (kind.0 as usize * 0x25)) & (SITES - 1)
}

/// The cell in which the value at an address is remembered.
#[inline(always)]
pub const fn cell(addr: usize) -> usize {
    addr >> 2 & (CELLS - 1)
}

/// Folds the sign into the lowest bit, so that small differences have few bytes.
#[inline(always)]
pub const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Undoes [`zigzag`].
#[inline(always)]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

impl Lane {
    /// Starts over with empty tables and room from `start` to `end`.
    ///
    /// # Safety
    /// `self` points to a lane; the memory between `start` and `end` is its alone and longer
    /// than [`SLACK`].
    pub unsafe fn start(this: *mut Lane, start: *mut u8, end: *mut u8, last_seq: u64) {
        // SAFETY: zero is a valid value for every field; the rest is set below.
        unsafe {
            zero(this.cast(), size_of::<Lane>() / 8);
            (*this).cur = start;
            (*this).lim = end.sub(SLACK);
            (*this).prev = &raw mut (*this).sites[0];
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

    /// Records a memory access of up to 8 bytes in the usual case. False, with nothing done, if
    /// the chunk is full or the site has no slot yet: the caller then makes room and calls
    /// [`Lane::any_access`].
    ///
    /// # Safety
    /// The lane is started, is this thread's own and has nothing pending; `addr` is about to be
    /// accessed by this thread in the way that `K` says.
    #[inline(always)]
    pub unsafe fn access<const K: u16, const VALUES: bool>(
        &mut self,
        addr: usize,
        pc: usize,
    ) -> bool {
        let slot = slot_of(pc, Kind(K));
        // SAFETY: `slot` is below `SITES`; the record fits into the slack after `lim`.
        unsafe {
            let site = self.sites.as_mut_ptr().add(slot);
            if (*site).key != key(pc, Kind(K)) || self.full() {
                return false;
            }
            let head = self.cur;
            let (bits, at) = self.begin(head, site, slot, addr);
            self.finish::<K>(head, bits, at, addr, VALUES);
        }
        true
    }

    /// Records a memory access of up to 8 bytes, whatever the case.
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
            let (head, bits, at) = self.open(Kind(K), pc, addr);
            let at = self.number(at, seq);
            self.finish::<K>(head, bits, at, addr, values);
        }
    }

    /// Writes the sequence number of an access, in the mode that gives it one.
    #[inline(always)]
    unsafe fn number(&mut self, at: *mut u8, seq: Option<u64>) -> *mut u8 {
        let Some(seq) = seq else { return at };
        let more = seq.wrapping_sub(self.last_seq);
        self.last_seq = seq;
        // SAFETY: it fits into the slack.
        unsafe { varint(at, more) }
    }

    /// Writes the value of a read, or leaves that of a write for the next event to read back.
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
            let cell = self.cells.as_mut_ptr().add(cell(addr));
            let shift = 64 - (8 << (K & 7));
            if values && K & 8 == 0 {
                let (code, at) = value(at, cell, load::<K>(addr), shift);
                *head = bits | code;
                self.cur = at;
                return;
            }
            *head = bits | UNKNOWN;
            self.cur = at;
            if values {
                self.pend_addr = addr;
                self.pend_head = head;
                self.pend_cell = cell;
                self.pend_shift = shift;
            }
        }
    }

    /// Writes slot and address of a record; returns the head's bits so far and the position.
    #[inline(always)]
    unsafe fn begin(
        &mut self,
        head: *mut u8,
        site: *mut Site,
        slot: usize,
        addr: usize,
    ) -> (u8, *mut u8) {
        // SAFETY: as in `access`.
        unsafe {
            let missed = usize::from((*self.prev).next != slot as u32);
            (*self.prev).next = slot as u32;
            self.prev = site;
            head.add(1).cast::<u16>().write_unaligned(slot as u16);
            let at = head.add(1 + 2 * missed);
            let (code, at) = difference(at, (*site).learn(addr as u64));
            ((missed << 6) as u8 | code, at)
        }
    }

    /// Completes the record of the last write with the value that is in memory now, if that can
    /// be read.
    ///
    /// # Safety
    /// As for [`peek::word`].
    #[inline(always)]
    pub unsafe fn settle(&mut self) {
        if self.pend_addr == 0 {
            return;
        }
        // SAFETY: the pending record is the last one before `cur`. Eight bytes that end at the
        // end of the page are readable if the written bytes are.
        unsafe {
            let addr = self.pend_addr;
            let base = addr.min((addr | 0xfff) - 7);
            let bits = (addr - base) * 8;
            let fits = bits + 64 - self.pend_shift <= 64;
            if fits && let Some(raw) = peek::word(base) {
                let (code, at) = value(self.cur, self.pend_cell, raw >> bits, self.pend_shift);
                *self.pend_head = *self.pend_head & !UNKNOWN | code;
                self.cur = at;
            }
            self.pend_addr = 0;
        }
    }

    /// Gives up on a pending write's value, because its memory may be gone.
    pub fn forget(&mut self) {
        self.pend_addr = 0;
        if self.pend_block != 0 {
            self.pend_block = 0;
            self.lim = self.block_lim;
        }
    }

    /// Records that the current function is left.
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

    /// Records that a function was entered by the call at `call`; false as for `access`.
    ///
    /// # Safety
    /// As for [`Lane::access`].
    #[inline(always)]
    pub unsafe fn enter(&mut self, call: usize, pc: usize) -> bool {
        let key = key(pc, Kind::Enter);
        let slot = slot_of(pc, Kind::Enter);
        // SAFETY: as in `access`.
        unsafe {
            let site = self.sites.as_mut_ptr().add(slot);
            if (*site).key != key || self.full() {
                return false;
            }
            let head = self.cur;
            let (bits, at) = self.begin(head, site, slot, call);
            *head = bits | UNKNOWN;
            self.cur = at;
        }
        true
    }

    /// Gives the site its slot, if it does not have it.
    ///
    /// # Safety
    /// As for [`Lane::access`], and the lane is not full.
    pub unsafe fn define(&mut self, key: u64) {
        let slot = slot(key);
        if self.sites[slot].key == key {
            return;
        }
        // SAFETY: eleven bytes fit into the slack.
        unsafe {
            self.settle_any();
            self.sites[slot] = Site { key, ..Site::default() };
            *self.cur = DEFINE;
            self.cur.add(1).cast::<u16>().write_unaligned(slot as u16);
            self.cur.add(3).cast::<u64>().write_unaligned(key);
            self.cur = self.cur.add(11);
        }
    }

    /// Records an event of a `Sync` kind in the usual case. False, with nothing done, if the site
    /// has no slot yet, the chunk is full or a block is pending.
    ///
    /// # Safety
    /// As for [`Lane::access`], but a write may be pending.
    #[inline]
    pub unsafe fn quick_sync(
        &mut self,
        kind: Kind,
        pc: usize,
        addr: usize,
        seq: u64,
        args: &[u64],
    ) -> bool {
        let slot = slot_of(pc, kind);
        // SAFETY: as in `access`; a full lane is also one with a block pending.
        unsafe {
            let site = self.sites.as_mut_ptr().add(slot);
            if (*site).key != key(pc, kind) || self.full() {
                return false;
            }
            self.settle();
            let head = self.cur;
            let (bits, at) = self.begin(head, site, slot, addr);
            self.conclude(head, bits, at, seq, args);
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
            let (head, bits, at) = self.open(kind, pc, addr);
            self.conclude(head, bits, at, seq, args);
        }
    }

    /// Writes the sequence number and the arguments of a `Sync` record.
    #[inline(always)]
    unsafe fn conclude(&mut self, head: *mut u8, bits: u8, at: *mut u8, seq: u64, args: &[u64]) {
        // SAFETY: as in `access`.
        unsafe {
            let (code, mut at) = difference(at, seq.wrapping_sub(self.last_seq));
            self.last_seq = seq;
            for &arg in args {
                at = varint(at, arg);
            }
            *head = bits | code >> 3;
            self.cur = at;
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

    /// Records an access to a block. A write's content is read back by `settle_block`.
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

    /// Leaves a block's content for the next event to read back.
    fn pend(&mut self, addr: usize, count: *mut u8, len: usize) {
        self.pend_block = addr;
        self.pend_head = count;
        self.pend_shift = len;
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
            let (start, len) = (self.pend_block, self.pend_shift);
            // A block is shorter than a page: if both ends can be read, all of it can.
            if start != 0 && peek::byte(start).and(peek::byte(start + len - 1)).is_some() {
                self.cur = bytes(self.pend_head, start as *const u8, len);
            }
            self.settle();
        }
        self.forget();
    }

    /// Settles, defines the site, and writes slot and address.
    unsafe fn open(&mut self, kind: Kind, pc: usize, addr: usize) -> (*mut u8, u8, *mut u8) {
        let key = key(pc, kind);
        // SAFETY: the caller's promise.
        unsafe {
            self.settle_any();
            self.define(key);
            let head = self.cur;
            let slot = slot(key);
            let site = self.sites.as_mut_ptr().add(slot);
            let (bits, at) = self.begin(head, site, slot, addr);
            (head, bits, at)
        }
    }
}

/// When the content of a block can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Not at all, or it is not wanted.
    None,
    /// Now: it was read, or has been written.
    Now,
    /// At the thread's next event: it is about to be written.
    Later,
}

/// Reads the memory of a load hook, before the program itself does.
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

/// Writes the bits of a value that differ from the cell's; returns code and position.
#[inline(always)]
unsafe fn value(at: *mut u8, cell: *mut u64, raw: u64, shift: usize) -> (u8, *mut u8) {
    // SAFETY: the caller has room at `at` and owns `cell`; there are 64 leading zeros at most.
    unsafe {
        let value = raw << shift >> shift;
        let bits = value ^ (*cell << shift >> shift);
        *cell = value;
        let only_high = bits << 24 == 0;
        let table = if only_high { &raw const HIGH_FIELD } else { &raw const BITS_FIELD };
        let bits = if only_high { bits >> 40 } else { bits };
        let entry = *table.cast::<u16>().add(bits.leading_zeros() as usize);
        at.cast::<u64>().write_unaligned(bits);
        (entry as u8, at.add((entry >> 8) as usize))
    }
}

/// Writes a difference in as few bytes as it needs; returns its code, as it is for an address in
/// the head byte, and where it ends.
#[inline(always)]
unsafe fn difference(at: *mut u8, off: u64) -> (u8, *mut u8) {
    let bits = zigzag(off as i64);
    // SAFETY: eight bytes fit into the slack; there are 64 leading zeros at most.
    unsafe {
        let entry = *NEAR_FIELD.as_ptr().add(bits.leading_zeros() as usize);
        at.cast::<u64>().write_unaligned(bits);
        (entry as u8, at.add((entry >> 8) as usize))
    }
}

/// Writes a number seven bits a byte, lowest first.
#[inline(always)]
unsafe fn varint(mut at: *mut u8, mut value: u64) -> *mut u8 {
    // SAFETY: ten bytes fit into the slack.
    unsafe {
        while value >= 0x80 {
            *at = value as u8 | 0x80;
            at = at.add(1);
            value >>= 7;
        }
        *at = value as u8;
        at.add(1)
    }
}

/// Writes a count and that many bytes.
unsafe fn bytes(at: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller has room for them.
    unsafe {
        let at = varint(at, count as u64);
        for i in 0..count {
            *at.add(i) = from.add(i).read_volatile();
        }
        at.add(count)
    }
}

/// Zeroes words, without the `memset` that the runtime itself interposes.
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
