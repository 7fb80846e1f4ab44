//! One process of a run, opened for reading.

use std::{ops::Range, sync::OnceLock};

use norn_abi::Decoder;
use norn_model::{
    Event, EventId, Merged, NameId, Names, Order, SiteId, StackId, Stacks, Stream, ThreadId,
};
use rayon::prelude::*;

use crate::{
    ChunkEvents, Counts, Damage, Events, Module, Run, Site, Stop, Thread,
    bytes::Bytes,
    copy::Copies,
    scan::{self, Chunk},
    survey::{self, Index},
    thread,
    visit::VisitTable,
};

/// One process of a run.
///
/// Opening it surveys all chunks once, in parallel, and keeps the shared state that decoding needs.
/// The events themselves stay in the file and are decoded on demand.
pub struct Trace {
    run: Run,
    process: u32,
    pub(crate) bytes: Bytes,
    /// Sorted by thread and index.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) index: Index,
    pub(crate) copies: Copies,
    threads: Vec<Thread>,
    damage: Vec<Damage>,
    /// Built on first use.
    pub(crate) visits: OnceLock<VisitTable>,
}

/// The parts of a run that could not be recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Number of events of this process for which there was no space.
    pub events: u64,
    /// Number of events of threads after their end, in all processes.
    pub late_events: u64,
    /// Number of processes that were not recorded at all.
    pub processes: u64,
    /// Number of threads, and of signal handler runs, that were not recorded at all, in all
    /// processes.
    pub threads: u64,
    /// The premature end of the recording, if it stopped before the run did.
    pub stopped: Option<Stop>,
    /// The recorder was killed before the run ended.
    pub incomplete: bool,
}

impl Trace {
    pub(crate) fn new(run: Run, process: u32, bytes: Bytes, mut damage: Vec<Damage>) -> Trace {
        let (chunks, found) = scan::scan(&bytes, process);
        let mut index = survey::survey(&bytes, &chunks);
        damage.extend(found);
        damage.append(&mut index.damage);
        damage.sort_by_key(|it| it.offset);
        let threads = thread::threads(&chunks, &index);
        let copies = Copies::default();
        let visits = OnceLock::new();
        Trace { run, process, bytes, chunks, index, copies, threads, damage, visits }
    }

    /// The description of the run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The number of the process in the run.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// How the events are ordered.
    pub fn order(&self) -> Order {
        self.run.order
    }

    /// The threads that have chunks, by ascending id.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// A thread.
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        let at = self.threads.binary_search_by_key(&id, |it| it.id).ok()?;
        self.threads.get(at)
    }

    /// The program and its libraries, in the order of their first appearance.
    pub fn modules(&self) -> &[Module] {
        &self.index.modules
    }

    /// The sites of all events, by their ids, which ascend with their addresses.
    pub fn sites(&self) -> &[Site] {
        &self.index.sites.0
    }

    /// A site.
    pub fn site(&self, id: SiteId) -> Option<Site> {
        self.sites().get(id.0 as usize).copied()
    }

    /// The call stacks of all events.
    pub fn stacks(&self) -> &Stacks {
        &self.index.stacks
    }

    /// The names of functions and marks.
    pub fn names(&self) -> &Names {
        &self.index.names
    }

    /// The parameter names of a function, in the order of [`norn_model::Op::Call`]'s arguments;
    /// empty if unknown.
    pub fn parameters(&self, function: NameId) -> &[String] {
        self.index.parameters.get(&function).map_or(&[], Vec::as_slice)
    }

    /// In a controlled run: the threads whose waits timed out, in order, each after the events with
    /// smaller sequence numbers.
    pub fn expired(&self) -> &[(u64, ThreadId)] {
        &self.index.expired
    }

    /// Event counts.
    pub fn counts(&self) -> &Counts {
        &self.index.counts
    }

    /// The damage of the file, in the order of the file.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The parts of the run that could not be recorded.
    pub fn losses(&self) -> Losses {
        let process = self.run.processes.iter().find(|it| it.number == self.process);
        Losses {
            events: process.map_or(0, |it| it.lost),
            late_events: self.run.late_events,
            processes: self.run.unrecorded_processes,
            threads: self.run.unrecorded_threads,
            stopped: self.run.stopped,
            incomplete: !self.run.complete,
        }
    }

    /// Determines which writes are copies of the value read directly after them, so that they get
    /// their true values. `is_copy` gets the code locations of a write hook and a read hook.
    pub fn learn_copies(&mut self, is_copy: impl Fn(u64, u64) -> bool) {
        self.copies = Copies::learn(self.sites(), &is_copy);
    }

    /// The events of a thread, in program order.
    pub fn events(&self, thread: ThreadId) -> Events<'_> {
        Events::new(self, self.thread(thread).map_or(0..0, |it| it.chunks.clone()))
    }

    /// One event. Decodes its chunk up to the event.
    pub fn event(&self, id: EventId) -> Option<Event> {
        let (at, skipped) = self.chunk_of(id)?;
        ChunkEvents::new(self, at).nth(skipped)
    }

    /// Consecutive events of a thread, by their indices, and the last sequence number before them in their
    /// chunk. Decodes the chunk up to the first of them.
    pub fn window(&self, thread: ThreadId, range: Range<u64>) -> (Option<u64>, Vec<Event>) {
        let first = EventId { thread, index: range.start };
        let found = self.thread(thread).zip(self.chunk_of(first));
        let Some((thread, (at, skipped))) = found else { return (None, Vec::new()) };
        let mut events = Events::new(self, at..thread.chunks.end);
        let number = events.by_ref().take(skipped).filter_map(|it| it.seq).last();
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        (number, events.take(len).collect())
    }

    /// All chunks, for parallel decoding: sorted by thread and index.
    pub fn par_chunks(&self) -> impl IndexedParallelIterator<Item = ChunkEvents<'_>> {
        (0..self.chunks.len()).into_par_iter().map(|at| ChunkEvents::new(self, at))
    }

    /// All events in one order that is consistent with the trace; see [`Merged`].
    pub fn merged(&self) -> impl Iterator<Item = Event> {
        Merged::new(self.threads.iter().map(|thread| Stream {
            start: thread.start,
            open: || Events::new(self, thread.chunks.clone()),
        }))
    }

    /// The frames of a call stack, innermost first. Recursion is folded: a call that is repeated
    /// inside itself occurs once. [`Trace::backtrace`] is not folded.
    pub fn stack(&self, id: StackId) -> impl Iterator<Item = norn_model::Frame> {
        self.stacks().frames(id)
    }

    /// The chunk of an event, and the number of the chunk's events before it.
    pub(crate) fn chunk_of(&self, id: EventId) -> Option<(usize, usize)> {
        let chunks = self.thread(id.thread)?.chunks.clone();
        let starts = &self.index.starts[chunks.clone()];
        let at = starts.partition_point(|it| it.index <= id.index).checked_sub(1)?;
        let before = usize::try_from(id.index - starts[at].index).ok()?;
        Some((chunks.start + at, before))
    }

    /// Decodes the records of a chunk.
    pub(crate) fn decoder(&self, chunk: &Chunk) -> Decoder<'_> {
        let records = &self.bytes[chunk.records.clone()];
        Decoder::new(records, chunk.format(), chunk.header.last_seq)
    }

    /// The next chunk of the same thread, if it exists.
    pub(crate) fn following(&self, at: usize) -> Option<&Chunk> {
        let (this, next) = (self.chunks.get(at)?.header, self.chunks.get(at + 1)?);
        let follows = next.header.thread == this.thread
            && Some(next.header.index) == this.index.checked_add(1);
        follows.then_some(next)
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace")
            .field("process", &self.process)
            .field("threads", &self.threads)
            .field("counts", &self.index.counts)
            .field("damage", &self.damage)
            .finish_non_exhaustive()
    }
}
