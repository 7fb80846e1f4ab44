//! The decoder of the format in [`crate::codec`]. It never panics: at damage it stops and reports
//! where.
//!
//! Nearly all records are plain accesses, calls and returns, somewhere in the middle of a chunk.
//! [`Decoder::next_plain`] reads those from a window of bytes that is long enough for the longest,
//! with masks instead of branches. It leaves all others untouched for [`Decoder::any`], which reads
//! every record and reports what is wrong with a bad one.
#![expect(clippy::inline_always, reason = "a tenth of the speed for every function that is not")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fields are cut to the bits they have, and differences wrap around"
)]

mod window;

use self::window::{WINDOW, mask, varint, word};
use crate::{
    Kind, Shape,
    codec::{
        BITS, BITS_V1, CELLS, Codec, DEFINE, Format, HIGH, LEAVE, NEAR, RECENT, RECENT_SHIFT,
        RECENTS, SECOND, SITES, SLOT, Site, UNKNOWN, atomic_cell, cell, cell_v1, has_atomic_values,
        leaves_second, recent, second_slot, slot, unzigzag,
    },
};

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The thread returned from the current function.
    Leave,
    /// An event at `pc`.
    Event {
        /// Its kind.
        kind: Kind,
        /// Its code location.
        pc: u64,
        /// The slot of this site, which may be assigned to another site later.
        slot: u16,
        /// The address, whose meaning depends on the kind.
        addr: u64,
        /// The sequence number, where the kind or the mode has one.
        seq: Option<u64>,
        /// The value of an access, or the length of a block.
        value: Option<u64>,
        /// The arguments of a `Sync` kind.
        args: [u64; 3],
        /// The content of a block or of a 16-byte access, or a text.
        content: &'a [u8],
    },
}

/// The reason why decoding stopped before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The offset of the record that cannot be decoded.
    pub offset: usize,
    /// What is wrong with the record.
    pub why: &'static str,
}

/// Decodes the records of one chunk.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    format: Format,
    /// Bytes of a value's bits, by their code.
    widths: [u8; 8],
    prev: usize,
    last_seq: u64,
    recents: [u64; RECENTS],
    sites: [Site; SITES],
    cells: [u64; CELLS],
}

type Step<T> = Result<T, &'static str>;

/// The bits of a site key that contain the program counter.
const PC: u64 = 0xffff_ffff_ffff;
/// By value code: how far to shift the bits of a value.
const SHIFT: [u32; 8] = [0, 0, 0, 0, 0, 0, 40, 0];
const _: () = assert!(HIGH == 6 && UNKNOWN == 7);

/// Whether [`Decoder::next_plain`] reads records with this code: accesses of up to 8 bytes and
/// calls.
#[inline(always)]
const fn is_plain(code: u16) -> bool {
    code & !0x3b == 0 || code == Kind::Enter.code()
}

/// The kind's code in a site key.
#[inline(always)]
const fn code_of(key: u64) -> u16 {
    (key >> 48) as u16
}

impl<'a> Decoder<'a> {
    /// Decodes `bytes`, the records of a chunk whose previous sequence number is `last_seq`.
    #[expect(clippy::large_stack_arrays, reason = "a caller with a small stack boxes the decoder")]
    pub fn new(bytes: &'a [u8], format: Format, last_seq: u64) -> Self {
        let (sites, cells) = ([Site::default(); SITES], [0; CELLS]);
        let widths = if format.codec == Codec::V1 { BITS_V1 } else { BITS };
        let recents = [0; RECENTS];
        Decoder { bytes, at: 0, format, widths, prev: 0, last_seq, recents, sites, cells }
    }

    /// The next record; `None` at the end.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'a>>, Fault> {
        match self.next_plain() {
            Some(record) => Ok(Some(record)),
            None => self.any(),
        }
    }

    /// The next record if it is a plain access, a call or a return, and far from the end. Otherwise
    /// the decoder is unchanged, and the caller must use [`Decoder::next_record`]. A caller that
    /// tries this first and uses the fields at once avoids storing the whole record in memory.
    #[inline(always)]
    pub fn next_plain(&mut self) -> Option<Record<'a>> {
        let window: &[u8; WINDOW] = self.bytes.get(self.at..)?.first_chunk()?;
        let head = window[0];
        let given = u16::from_le_bytes([window[1], window[2]]);
        let before = &self.sites[self.prev % SITES];
        let (next, start) = match head >> 6 {
            0 => (before.next, 1),
            1 => (u32::from(given), 3),
            2 => return self.plain_leave(head),
            _ if self.format.codec == Codec::V1 => return None,
            _ => (before.second, 1),
        };
        let site = self.sites.get(next as usize)?;
        let code = code_of(site.key);
        let near = usize::from(head >> 3 & 7);
        if !is_plain(code) || site.key == 0 || near == usize::from(UNKNOWN) {
            return None;
        }
        let kind = Kind::from_code(code)?;
        let mut at = start;
        let off = word(window, at)? & mask(NEAR[near]);
        let addr = site.foreseen().wrapping_add(unzigzag(off) as u64);
        at += usize::from(NEAR[near]);
        let pc = site.key & PC;
        let (mut seq, mut value) = (None, None);
        if kind != Kind::Enter {
            if self.format.global {
                let (step, end) = varint(window, at)?;
                self.last_seq = self.last_seq.wrapping_add(step);
                seq = Some(self.last_seq);
                at = end;
            }
            let width = self.widths[usize::from(head & 7)];
            let bits = word(window, at)? & mask(width);
            at += usize::from(width);
            if head & 7 != UNKNOWN {
                value = Some(self.value(addr, (head & 7, bits), code));
            }
        }
        self.sites[self.prev % SITES].follow(next);
        self.prev = next as usize;
        self.sites[self.prev % SITES].learn(addr);
        self.at += at;
        let (args, content) = ([0; 3], &[][..]);
        Some(Record::Event { kind, pc, slot: next as u16, addr, seq, value, args, content })
    }

    #[inline(always)]
    fn plain_leave(&mut self, head: u8) -> Option<Record<'a>> {
        (head == LEAVE).then(|| {
            self.at += 1;
            Record::Leave
        })
    }

    /// The next record of any kind.
    #[inline(never)]
    fn any(&mut self) -> Result<Option<Record<'a>>, Fault> {
        loop {
            let offset = self.at;
            let Some(&head) = self.bytes.get(offset) else { return Ok(None) };
            self.at += 1;
            let step = match head {
                LEAVE => return Ok(Some(Record::Leave)),
                DEFINE => self.define().map(|()| None),
                0x00..=0x7f => self.event(head).map(Some),
                0xc0..=0xff if self.format.codec == Codec::V2 => self.event(head).map(Some),
                _ => Err("unknown head byte"),
            };
            match step {
                Ok(None) => {}
                Ok(event) => return Ok(event),
                Err(why) => {
                    self.at = self.bytes.len();
                    return Err(Fault { offset, why });
                }
            }
        }
    }

    fn define(&mut self) -> Step<()> {
        let at = self.slot()? as usize;
        let key = self.number(8)?;
        let second = self.format.codec == Codec::V2 && at == second_slot(slot(key));
        if (at != slot(key) && !second) || Kind::from_code(code_of(key)).is_none() {
            return Err("definition of an impossible site");
        }
        self.sites[at] = Site { key, ..Site::default() };
        Ok(())
    }

    fn event(&mut self, head: u8) -> Step<Record<'a>> {
        let before = &self.sites[self.prev];
        let next = match head & SECOND {
            SECOND => before.second,
            SLOT => self.slot()?,
            _ => before.next,
        };
        let at = next as usize;
        let site = self.sites.get(at).copied().filter(|it| it.key != 0).ok_or("undefined site")?;
        self.sites[self.prev].follow(next);
        self.prev = at;
        let addr = site.foreseen().wrapping_add(self.difference(head >> 3)?);
        self.sites[at].learn(addr);
        let kind = Kind::from_code(code_of(site.key)).ok_or("unknown kind")?;
        let mut event = Fields::default();
        match kind.shape() {
            Shape::Access(_) => self.access(&mut event, head, addr, kind.code())?,
            Shape::Wide => {
                event.seq = self.global()?;
                event.content = self.content()?;
            }
            Shape::Range => {
                event.seq = self.global()?;
                event.value = Some(self.varint()?);
                event.content = self.content()?;
            }
            Shape::Bare => {}
            Shape::Sync(count) => {
                self.sync(&mut event, head, count)?;
                if has_atomic_values(kind) && self.format.codec == Codec::V2 {
                    self.atomic_values(&mut event.args, kind, addr);
                }
            }
            Shape::Text => {
                self.sync(&mut event, head, 1)?;
                event.content = self.content()?;
            }
        }
        let Fields { seq, value, args, content } = event;
        let (pc, slot) = (site.key & PC, next as u16);
        Ok(Record::Event { kind, pc, slot, addr, seq, value, args, content })
    }

    fn access(&mut self, event: &mut Fields<'a>, head: u8, addr: u64, code: u16) -> Step<()> {
        event.seq = self.global()?;
        let form = head & 7;
        if form != UNKNOWN {
            let bits = self.number(usize::from(self.widths[usize::from(form)]))?;
            event.value = Some(self.value(addr, (form, bits), code));
        }
        Ok(())
    }

    /// The value of an access of up to 8 bytes with this code, from the form of the value and the bits
    /// that differ from the prediction.
    #[inline(always)]
    fn value(&mut self, addr: u64, (form, bits): (u8, u64), code: u16) -> u64 {
        let shift = SHIFT[usize::from(form)];
        let mask = u64::MAX >> (64 - (8u32 << (code & 3)));
        if self.format.codec == Codec::V1 {
            let cell = &mut self.cells[cell_v1(addr as usize)];
            *cell = (*cell ^ bits << shift) & mask;
            return *cell;
        }
        let cell = &mut self.cells[cell(addr as usize, code & 3)];
        if form == RECENT {
            *cell = self.recents[bits as usize % RECENTS] & mask;
            return *cell;
        }
        *cell = (*cell ^ bits << shift) & mask;
        if form != 0 && 64 - (8 << (code & 3)) <= RECENT_SHIFT {
            self.recents[recent(*cell)] = *cell;
        }
        *cell
    }

    /// The values of an atomic operation, in place of the differences from the prediction.
    fn atomic_values(&mut self, args: &mut [u64; 3], kind: Kind, addr: u64) {
        let [detail, first, second] = args;
        let (index, mask) = atomic_cell(addr as usize, *detail);
        let cell = &mut self.cells[index];
        *first ^= *cell & mask;
        *cell = *first;
        if kind.shape() == Shape::Sync(3) {
            *second = first.wrapping_add(unzigzag(*second) as u64);
            if leaves_second(kind) {
                *cell = *second;
            }
        }
    }

    fn sync(&mut self, event: &mut Fields<'a>, head: u8, count: u8) -> Step<()> {
        let seq = self.last_seq.wrapping_add(self.difference(head)?);
        self.last_seq = seq;
        event.seq = Some(seq);
        for arg in event.args.iter_mut().take(usize::from(count)) {
            *arg = self.varint()?;
        }
        Ok(())
    }

    fn global(&mut self) -> Step<Option<u64>> {
        if !self.format.global {
            return Ok(None);
        }
        self.last_seq = self.last_seq.wrapping_add(self.varint()?);
        Ok(Some(self.last_seq))
    }

    fn difference(&mut self, code: u8) -> Step<u64> {
        if code & 7 == UNKNOWN {
            return Err("a field that must be there is not");
        }
        let bits = self.number(usize::from(NEAR[usize::from(code & 7)]))?;
        Ok(unzigzag(bits) as u64)
    }

    fn number(&mut self, width: usize) -> Step<u64> {
        let mut word = [0; 8];
        word[..width].copy_from_slice(self.take(width)?);
        Ok(u64::from_le_bytes(word))
    }

    fn slot(&mut self) -> Step<u32> {
        Ok(self.number(2)? as u32)
    }

    fn varint(&mut self) -> Step<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("number without end")
    }

    fn content(&mut self) -> Step<&'a [u8]> {
        let count = self.varint()?;
        self.take(usize::try_from(count).unwrap_or(usize::MAX))
    }

    fn take(&mut self, count: usize) -> Step<&'a [u8]> {
        let taken = self.bytes[self.at..].get(..count).ok_or("record is cut off")?;
        self.at += count;
        Ok(taken)
    }
}

impl core::fmt::Debug for Decoder<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Decoder").field("at", &self.at).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Fields<'a> {
    seq: Option<u64>,
    value: Option<u64>,
    args: [u64; 3],
    content: &'a [u8],
}
