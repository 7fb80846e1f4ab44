//! Sites: program counter and kind. They are numbered by address, so a number does not depend on
//! the order of threads.

use norn_abi::{Kind, codec::SITES};
use norn_model::SiteId;

/// A code location and the kind of event there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The return address of the recorded call: the instruction after the call of the hook or
    /// function.
    pub pc: u64,
    /// The kind of event.
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

/// The current sites in the decoder's slots. Two sites may share a slot.
#[derive(Debug)]
pub(crate) struct Slots(Box<[(Site, SiteId)]>);

impl Slots {
    pub(crate) fn new() -> Slots {
        // No site has this address.
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

    /// Whether the site in a slot differs from the last one there.
    #[inline]
    pub(crate) fn is_new(&mut self, slot: u16, site: Site) -> bool {
        let entry = &mut self.0[usize::from(slot) % SITES];
        std::mem::replace(&mut entry.0, site) != site
    }
}
