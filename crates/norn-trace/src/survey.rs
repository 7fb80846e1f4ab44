//! The first pass: collects what must be known of all chunks before the events of any can be
//! decoded.
//!
//! Events have ids for sites, call stacks and positions in their thread, and some depend on events
//! long before: the release of a lock on how it was acquired, the end of a wait on signals of other
//! threads. All chunks are decoded once, in parallel; then their parts are merged in the order of
//! threads and chunks, so that the result does not depend on timing.

use std::ops::Range;

use norn_abi::Fault;
use norn_model::{
    self as model, EventId, Held, LockMode, NameId, Names, Stacks, ThreadId, WokenBy,
};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::{
    Counts, Damage, Flaw, Module, Site,
    bytes::Bytes,
    calls::Growing,
    channel::{self, Transfer},
    part::Part,
    scan::Chunk,
    site::Sites,
    wake,
};

/// Number of chunks that are surveyed before their parts are merged, to limit memory use.
const BATCH: usize = 256;

/// The result of the first pass.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) sites: Sites,
    pub(crate) stacks: Stacks,
    pub(crate) modules: Vec<Module>,
    pub(crate) names: Names,
    /// The parameter names of functions.
    pub(crate) parameters: FxHashMap<NameId, Vec<String>>,
    /// By number in the runtime: the name.
    numbers: FxHashMap<u64, NameId>,
    pub(crate) counts: Counts,
    /// What ended each wait, by event.
    pub(crate) woken: Vec<(EventId, WokenBy)>,
    /// What was sent and received, by event.
    pub(crate) transfers: Vec<(EventId, Transfer)>,
    /// The state at the beginning of each chunk.
    pub(crate) starts: Vec<Start>,
    /// Timed-out waits in order: sequence number and thread.
    pub(crate) expired: Vec<(u64, ThreadId)>,
    /// By thread: the sequence number of its creation.
    forks: FxHashMap<ThreadId, u64>,
    pub(crate) damage: Vec<Damage>,
}

impl Index {
    /// The position of the first event of a thread with these chunks; `after` is the last sequence
    /// number before the first of them.
    pub(crate) fn start_of(
        &self,
        thread: ThreadId,
        chunks: Range<usize>,
        after: u64,
    ) -> model::Start {
        let forked = self.forks.get(&thread).copied().unwrap_or(0);
        let unnumbered = model::Start::After(forked.max(after));
        // A chunk has no events if it is damaged, or if it only begins a turn.
        let first = self.starts[chunks].iter().find(|it| it.events > 0);
        first.and_then(|it| it.seq).map_or(unnumbered, model::Start::With)
    }

    /// The name with a number in the runtime; an unused id if its record is lost.
    pub(crate) fn name(&self, number: u64) -> NameId {
        self.numbers.get(&number).copied().unwrap_or(NameId(u32::MAX))
    }
}

/// The state at the beginning of a chunk, from the chunks before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Number of earlier events of the thread.
    pub(crate) index: u64,
    /// Number of events of the chunk.
    pub(crate) events: u64,
    /// The sequence number of its first event, if it has one.
    pub(crate) seq: Option<u64>,
    /// The sequence number of the last turn, if the thread had no event since.
    pub(crate) turn: Option<u64>,
    /// The read-write locks that the thread holds.
    pub(crate) held: Held,
}

/// Surveys all chunks, which are sorted by thread and index.
pub(crate) fn survey(bytes: &Bytes, chunks: &[Chunk]) -> Index {
    let mut index = Index::default();
    let mut whole = Whole::default();
    for batch in chunks.chunks(BATCH) {
        let parts: Vec<Part> = batch.par_iter().map(|it| Part::of(bytes, it)).collect();
        for (chunk, part) in batch.iter().zip(parts) {
            bytes.give_back(chunk.range());
            whole.add(&mut index, chunk, part);
        }
        whole.sites.sort_unstable();
        whole.sites.dedup();
    }
    index.sites = Sites(whole.sites);
    index.stacks = whole.tree.finish();
    index.woken = wake::resolve(&whole.waits);
    index.transfers = channel::resolve(whole.transfers);
    index.modules.sort_by_key(|it| it.seq);
    index.expired.sort_unstable();
    index
}

/// The merged parts, before the final conversion.
#[derive(Default)]
struct Whole {
    sites: Vec<Site>,
    tree: Growing,
    waits: Vec<wake::Step>,
    transfers: Vec<channel::Step>,
    /// The thread of the last chunk, and the state after it.
    thread: u32,
    /// The index of that chunk.
    chunk: u32,
    next: Start,
}

impl Whole {
    fn add(&mut self, index: &mut Index, chunk: &Chunk, part: Part) {
        if self.thread != chunk.header.thread {
            self.thread = chunk.header.thread;
            self.next = Start::default();
        } else if self.chunk.checked_add(1) != Some(chunk.header.index) {
            self.next.turn = None;
        }
        self.chunk = chunk.header.index;
        let events = part.counts.events;
        let seq = part.first_seq.or(self.next.turn.filter(|_| events > 0));
        index.starts.push(Start { events, seq, ..self.next.clone() });
        self.waits.extend(part.waits.iter().map(|wait| wake::Step {
            id: EventId { thread: chunk.thread(), index: self.next.index + wait.id.index },
            ..*wait
        }));
        self.transfers.extend(part.transfers.iter().map(|step| channel::Step {
            id: EventId { thread: chunk.thread(), index: self.next.index + step.id.index },
            ..*step
        }));
        self.next.index += events;
        self.next.turn = part.turn.or(self.next.turn.filter(|_| events == 0));
        part.locks.iter().for_each(|&(lock, mode)| hold(&mut self.next.held, lock, mode));
        self.sites.extend(part.sites);
        self.tree.join(&part.tree);
        for (child, seq) in part.forks.into_iter().filter(|it| it.0 != chunk.thread()) {
            let first = index.forks.entry(child).or_insert(seq);
            *first = seq.min(*first);
        }
        index.counts.add(&part.counts);
        index.modules.extend(part.modules);
        index.expired.extend(part.expired);
        for (number, name, parameters) in part.names {
            let id = index.names.intern(&name);
            index.numbers.entry(number).or_insert(id);
            // Functions with the same name may have different parameters; then their names are
            // dropped.
            let known = index.parameters.entry(id).or_insert_with(|| parameters.clone());
            if *known != parameters {
                known.clear();
            }
        }
        if let Some(Fault { offset, why }) = part.fault {
            let lost = chunk.records.len() - offset;
            let at = chunk.records.start + offset;
            index.damage.push(chunk.damage(at, Flaw::Record(why), lost));
        }
    }
}

fn hold(held: &mut Held, lock: u64, mode: Option<LockMode>) {
    match mode {
        Some(mode) => {
            held.acquire(lock, mode);
        }
        None => {
            held.release(lock);
        }
    }
}
