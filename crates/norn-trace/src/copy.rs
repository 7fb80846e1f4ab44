//! Copies that are announced before they are made.
//!
//! gcc announces `a = b` of two structures by a write hook for `a` and a read hook for `b`, and
//! only then copies. The runtime reads a written value back at the thread's next event, which here
//! comes too early: `a` still has its old value. But what will be written is what is read.
//!
//! Of a *block*, the runtime sees that a read of the same length comes right after the write, and
//! records the write without content: [`completes`] says when the read's content is also that of
//! the write.
//!
//! An access of 1 to 16 bytes looks the same whether it is such a copy or two statements that
//! follow each other. Only the program's code can tell: see [`Copies::learn`].

use norn_abi::{AccessClass, Kind, Record, codec::CONTENT};
use norn_model::SiteId;
use rustc_hash::FxHashSet;

use crate::Site;

/// The hooks of one copy are not farther from each other than this.
const REACH: u64 = 128;

/// Whether the content of the record after a block's write, which has no content of its own, is
/// what was written.
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

/// Which writes of 1 to 16 bytes are copies of what is read right after them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    pairs: FxHashSet<(SiteId, SiteId)>,
    /// Which sites are the first of a pair.
    writes: Vec<bool>,
}

impl Copies {
    /// Asks about all pairs of sites that may be copies. `sites` are sorted by address.
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

    /// Whether what is written at a site may be a copy.
    #[inline]
    pub(crate) fn may_be(&self, write: SiteId) -> bool {
        self.writes.get(write.0 as usize).copied().unwrap_or(false)
    }

    /// Whether it is one, if this is read right after it.
    pub(crate) fn is(&self, write: SiteId, read: SiteId) -> bool {
        self.pairs.contains(&(write, read))
    }
}

/// The size of a plain access, if it is a write or read as wanted.
fn size(site: &Site, write: bool) -> Option<u8> {
    match site.kind.as_access()? {
        (AccessClass::Plain, is_write, size) if is_write == write => Some(size),
        _ => None,
    }
}

fn id(at: usize) -> SiteId {
    SiteId(u32::try_from(at).unwrap_or(u32::MAX))
}
