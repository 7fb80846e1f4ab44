//! The reader of [`crate::codec`]'s byte form. Never fails, never panics: it stops at damage and
//! says where.

use crate::{
    Kind, Shape,
    codec::{BITS, CELLS, DEFINE, Format, HIGH, LEAVE, NEAR, SITES, Site, UNKNOWN, cell, slot, unzigzag},
};

/// One record, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The current function was left.
    Leave,
    /// Something happened at `pc`.
    Event {
        /// What.
        kind: Kind,
        /// Where in the code.
        pc: u64,
        /// The kind's address.
        addr: u64,
        /// The sequence number, where the kind or the mode has one.
        seq: Option<u64>,
        /// The value of an access, the length of a block.
        value: Option<u64>,
        /// The arguments of a `Sync` kind.
        args: [u64; 3],
        /// The content of a block or of a 16-byte access, or a text.
        content: &'a [u8],
    },
}

/// Why decoding stopped before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the record begins that cannot be read.
    pub offset: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Reads the records of one chunk.
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    format: Format,
    prev: usize,
    last_seq: u64,
    sites: [Site; SITES],
    cells: [u64; CELLS],
}

type Step<T> = Result<T, &'static str>;

impl<'a> Decoder<'a> {
    /// Reads `bytes`, the records of a chunk that began with `last_seq`.
    pub fn new(bytes: &'a [u8], format: Format, last_seq: u64) -> Self {
        let (sites, cells) = ([Site::default(); SITES], [0; CELLS]);
        Decoder { bytes, at: 0, format, prev: 0, last_seq, sites, cells }
    }

    /// The next record, none at the end.
    pub fn next_record(&mut self) -> Result<Option<Record<'a>>, Fault> {
        loop {
            let offset = self.at;
            let Some(&head) = self.bytes.get(offset) else { return Ok(None) };
            self.at += 1;
            let step = match head {
                LEAVE => return Ok(Some(Record::Leave)),
                DEFINE => self.define().map(|()| None),
                0x00..=0x7f => self.event(head).map(Some),
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
        if at != slot(key) || Kind((key >> 48) as u16).shape().is_none() {
            return Err("definition of an impossible site");
        }
        self.sites[at] = Site { key, ..Site::default() };
        Ok(())
    }

    fn event(&mut self, head: u8) -> Step<Record<'a>> {
        let next = if head & 0x40 == 0 { self.sites[self.prev].next } else { self.slot()? };
        let at = next as usize;
        let site = self.sites.get(at).copied().filter(|it| it.key != 0).ok_or("undefined site")?;
        self.sites[self.prev].next = next;
        self.prev = at;
        let addr = site.foreseen().wrapping_add(self.difference(head >> 3)?);
        self.sites[at].learn(addr);
        let kind = Kind((site.key >> 48) as u16);
        let mut event = Fields::default();
        match kind.shape().ok_or("unknown kind")? {
            Shape::Access(size) => self.access(&mut event, head, addr, size)?,
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
            Shape::Sync(count) => self.sync(&mut event, head, count)?,
            Shape::Text => {
                self.sync(&mut event, head, 1)?;
                event.content = self.content()?;
            }
        }
        let Fields { seq, value, args, content } = event;
        Ok(Record::Event { kind, pc: site.key & 0xffff_ffff_ffff, addr, seq, value, args, content })
    }

    fn access(&mut self, event: &mut Fields<'a>, head: u8, addr: u64, size: u8) -> Step<()> {
        event.seq = self.global()?;
        let code = head & 7;
        if code != UNKNOWN {
            let bits = self.number(usize::from(BITS[usize::from(code)]))?;
            let bits = if code == HIGH { bits << 40 } else { bits };
            let cell = &mut self.cells[cell(addr as usize)];
            *cell = (*cell ^ bits) & (u64::MAX >> (64 - 8 * u32::from(size)));
            event.value = Some(*cell);
        }
        Ok(())
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
