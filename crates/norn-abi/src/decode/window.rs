//! Reads the fields of a plain record from a window that is long enough for the longest one.

/// Maximum length of a plain record in bytes (head, slot, address, sequence number, value),
/// including the overhang of an 8-byte load that begins in it.
pub(super) const WINDOW: usize = 1 + 2 + 8 + 10 + 8;

/// Reads eight bytes of a window.
#[inline(always)]
pub(super) fn word(window: &[u8; WINDOW], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*window.get(at..)?.first_chunk()?))
}

/// A mask of the lowest `width` bytes of a word.
#[inline(always)]
pub(super) const fn mask(width: u8) -> u64 {
    if width == 0 { 0 } else { u64::MAX >> (64 - 8 * width as u32) }
}

/// Decodes a varint (seven bits per byte); returns it and where it ends.
#[inline(always)]
pub(super) fn varint(window: &[u8; WINDOW], mut at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *window.get(at)?;
        at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some((value, at));
        }
    }
    None
}
