//! Encodes the fields of a record, each in as few bytes as it needs, without branches in the hot
//! path of the hooks.
#![expect(unsafe_code, reason = "the encoder writes through raw pointers into shared memory")]
#![expect(clippy::inline_always, reason = "hooks must not call, not even in a debug build")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "fields are cut to the bits they have, and differences wrap around"
)]

use core::arch::asm;

use crate::codec::{BITS, HIGH, NEAR, RECENT, RECENT_SHIFT, RECENTS, recent, zigzag};

/// By the number of leading zeros of a difference: `width << 8 | code << 3`.
static NEAR_FIELD: [u16; 65] = fields(NEAR, 3);
/// By the number of leading zeros of a value's bits: `width << 8 | code`.
static BITS_FIELD: [u16; 65] = fields(BITS, 0);
/// The same for bits that all lie in the highest three bytes and were shifted down.
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

/// Writes the index of a value among the recent ones, or the bits that differ from the cell; returns
/// code and end position. The value has `64 - shift` bits.
#[inline(always)]
pub(crate) unsafe fn value(
    at: *mut u8,
    (cell, recents): (*mut u64, *mut [u64; RECENTS]),
    value: u64,
    shift: usize,
) -> (u8, *mut u8) {
    // SAFETY: the caller has room at `at` and owns the tables; there are 64 leading zeros at most,
    // and an index is below `RECENTS`.
    unsafe {
        let bits = value ^ (*cell << shift >> shift);
        *cell = value;
        // A longer value in the cell may have the same lower bytes: this one is then as predicted.
        if bits != 0 && shift <= RECENT_SHIFT {
            let index = recent(value);
            let known = recents.cast::<u64>().add(index);
            if *known == value {
                *at = index as u8;
                return (RECENT, at.add(1));
            }
            *known = value;
        }
        let only_high = bits << 24 == 0;
        let table = if only_high { &raw const HIGH_FIELD } else { &raw const BITS_FIELD };
        let bits = if only_high { bits >> 40 } else { bits };
        let entry = *table.cast::<u16>().add(bits.leading_zeros() as usize);
        at.cast::<u64>().write_unaligned(bits);
        (entry as u8, at.add((entry >> 8) as usize))
    }
}

/// Writes a difference in as few bytes as it needs; returns its code, shifted as in the head byte,
/// and its end position.
#[inline(always)]
pub(crate) unsafe fn difference(at: *mut u8, off: u64) -> (u8, *mut u8) {
    let bits = zigzag(off as i64);
    // SAFETY: eight bytes fit into the slack; there are 64 leading zeros at most.
    unsafe {
        let entry = *NEAR_FIELD.as_ptr().add(bits.leading_zeros() as usize);
        at.cast::<u64>().write_unaligned(bits);
        (entry as u8, at.add((entry >> 8) as usize))
    }
}

/// Writes a varint: seven bits per byte, lowest first.
#[inline(always)]
pub(crate) unsafe fn varint(mut at: *mut u8, mut value: u64) -> *mut u8 {
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

/// Writes a length and that many bytes.
pub(crate) unsafe fn bytes(at: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller has room for them.
    unsafe {
        let at = varint(at, count as u64);
        if count >= 8 {
            for i in (0..count - 8).step_by(8) {
                word(at.add(i), from.add(i));
            }
            // The last word may overlap the one before.
            word(at.add(count - 8), from.add(count - 8));
        } else {
            for i in 0..count {
                *at.add(i) = from.add(i).read_volatile();
            }
        }
        at.add(count)
    }
}

/// Copies eight bytes. In assembly, because the compiler makes a call of `memcpy`, which the runtime
/// interposes, out of a loop of plain copies.
#[inline(always)]
unsafe fn word(to: *mut u8, from: *const u8) {
    // SAFETY: the caller may read and write the bytes.
    unsafe {
        asm!(
            "mov {word}, qword ptr [{from}]",
            "mov qword ptr [{to}], {word}",
            word = out(reg) _, from = in(reg) from, to = in(reg) to,
            options(nostack, preserves_flags),
        );
    }
}
