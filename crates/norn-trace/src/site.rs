//! Sites: program counter and kind. They are numbered by their addresses, so a number does not
//! depend on which thread came first.

use norn_abi::{Kind, codec::SITES};
use norn_model::SiteId;

/// A place in the code and what happens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Where the recorded call returns to: the instruction after the hook or the function call.
    pub pc: u64,
    /// What is done there.
    pub kind: Kind,
}

/// The sites of a trace, sorted.
#[derive(Debug, Default)]
pub(crate) struct Sites(pub(crate) Vec<Site>);

impl Sites {
    /// The number of a site.
    pub(crate) fn find(&self, site: Site) -> Option<SiteId> {
        self.0.binary_search(&site).ok().and_then(|at| u32::try_from(at).ok()).map(SiteId)
    }
}

/// The sites that a decoder's slots have at the moment. Two sites may compete for one.
#[derive(Debug)]
pub(crate) struct Slots(Box<[(Site, SiteId)]>);

impl Slots {
    pub(crate) fn new() -> Slots {
        // No site is at this address.
        let nowhere = Site { pc: u64::MAX, kind: Kind::Enter };
        Slots(vec![(nowhere, SiteId(0)); SITES].into_boxed_slice())
    }

    /// The number of the site in a slot.
    #[inline]
    pub(crate) fn id(&mut self, sites: &Sites, slot: u16, site: Site) -> SiteId {
        let entry = &mut self.0[usize::from(slot) % SITES];
        if entry.0 != site {
            *entry = (site, sites.find(site).unwrap_or_default());
        }
        entry.1
    }

    /// Whether the site in a slot is another one than the last time.
    #[inline]
    pub(crate) fn is_new(&mut self, slot: u16, site: Site) -> bool {
        let entry = &mut self.0[usize::from(slot) % SITES];
        std::mem::replace(&mut entry.0, site) != site
    }
}
