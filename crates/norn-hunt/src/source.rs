//! A trace that is loaded for prediction.

use std::{
    iter,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use norn_frontend::FrontEnd;
use norn_model::{
    Candidate, CandidateKind, Event, EventId, Held, HeldIndex, SiteId, Step, ThreadId, Trace,
};
use norn_predict::{Relevance, Thinning};
use norn_replay::{ReplayError, SymbolizedTrace};
use norn_trace::{Positions, Selection};
use norn_witness::{Turn, Witness};

use crate::campaign::Promise;

/// Runs with at most this many events are loaded completely: it takes less time than to choose.
const ALL_EVENTS: u64 = 1 << 18;
/// Maximum number of events that are loaded. Each takes some hundred bytes of memory.
const MOST_EVENTS: u64 = 1 << 22;

/// The events of a run that are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loading {
    /// Of a long run, those that other orders of threads can affect.
    Relevant,
    /// All, up to the limit: a property can be about any event.
    All,
}

/// A trace to predict from.
///
/// Of a long run only some events are in memory, numbered without gaps. Candidates and witnesses name
/// events by these numbers; [`Source::recorded`] gives the number in the run.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) symbolized: Arc<SymbolizedTrace>,
    /// Its loaded events.
    pub(crate) trace: Trace,
    /// Where they are in the run.
    pub(crate) positions: Positions,
    /// Number of events that exceed the limit.
    pub(crate) left_out: u64,
    /// What of it is tried soon.
    pub(crate) promise: Promise,
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
        loading: Loading,
    ) -> Result<Source, ReplayError> {
        Ok(Source::new(Arc::new(SymbolizedTrace::open(front_end, folder, process)?), loading))
    }

    /// Loads the events of an opened run.
    pub(crate) fn new(symbolized: Arc<SymbolizedTrace>, loading: Loading) -> Source {
        let (events, held) = (symbolized.trace.counts().events, OnceLock::new());
        let promise = Promise::default();
        if loading == Loading::Relevant
            && events > ALL_EVENTS
            && let Some((selection, left_out)) = relevant(&symbolized.trace, MOST_EVENTS)
        {
            let Selection { trace, positions } = selection;
            return Source { symbolized, trace, positions, left_out, promise, held };
        }
        let trace = symbolized.trace.load_first(MOST_EVENTS);
        let left_out = events - trace.len() as u64;
        let positions = Positions::default();
        Source { symbolized, trace, positions, left_out, promise, held }
    }

    /// The locks that the thread of an event holds before it.
    pub(crate) fn held(&self, event: EventId) -> Held {
        self.held.get_or_init(|| HeldIndex::new(&self.trace)).before(event)
    }

    /// The event of the run that is this one in memory.
    pub(crate) fn recorded(&self, id: EventId) -> EventId {
        self.positions.recorded(id)
    }

    /// The turns of a schedule, with numbers of events of the run. A turn that ends with an event of the
    /// candidate ends directly after it, and any other directly before the next loaded event, so that
    /// events of the candidate that are adjacent in the schedule are so in the run.
    pub(crate) fn turns(&self, witness: &Witness) -> Vec<(ThreadId, u64)> {
        let steps = &witness.candidate.steps;
        let turn = |&Turn { thread, until }: &Turn| {
            let is_last = |it: &Step| it.event.thread == thread && it.event.index + 1 == until;
            let ends = if steps.iter().any(is_last) {
                self.positions.executed(thread, until)
            } else {
                self.recorded(EventId { thread, index: until }).index
            };
            (thread, ends)
        };
        witness.turns.iter().map(turn).collect()
    }

    pub(crate) fn key(&self, candidate: &Candidate) -> Key {
        let places = candidate.sites().map(|it| place(&self.symbolized.trace, it)).collect();
        Key { kind: candidate.kind.clone(), places }
    }
}

/// The events that other orders of threads can affect, and how many of them are left out because they
/// are more than `most`. `None` if even the synchronisation alone is more than that.
fn relevant(trace: &norn_trace::Trace, most: u64) -> Option<(Selection, u64)> {
    let skeleton = skeleton(trace, most)?;
    let relevance = relevance(trace, &skeleton);
    let mut levels = iter::successors(Some(Thinning::default()), |it| it.next());
    levels.find_map(|level| {
        let left_out = &AtomicU64::new(0);
        let predicate = |thread: usize, first: EventId| {
            let (relevance, positions) = (&relevance, &skeleton.positions);
            let (mut passed, mut thinned) = (Some(positions.before(first)), level.chunk());
            move |event: &Event| {
                let is_skeleton = Relevance::is_skeleton(event);
                if is_skeleton {
                    passed = None;
                }
                let passed = || *passed.get_or_insert_with(|| positions.before(event.id));
                let relevant = is_skeleton || relevance.is_relevant(thread, event, passed);
                let kept = relevant && thinned.keeps(event);
                if relevant && !kept {
                    left_out.fetch_add(1, Ordering::Relaxed);
                }
                kept
            }
        };
        let selection = trace.select_and_prune(most, predicate, |it| level.prune(it))?;
        let left_out = left_out.load(Ordering::Relaxed);
        Some((selection, if level.is_lossy() { left_out } else { 0 }))
    })
}

/// What decides which accesses are relevant: a pass over all events.
fn relevance<'a>(trace: &norn_trace::Trace, skeleton: &'a Selection) -> Relevance<'a> {
    let mut relevance = Relevance::new(&skeleton.trace, trace.counts().events);
    let ids = skeleton.trace.threads.iter().map(|it| it.id);
    // By thread: the indices of the events of the skeleton that are still to come.
    let mut ahead: Vec<_> = ids.map(|it| skeleton.positions.indices(it).unwrap_or(&[])).collect();
    let lengths: Vec<_> = ahead.iter().map(|it| it.len()).collect();
    for event in trace.merged() {
        let thread = trace.threads().binary_search_by_key(&event.id.thread, |it| it.id);
        let Ok(thread) = thread else { continue };
        let rest = ahead[thread];
        relevance.step(thread, lengths[thread] - rest.len(), &event);
        if rest.first() == Some(&event.id.index) {
            ahead[thread] = &rest[1..];
        }
    }
    relevance.finish();
    relevance
}

/// Everything but plain accesses. If that is too much, critical sections without other events in them
/// are thinned out.
fn skeleton(trace: &norn_trace::Trace, most: u64) -> Option<Selection> {
    let mut levels = iter::successors(Some(Thinning::default()), |it| it.next());
    let all = |level: Thinning| {
        trace.select_and_prune(most, |_, _| Relevance::is_skeleton, |it| level.prune(it))
    };
    all(levels.next()?).or_else(|| all(levels.find(|it| it.is_lossy())?))
}

/// The place of a site.
pub(crate) fn place(trace: &norn_trace::Trace, site: SiteId) -> Place {
    let Some(site) = trace.site(site) else { return (PathBuf::new(), 0, 0) };
    let (path, offset) = in_module(trace, site.pc);
    (path, offset, site.kind.code())
}

/// The module of an address in the code, and the offset there. Without a module, the offset is the address.
pub(crate) fn in_module(trace: &norn_trace::Trace, pc: u64) -> (PathBuf, u64) {
    let module = trace.modules().iter().rev().find(|it| (it.start..it.end).contains(&pc));
    let (path, start) = module.map_or((PathBuf::new(), 0), |it| (it.path.clone(), it.start));
    (path, pc - start)
}

/// All places where a trace has events.
pub(crate) fn places(trace: &norn_trace::Trace) -> impl Iterator<Item = Place> {
    let count = u32::try_from(trace.sites().len()).unwrap_or(u32::MAX);
    (0..count).map(|it| place(trace, SiteId(it)))
}
