//! Coverage of reads-from pairs: which write each read has seen, by their places.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{Effect, EventId, SiteId};

use crate::source::{Place, Source, place};

/// The pairs of places that all runs so far have shown.
#[derive(Debug, Default)]
pub(super) struct ReadsFrom {
    pairs: BTreeSet<(Place, Place)>,
}

impl ReadsFrom {
    /// Adds the pairs of a run in which one thread reads what another one has written. Returns whether
    /// one of them is new.
    pub(super) fn learn(&mut self, source: &Source) -> bool {
        let mut written: BTreeMap<u64, (EventId, SiteId)> = BTreeMap::new();
        let mut pairs: BTreeSet<(SiteId, SiteId)> = BTreeSet::new();
        for event in source.trace.merged() {
            let Effect::Access(access) = event.op.effect() else { continue };
            if access.read.is_some()
                && let Some((by, site)) = written.get(&access.addr)
                && by.thread != event.id.thread
            {
                pairs.insert((*site, event.site));
            }
            if access.write.is_some() {
                written.insert(access.addr, (event.id, event.site));
            }
        }
        let before = self.pairs.len();
        let place = |it| place(&source.symbolized.trace, it);
        self.pairs.extend(pairs.into_iter().map(|(write, read)| (place(write), place(read))));
        self.pairs.len() > before
    }
}
