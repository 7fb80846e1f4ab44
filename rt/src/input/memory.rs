//! Where a call writes in the program's memory: a few pieces, and the blocks of a list.

/// One block of a list (`struct iovec`), as `readv` takes them.
#[repr(C)]
struct Block {
    start: usize,
    len: usize,
}

/// The memory that a call wrote: pieces (start and length), then the first `rest` bytes of the
/// blocks of a list (start and count).
pub struct Memory {
    pieces: [(usize, usize); 3],
    blocks: (usize, usize),
    rest: usize,
    /// Address of a length field of data that is not recorded; 0 for none.
    not_kept: usize,
}

impl Memory {
    /// No memory.
    pub const NONE: Memory = Memory { pieces: [(0, 0); 3], blocks: (0, 0), rest: 0, not_kept: 0 };

    /// A buffer of `len` bytes; empty if `len` is negative.
    pub fn buffer(start: usize, len: isize) -> Memory {
        Memory::pieces([(start, usize::try_from(len).unwrap_or(0)), (0, 0), (0, 0)])
    }

    /// A buffer that the call filled. Its result may exceed the room, so the length is limited to
    /// that.
    pub fn filled(start: usize, room: usize, result: isize) -> Memory {
        Memory::buffer(start, result.min(room as isize))
    }

    /// Up to three pieces; those without a start are ignored.
    pub fn pieces(pieces: [(usize, usize); 3]) -> Memory {
        let there = |it: (usize, usize)| if it.0 == 0 { (0, 0) } else { it };
        let [a, b, c] = pieces;
        Memory { pieces: [there(a), there(b), there(c)], ..Memory::NONE }
    }

    /// Adds a list of blocks, of which the call filled `result` bytes.
    pub fn with_blocks(self, start: usize, count: usize, result: isize) -> Memory {
        Memory { blocks: (start, count), rest: usize::try_from(result).unwrap_or(0), ..self }
    }

    /// Excludes the data whose length is at `word`: the length is set to 0 when the rest is
    /// replayed.
    pub fn without(self, word: usize) -> Memory {
        Memory { not_kept: word, ..self }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        let mut len = 0;
        self.each(|_, size| len += size);
        len
    }

    /// Copies all bytes out of the program's memory.
    ///
    /// # Safety
    /// All pieces can be read, and `to` has room for them.
    pub unsafe fn get(&self, to: *mut u8) {
        let mut at = to;
        // SAFETY: the caller guarantees that the pieces are readable and that `to` has room.
        self.each(|start, len| unsafe {
            copy(start as *const u8, at, len);
            at = at.add(len);
        });
    }

    /// Writes all bytes into the program's memory.
    ///
    /// # Safety
    /// All pieces can be written, and `from` has as many bytes.
    pub unsafe fn put(&self, from: *const u8) {
        let mut at = from;
        // SAFETY: the caller guarantees that the pieces are writable and that `from` has as many
        // bytes.
        self.each(|start, len| unsafe {
            copy(at, start as *mut u8, len);
            at = at.add(len);
        });
        if self.not_kept != 0 {
            // SAFETY: guaranteed by the caller.
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
            // SAFETY: guaranteed by the caller.
            let block = unsafe { &*(self.blocks.0 as *const Block).add(i) };
            let len = block.len.min(rest);
            if len != 0 {
                f(block.start, len);
            }
            rest -= len;
        }
    }
}

/// Total length of a list of blocks; 0 if inputs are neither recorded nor replayed.
///
/// # Safety
/// `start` is null or points to `count` blocks (`struct iovec`).
pub unsafe fn blocks_len(start: usize, count: usize) -> usize {
    const MOST: usize = 1024;
    if !super::is_on() || start == 0 || count > MOST {
        return 0;
    }
    // SAFETY: guaranteed by the caller.
    (0..count).map(|i| unsafe { (*(start as *const Block).add(i)).len }).sum()
}

/// Copies byte by byte with volatile accesses; otherwise the compiler would call `memcpy`, which
/// the runtime intercepts.
///
/// # Safety
/// `len` bytes can be read at `from` and written at `to`.
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    for i in 0..len {
        // SAFETY: guaranteed by the caller.
        unsafe { to.add(i).write_volatile(from.add(i).read_volatile()) };
    }
}
