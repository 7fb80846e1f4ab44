//! The byte format of one thread's events, shared by the encoder ([`crate::lane`]) and the decoder.
//!
//! Most events repeat: a loop passes the same sites in the same order, with addresses and values
//! close to the previous ones. Both sides therefore keep the same small prediction tables, and a
//! record contains only what the tables did not predict:
//!
//! - the *site* (program counter and kind), unless it is the one that followed the previous site
//!   last time;
//! - the difference between the address and the one predicted from the site's last address and
//!   stride;
//! - the bits of the value that differ from the last value in the address's cell.
//!
//! A record is a head byte `0 m aaa vvv`, then the site's slot (2 bytes, if `m`), the address
//! difference, zigzag, in [`NEAR`]`[aaa]` bytes, and the differing bits of the value in
//! [`BITS`]`[vvv]` bytes; [`HIGH`] means the three highest bytes, as in most floating-point numbers
//! that programs use. `vvv` = [`UNKNOWN`] means that the record has no value. Head bytes with the
//! top bit set are [`LEAVE`] and [`DEFINE`].
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
pub const CELLS: usize = 2048;
/// Maximum number of bytes that one record may write past [the limit](crate::lane::Lane::lim).
pub const SLACK: usize = TEXT + 256;
/// Head byte: the thread returned from the current function.
pub const LEAVE: u8 = 0x80;
/// Head byte: assigns a slot (2 bytes) to the site with a key (8 bytes).
pub const DEFINE: u8 = 0x81;
/// Value code: the value is unknown.
pub const UNKNOWN: u8 = 7;
/// Value code: the three highest bytes of eight; the others are as predicted.
pub const HIGH: u8 = 6;
/// Bytes of an address difference, by its code.
pub const NEAR: [u8; 8] = [0, 1, 2, 3, 4, 6, 8, 0];
/// Bytes of a value's bits, by their code.
pub const BITS: [u8; 8] = [0, 1, 2, 4, 6, 8, 3, 0];
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
    /// Keeps the size a power of two.
    pub unused: u32,
}

impl Site {
    /// The predicted next address.
    #[inline(always)]
    pub fn foreseen(&self) -> u64 {
        self.addr.wrapping_add(self.stride as u64)
    }

    /// Updates the prediction with an address that is the predicted one, as [`Site::learn`] does.
    #[inline(always)]
    pub fn repeat(&mut self, addr: u64) {
        self.addr = addr;
        self.moved = self.stride;
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

/// The cell that stores the last value at an address.
#[inline(always)]
pub const fn cell(addr: usize) -> usize {
    addr >> 2 & (CELLS - 1)
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
