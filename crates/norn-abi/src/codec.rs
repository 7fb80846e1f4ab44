//! The byte form of one thread's events, as encoder ([`crate::lane`]) and decoder know it.
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
//! event reads the memory back and completes the record ([`settle`](crate::lane::Lane::settle)).
//! Whatever stops the thread in between leaves a whole record behind.
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
/// Bytes that may be written past [the limit](crate::lane::Lane::lim) by one record that found
/// room.
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
    key_of(pc, kind.code())
}

/// The site key of the kind with a code at `pc`.
#[inline(always)]
pub(crate) const fn key_of(pc: usize, code: u16) -> u64 {
    pc as u64 | (code as u64) << 48
}

/// The slot in which a site with this key lives.
#[inline(always)]
pub const fn slot(key: u64) -> usize {
    slot_of(key as usize, (key >> 48) as u16)
}

/// The kind's share is apart, so that a hook, which knows its kind, adds a constant.
#[inline(always)]
pub(crate) const fn slot_of(pc: usize, code: u16) -> usize {
    (pc ^ (code as usize * 0x25)) & (SITES - 1)
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
