//! Which memory is shared with other processes, by `/proc/self/maps`.

use core::ops::Range;

use crate::sys;

/// Whether an address is in memory that other processes may have mapped, too.
pub fn contains(address: usize) -> bool {
    let Some(file) = sys::open(c"/proc/self/maps") else { return false };
    let mut buffer = [0u8; 1024];
    let (mut line, mut found) = (Line::default(), false);
    while !found {
        let len = sys::read(file, &mut buffer);
        if len == 0 {
            break;
        }
        found = buffer[..len]
            .iter()
            .any(|byte| line.push(*byte).is_some_and(|it| it.contains(&address)));
    }
    sys::close(file);
    found
}

/// The part of a line that was read so far: `start-end perms …`.
#[derive(Default)]
struct Line {
    start: usize,
    end: usize,
    field: usize,
}

impl Line {
    /// Appends a byte. Returns the range of the line when it is known to be shared.
    fn push(&mut self, byte: u8) -> Option<Range<usize>> {
        let digit = (byte as char).to_digit(16).unwrap_or(0) as usize;
        match (self.field, byte) {
            (_, b'\n') => *self = Line::default(),
            (0, b'-') | (1 | 2, b' ') => self.field += 1,
            (0, _) => self.start = self.start << 4 | digit,
            (1, _) => self.end = self.end << 4 | digit,
            (2, b's') => return Some(self.start..self.end),
            _ => {}
        }
        None
    }
}
