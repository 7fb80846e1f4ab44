//! Copies whose hooks run before the copy.
//!
//! For the assignment `a = b` of two structures, gcc calls a write hook for `a` and a read hook for
//! `b`, and only then copies. The runtime reads a written value back at the thread's next event,
//! which is too early here: `a` still has its old value. But the value to be written is the value
//! read from `b`.
//!
//! For a *block*, the runtime recognizes a read of the same length directly after the write and
//! records the write without content; [`completes`] decides whether the read's content is also that
//! of the write.
//!
//! For an access of 1 to 16 bytes, such a copy cannot be distinguished from two consecutive
//! statements by the records. Only the program's code can decide: see [`Copies::learn`].

use norn_abi::{AccessClass, Kind, Record, codec::CONTENT};
use norn_model::SiteId;
use rustc_hash::FxHashSet;

use crate::Site;

/// Maximum distance between the two hooks of a copy, in bytes.
const REACH: u64 = 128;

/// The content of the record after a block write without content, if it is what was written.
pub(crate) fn completes<'a>(len: u64, next: &Record<'a>) -> Option<&'a [u8]> {
    match *next {
        Record::Event { kind: Kind::RangeRead, value, content, .. }
            if value == Some(len) && len <= CONTENT as u64 =>
        {
            Some(content)
        }
        _ => None,
    }
}

/// The writes of 1 to 16 bytes that copy the value read directly after them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    pairs: FxHashSet<(SiteId, SiteId)>,
    /// By site: whether it is the write of a pair.
    writes: Vec<bool>,
}

impl Copies {
    /// Queries all pairs of sites that may be copies. `sites` are sorted by address.
    pub(crate) fn learn(sites: &[Site], is_copy: &dyn Fn(u64, u64) -> bool) -> Copies {
        let mut copies = Copies { pairs: FxHashSet::default(), writes: vec![false; sites.len()] };
        for (at, write) in sites.iter().enumerate().filter(|(_, it)| size(it, true).is_some()) {
            let near = sites.iter().enumerate().skip(at + 1);
            let near = near.take_while(|(_, it)| it.pc - write.pc <= REACH);
            for (to, read) in near.filter(|(_, it)| size(it, false) == size(write, true)) {
                if is_copy(write.pc, read.pc) {
                    copies.pairs.insert((id(at), id(to)));
                    copies.writes[at] = true;
                }
            }
        }
        copies
    }

    /// Whether the write at a site may be a copy.
    #[inline]
    pub(crate) fn may_be(&self, write: SiteId) -> bool {
        self.writes.get(write.0 as usize).copied().unwrap_or(false)
    }

    /// Whether a write is a copy of the read directly after it.
    pub(crate) fn is(&self, write: SiteId, read: SiteId) -> bool {
        self.pairs.contains(&(write, read))
    }
}

/// The size of a plain access, if it is a write or a read as requested.
fn size(site: &Site, write: bool) -> Option<u8> {
    match site.kind.as_access()? {
        (AccessClass::Plain, is_write, size) if is_write == write => Some(size),
        _ => None,
    }
}

fn id(at: usize) -> SiteId {
    SiteId(u32::try_from(at).unwrap_or(u32::MAX))
}
