//! The byte format of one thread's events, shared by the encoder ([`crate::lane`]) and the decoder.
//!
//! Most events repeat: a loop passes the same sites in the same order, with addresses and values
//! close to the previous ones. Both sides therefore keep the same small prediction tables, and a
//! record contains only what the tables did not predict:
//!
//! - the *site* (program counter and kind), unless it is one of the two that followed the previous
//!   site last;
//! - the difference between the address and the one predicted from the site's last address and
//!   stride;
//! - the bits of the value that differ from the last value in the address's cell, or the value's
//!   index among the recent values: programs that sort or copy write what they have just read.
//!
//! A record is a head byte `s m aaa vvv`, then the site's slot (2 bytes, if `s m` is 01), the address
//! difference, zigzag, in [`NEAR`]`[aaa]` bytes, and the differing bits of the value in
//! [`BITS`]`[vvv]` bytes; [`HIGH`] means the three highest bytes, as in most floating-point numbers
//! that programs use, and [`RECENT`] an index. `vvv` = [`UNKNOWN`] means that the record has no
//! value. With `s m` = 11, the site is the second one that followed the previous site, and with 00 the
//! first. [`LEAVE`] and [`DEFINE`] begin with 10.
//!
//! Hooks run before the access, so the value of a *write* is not known yet. The value field
//! therefore comes last: a write is recorded as unknown, and the thread's next event reads the
//! memory back and completes the record ([`settle`](crate::lane::Lane::settle)). Whatever stops the
//! thread in between leaves a complete record behind.
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "fields are cut to the bits they have, and differences wrap around"
)]

use crate::Kind;

/// Number of slots for sites.
pub const SITES: usize = 2048;
/// Number of cells for values.
pub const CELLS: usize = 4096;
/// The same in chunks of [`Codec::V1`].
pub const CELLS_V1: usize = 2048;
/// Number of recent values.
pub const RECENTS: usize = 256;
/// Maximum number of bytes that one record may write past [the limit](crate::lane::Lane::lim).
pub const SLACK: usize = TEXT + 256;
/// Head byte: the thread returned from the current function.
pub const LEAVE: u8 = 0x80;
/// Bits of the head byte: the slot of the site follows.
pub const SLOT: u8 = 0x40;
/// Bits of the head byte: the site is [`Site::second`] of the previous one.
pub const SECOND: u8 = 0xc0;
/// Head byte: assigns a slot (2 bytes) to the site with a key (8 bytes).
pub const DEFINE: u8 = 0x81;
/// Value code: the value is unknown.
pub const UNKNOWN: u8 = 7;
/// Value code: the index of a recent value; see [`recent`].
pub const RECENT: u8 = 4;
/// Value code: the three highest bytes of eight; the others are as predicted.
pub const HIGH: u8 = 6;
/// Bytes of an address difference, by its code.
pub const NEAR: [u8; 8] = [0, 1, 2, 3, 4, 6, 8, 0];
/// Bytes of a value's bits, or of its index, by their code.
pub const BITS: [u8; 8] = [0, 1, 2, 4, 1, 8, 3, 0];
/// The same in chunks of [`Codec::V1`].
pub const BITS_V1: [u8; 8] = [0, 1, 2, 4, 6, 8, 3, 0];
/// Values of at least four bytes are looked up among the recent ones and added to them, unless they are as
/// predicted. They are the values that are at most this many bits shorter than 64.
pub const RECENT_SHIFT: usize = 32;
/// Maximum number of bytes of a block's content that a record contains.
pub const CONTENT: usize = 64;
/// Maximum length of the text of a record, in bytes.
pub const TEXT: usize = 4096;

/// The prediction state of a site.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    /// Program counter and kind; see [`key`].
    pub key: u64,
    /// Its last address.
    pub addr: u64,
    /// The slot of the site that followed it last time; 0 also if none has.
    pub next: u32,
    /// The predicted difference between two successive addresses.
    pub stride: i32,
    /// The last difference between two successive addresses. Two equal ones become the stride.
    pub moved: i32,
    /// The slot of the other site that followed it last, before or after `next` did.
    pub second: u32,
}

impl Site {
    /// The predicted next address.
    #[inline(always)]
    pub fn foreseen(&self) -> u64 {
        self.addr.wrapping_add(self.stride as u64)
    }

    /// Updates the prediction with the slot of the site that followed it.
    #[inline(always)]
    pub fn follow(&mut self, slot: u32) {
        self.second = if self.next == slot { self.second } else { self.next };
        self.next = slot;
    }

    /// Updates the prediction with the actual address; returns its difference from the predicted
    /// one.
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

/// Whether records contain the values of memory accesses, and sequence numbers of a total order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Memory accesses have values.
    pub values: bool,
    /// Memory accesses have sequence numbers.
    pub global: bool,
    /// How values are coded, and where sites may be.
    pub codec: Codec,
}

/// The versions of the coding of values and of the tables of sites. The encoder writes the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// Traces up to format 4: cells by words of four bytes, no recent values, one slot for each site,
    /// and the values of atomic operations as they are.
    V1,
    /// Traces since format 5.
    V2,
}

/// The site key of `kind` at `pc`. Programs have no code above the 48th bit.
#[inline(always)]
pub const fn key(pc: usize, kind: Kind) -> u64 {
    key_of(pc, kind.code())
}

/// The site key of the kind with this code at `pc`.
#[inline(always)]
pub(crate) const fn key_of(pc: usize, code: u16) -> u64 {
    pc as u64 | (code as u64) << 48
}

/// What the encoder's table contains for a site: less than the key where that is enough, so that a
/// hook compares with its return address. An access or a call always has one, and two kinds of them
/// at one place have different slots, the second ones included; see [`KINDS_DIFFER`].
#[inline(always)]
pub(crate) const fn tag(key: u64) -> u64 {
    tag_of(key as usize & 0xffff_ffff_ffff, (key >> 48) as u16)
}

/// The tag of the kind with this code at `pc`.
#[inline(always)]
pub(crate) const fn tag_of(pc: usize, code: u16) -> u64 {
    if has_place(code) { pc as u64 } else { key_of(pc, code) }
}

/// Whether events with this code always have a place in the code: accesses and calls.
const fn has_place(code: u16) -> bool {
    code < 0x30 || code == Kind::Enter.code()
}

/// Checks what [`tag`] relies on.
const KINDS_DIFFER: () = {
    let mut one = 0;
    while one < 0x50 {
        let mut other = 0;
        while other < one {
            let both = has_place(one) && has_place(other);
            let (slot, second) = (slot_of(0, one), slot_of(0, other));
            assert!(!both || slot != second && slot != second_slot(second));
            other += 1;
        }
        one += 1;
    }
};
const _: () = KINDS_DIFFER;

/// The slot of the site with this key.
#[inline(always)]
pub const fn slot(key: u64) -> usize {
    slot_of(key as usize, (key >> 48) as u16)
}

/// The kind contributes a separate summand, so that a hook, which knows its kind, adds a constant.
#[inline(always)]
pub(crate) const fn slot_of(pc: usize, code: u16) -> usize {
    (pc ^ (code as usize * 0x25)) & (SITES - 1)
}

/// The other slot that the site of a slot may have, if the first one belongs to another site.
#[inline(always)]
pub const fn second_slot(slot: usize) -> usize {
    slot ^ 1
}

/// The cell that stores the last value of `1 << log2` bytes at an address.
#[inline(always)]
pub const fn cell(addr: usize, log2: u16) -> usize {
    addr >> log2 & (CELLS - 1)
}

/// The same in chunks of [`Codec::V1`].
#[inline(always)]
pub const fn cell_v1(addr: usize) -> usize {
    addr >> 2 & (CELLS_V1 - 1)
}

/// The index that a value has as a recent one: the top byte of a product, which all of its bits
/// influence.
#[inline(always)]
pub const fn recent(value: u64) -> usize {
    (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

/// The cell of an atomic object, and the mask of its size, by the operation's detail.
#[inline(always)]
pub(crate) const fn atomic_cell(addr: usize, detail: u64) -> (usize, u64) {
    let log2 = if detail & 7 < 3 { detail & 7 } else { 3 };
    (cell(addr, log2 as u16), u64::MAX >> (64 - (8 << log2)))
}

/// Whether an event has a detail and one or two values, which are coded by prediction.
#[inline(always)]
pub(crate) const fn has_atomic_values(kind: Kind) -> bool {
    use Kind as K;
    matches!(
        kind,
        K::AtomicLoad | K::AtomicStore | K::AtomicRmw | K::AtomicCas | K::AtomicCasFailed
    )
}

/// Whether an atomic operation leaves its second value in the object; otherwise it leaves the first.
#[inline(always)]
pub(crate) const fn leaves_second(kind: Kind) -> bool {
    matches!(kind, Kind::AtomicRmw | Kind::AtomicCas)
}

/// Moves the sign into the lowest bit, so that small differences need few bytes.
#[inline(always)]
pub const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// The inverse of [`zigzag`].
#[inline(always)]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
