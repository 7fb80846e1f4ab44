//! A trace that is loaded for prediction.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use norn_frontend::FrontEnd;
use norn_model::{Candidate, CandidateKind, EventId, Held, HeldIndex, SiteId, Trace};
use norn_replay::{ReplayError, SymbolizedTrace};

/// Maximum number of events of a trace that are analysed. Each takes some hundred bytes of memory.
const MOST_EVENTS: u64 = 1 << 24;

/// A trace to predict from.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) symbolized: Arc<SymbolizedTrace>,
    /// The first of its events, up to the limit.
    pub(crate) trace: Trace,
    /// Number of later events.
    pub(crate) left_out: u64,
    /// The locks held at each event, computed on first use.
    held: OnceLock<HeldIndex>,
}

/// A place in the code that is the same in every run: the path of the module's file, and the
/// position in it.
pub(crate) type Place = (PathBuf, u64, u16);

/// The identity of a candidate for a reader: its class and its places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    kind: CandidateKind,
    places: Vec<Place>,
}

impl Source {
    pub(crate) fn open(
        front_end: &dyn FrontEnd,
        folder: &Path,
        process: u32,
    ) -> Result<Source, ReplayError> {
        Ok(Source::new(Arc::new(SymbolizedTrace::open(front_end, folder, process)?)))
    }

    /// Loads the events of an opened run.
    pub(crate) fn new(symbolized: Arc<SymbolizedTrace>) -> Source {
        let trace = symbolized.trace.load_first(MOST_EVENTS);
        let left_out = symbolized.trace.counts().events - trace.len() as u64;
        Source { symbolized, trace, left_out, held: OnceLock::new() }
    }

    /// The locks that the thread of an event holds before it.
    pub(crate) fn held(&self, event: EventId) -> Held {
        self.held.get_or_init(|| HeldIndex::new(&self.trace)).before(event)
    }

    pub(crate) fn key(&self, candidate: &Candidate) -> Key {
        let places = candidate.sites().map(|it| place(&self.symbolized.trace, it)).collect();
        Key { kind: candidate.kind.clone(), places }
    }
}

/// The place of a site.
pub(crate) fn place(trace: &norn_trace::Trace, site: SiteId) -> Place {
    let Some(site) = trace.site(site) else { return (PathBuf::new(), 0, 0) };
    let modules = trace.modules().iter().rev();
    let module = modules.into_iter().find(|it| (it.start..it.end).contains(&site.pc));
    let (path, start) = module.map_or((PathBuf::new(), 0), |it| (it.path.clone(), it.start));
    (path, site.pc - start, site.kind.code())
}

/// All places where a trace has events.
pub(crate) fn places(trace: &norn_trace::Trace) -> impl Iterator<Item = Place> {
    let count = u32::try_from(trace.sites().len()).unwrap_or(u32::MAX);
    (0..count).map(|it| place(trace, SiteId(it)))
}
