//! Where a call writes in the program's memory: a few pieces, and the blocks of a list.

/// One block of a list, as `readv` takes them.
#[repr(C)]
struct Block {
    start: usize,
    len: usize,
}

/// What a call wrote: pieces (start and length), then as much as `rest` of the blocks of a list
/// (start and count).
pub struct Memory {
    pieces: [(usize, usize); 3],
    blocks: (usize, usize),
    rest: usize,
    /// A word that says how much there is of what is not kept; 0 for none.
    not_kept: usize,
}

impl Memory {
    /// Nothing.
    pub const NONE: Memory = Memory { pieces: [(0, 0); 3], blocks: (0, 0), rest: 0, not_kept: 0 };

    /// So many bytes; none if there are fewer than none.
    pub fn buffer(start: usize, len: isize) -> Memory {
        Memory::pieces([(start, usize::try_from(len).unwrap_or(0)), (0, 0), (0, 0)])
    }

    /// A buffer, filled by as many bytes as the call says: which may be more than there was room.
    pub fn filled(start: usize, room: usize, result: isize) -> Memory {
        Memory::buffer(start, result.min(room as isize))
    }

    /// Some pieces; those without a start are not there.
    pub fn pieces(pieces: [(usize, usize); 3]) -> Memory {
        let there = |it: (usize, usize)| if it.0 == 0 { (0, 0) } else { it };
        let [a, b, c] = pieces;
        Memory { pieces: [there(a), there(b), there(c)], ..Memory::NONE }
    }

    /// The same with blocks, filled by as many bytes as the call says.
    pub fn with_blocks(self, start: usize, count: usize, result: isize) -> Memory {
        Memory { blocks: (start, count), rest: usize::try_from(result).unwrap_or(0), ..self }
    }

    /// Without what this word says how much there is of: when the rest is fed back, none.
    pub fn without(self, word: usize) -> Memory {
        Memory { not_kept: word, ..self }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.each(|_, size| len += size);
        len
    }

    /// Copies all of it away.
    ///
    /// # Safety
    /// All pieces can be read, and `to` has room for them.
    pub unsafe fn get(&self, to: *mut u8) {
        let mut at = to;
        // SAFETY: the pieces are the caller's, and there is room.
        self.each(|start, len| unsafe {
            copy(start as *const u8, at, len);
            at = at.add(len);
        });
    }

    /// Fills all of it.
    ///
    /// # Safety
    /// All pieces can be written, and `from` has as many bytes.
    pub unsafe fn put(&self, from: *const u8) {
        let mut at = from;
        // SAFETY: the pieces are the caller's, and there is as much.
        self.each(|start, len| unsafe {
            copy(at, start as *mut u8, len);
            at = at.add(len);
        });
        if self.not_kept != 0 {
            // SAFETY: the caller's.
            unsafe { (self.not_kept as *mut usize).write_volatile(0) };
        }
    }

    fn each(&self, mut f: impl FnMut(usize, usize)) {
        for &(start, len) in &self.pieces {
            if len != 0 {
                f(start, len);
            }
        }
        let mut rest = self.rest;
        for i in 0..if rest == 0 { 0 } else { self.blocks.1 } {
            // SAFETY: the caller's list.
            let block = unsafe { &*(self.blocks.0 as *const Block).add(i) };
            let len = block.len.min(rest);
            if len != 0 {
                f(block.start, len);
            }
            rest -= len;
        }
    }
}

/// How many bytes there are in a list of blocks, if somebody wants to know.
///
/// # Safety
/// `start` is null or points to `count` blocks (`struct iovec`).
pub unsafe fn blocks_len(start: usize, count: usize) -> usize {
    const MOST: usize = 1024;
    if !super::is_on() || start == 0 || count > MOST {
        return 0;
    }
    // SAFETY: the caller's list.
    (0..count).map(|i| unsafe { (*(start as *const Block).add(i)).len }).sum()
}

/// Byte by byte: as a whole it would be copied by `memcpy`, which is one of ours.
///
/// # Safety
/// `len` bytes can be read at `from` and written at `to`.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    for i in 0..len {
        // SAFETY: the caller's.
        unsafe { to.add(i).write_volatile(from.add(i).read_volatile()) };
    }
}
