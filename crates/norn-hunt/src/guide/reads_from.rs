//! Coverage of reads-from pairs: which write each read has seen, by their places; and of the places.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use norn_model::{Effect, EventId, SiteId};

use crate::source::{Place, Source, place};

/// The pairs of places that all runs so far have shown.
#[derive(Debug, Default)]
pub(super) struct ReadsFrom {
    pairs: BTreeSet<(Place, Place)>,
    places: BTreeSet<Place>,
    /// The instructions: the places, whatever happened there.
    code: BTreeSet<(PathBuf, u64)>,
}

/// What a run has shown for the first time.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    /// Whether a reads-from pair is new.
    pair: bool,
    /// The sites of its new places.
    pub(crate) sites: BTreeSet<SiteId>,
    /// Those of them at which something else happened before are not new code: a compare-exchange that
    /// fails, for example. These are the others.
    pub(crate) code: BTreeSet<SiteId>,
}

impl Learnt {
    pub(crate) fn is_new(&self) -> bool {
        self.pair || !self.sites.is_empty()
    }
}

impl ReadsFrom {
    /// Adds the pairs of a run in which one thread reads what another one has written, and its places.
    pub(super) fn learn(&mut self, source: &Source) -> Learnt {
        let mut written: BTreeMap<u64, (EventId, SiteId)> = BTreeMap::new();
        let mut pairs: BTreeSet<(SiteId, SiteId)> = BTreeSet::new();
        let mut sites = BTreeSet::new();
        for event in source.trace.merged() {
            // Code that only waits does nothing new.
            if event.op.effect() != Effect::None {
                sites.insert(event.site);
            }
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
        let pair = self.pairs.len() > before;
        // Inlined copies of a place, and sites of several kinds, are one place.
        sites.retain(|it| !self.places.contains(&place(*it)));
        self.places.extend(sites.iter().map(|it| place(*it)));
        let instruction = |it: SiteId| (place(it).0, place(it).1);
        let is_code = |it: &SiteId| !self.code.contains(&instruction(*it));
        let code: BTreeSet<_> = sites.iter().copied().filter(is_code).collect();
        self.code.extend(code.iter().map(|it| instruction(*it)));
        Learnt { pair, sites, code }
    }
}
