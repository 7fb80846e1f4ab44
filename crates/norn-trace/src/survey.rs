//! The first pass: what must be known of all chunks before the events of any can be given.
//!
//! Events have numbers for sites, call stacks and places in their thread, and some depend on what
//! was long before: a lock's release on how it was taken, the end of a wait on signals of other
//! threads. All chunks are decoded once, in parallel; then their parts are put together in the
//! order of threads and chunks, so that the result does not depend on who was first.

use norn_abi::{Decoder, Fault, Kind, Record};
use norn_model::{EventId, Held, LockMode, Stacks, WokenBy};
use rayon::prelude::*;

use crate::{
    Counts, Damage, Flaw, Module,
    calls::{Calls, Growing},
    count::is_event,
    op,
    scan::Chunk,
    site::{Site, Sites, Slots},
    wake,
};

/// So many chunks are surveyed before their parts are put together, to keep few parts in memory.
const BATCH: usize = 256;

/// What is known of a trace after the first pass.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(crate) sites: Sites,
    pub(crate) stacks: Stacks,
    pub(crate) modules: Vec<Module>,
    pub(crate) counts: Counts,
    /// What ended the waits, by event.
    pub(crate) woken: Vec<(EventId, WokenBy)>,
    /// Where each chunk begins, in the order of the chunks.
    pub(crate) starts: Vec<Start>,
    pub(crate) damage: Vec<Damage>,
}

/// What a chunk needs to know from those before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// How many events the thread had before.
    pub(crate) index: u64,
    /// How many events the chunk has.
    pub(crate) events: u64,
    /// The sequence number of its first event, if that has one.
    pub(crate) seq: Option<u64>,
    /// The read-write locks that the thread holds.
    pub(crate) held: Held,
}

/// Goes over all chunks, which are sorted by thread and number.
pub(crate) fn survey(bytes: &[u8], chunks: &[Chunk]) -> Index {
    let mut index = Index::default();
    let mut whole = Whole::default();
    for batch in chunks.chunks(BATCH) {
        let parts: Vec<Part> = batch.par_iter().map(|it| Part::of(bytes, it)).collect();
        for (chunk, part) in batch.iter().zip(parts) {
            whole.add(&mut index, chunk, part);
        }
    }
    index.sites = Sites::new(whole.sites);
    index.stacks = whole.tree.finish();
    index.woken = wake::resolve(&whole.waits);
    index.modules.sort_by_key(|it| it.seq);
    index
}

/// What is put together from all chunks and is not yet in its last form.
#[derive(Default)]
struct Whole {
    sites: Vec<Site>,
    tree: Growing,
    waits: Vec<wake::Step>,
    /// The thread whose chunk was last, and where its next one begins.
    thread: u32,
    next: Start,
}

impl Whole {
    fn add(&mut self, index: &mut Index, chunk: &Chunk, part: Part) {
        if self.thread != chunk.header.thread {
            self.thread = chunk.header.thread;
            self.next = Start::default();
        }
        let (events, seq) = (part.counts.events, part.first_seq);
        index.starts.push(Start { events, seq, ..self.next.clone() });
        self.waits.extend(part.waits.iter().map(|wait| wake::Step {
            id: EventId { thread: chunk.thread(), index: self.next.index + wait.id.index },
            ..*wait
        }));
        self.next.index += events;
        part.locks.iter().for_each(|&(lock, mode)| hold(&mut self.next.held, lock, mode));
        self.sites.extend(part.sites);
        self.tree.join(&part.tree);
        index.counts.add(&part.counts);
        index.modules.extend(part.modules);
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

/// What one chunk contributes.
#[derive(Default)]
struct Part {
    counts: Counts,
    sites: Vec<Site>,
    tree: Growing,
    modules: Vec<Module>,
    /// Read-write locks that are taken, with their modes, and given back.
    locks: Vec<(u64, Option<LockMode>)>,
    /// Waits and signals; the ids count from the beginning of the chunk.
    waits: Vec<wake::Step>,
    first_seq: Option<u64>,
    fault: Option<Fault>,
}

impl Part {
    fn of(bytes: &[u8], chunk: &Chunk) -> Part {
        let mut part = Part::default();
        let (mut slots, mut events) = (Slots::new(), 0);
        let frames = &bytes[chunk.frames.clone()];
        let mut calls = Calls::start(&mut part.tree, frames, chunk.header.depth);
        let records = &bytes[chunk.records.clone()];
        let mut decoder = Decoder::new(records, chunk.format(), chunk.header.last_seq);
        loop {
            while let Some(record) = decoder.next_plain() {
                match record {
                    Record::Leave => calls.leave(&mut part.tree),
                    Record::Event { kind, pc, slot, addr, seq, .. } => {
                        part.counts.record(kind);
                        if kind == Kind::Enter {
                            calls.enter(&mut part.tree, addr);
                        } else {
                            part.event(&mut slots, &mut events, (Site { pc, kind }, slot), seq);
                        }
                    }
                }
            }
            match decoder.next_record() {
                Ok(Some(Record::Leave)) => calls.leave(&mut part.tree),
                Ok(Some(Record::Event { kind, pc, slot, addr, seq, args, content, .. })) => {
                    part.counts.record(kind);
                    match kind {
                        Kind::Enter => calls.enter(&mut part.tree, addr),
                        Kind::Unwind => calls.unwind(&mut part.tree, addr),
                        _ => part.note(chunk, events, kind, (addr, seq, args), content),
                    }
                    if is_event(kind) {
                        part.event(&mut slots, &mut events, (Site { pc, kind }, slot), seq);
                    }
                }
                Ok(None) => break,
                Err(fault) => {
                    part.fault = Some(fault);
                    break;
                }
            }
        }
        part.counts.sum();
        part.counts.bytes = (chunk.records.end - chunk.offset) as u64;
        part
    }

    #[inline]
    fn event(
        &mut self,
        slots: &mut Slots,
        count: &mut u64,
        (site, slot): (Site, u16),
        seq: Option<u64>,
    ) {
        if *count == 0 {
            self.first_seq = seq;
        }
        *count += 1;
        if slots.is_new(slot, site) {
            self.sites.push(site);
        }
    }

    /// Takes note of what later passes must know.
    fn note(
        &mut self,
        chunk: &Chunk,
        index: u64,
        kind: Kind,
        (addr, seq, args): (u64, Option<u64>, [u64; 3]),
        content: &[u8],
    ) {
        let seq = seq.unwrap_or(0);
        let id = EventId { thread: chunk.thread(), index };
        let mut wait = |cond, what| self.waits.push(wake::Step { id, seq, cond, what });
        match kind {
            Kind::Wait => wait(addr, wake::What::Wait),
            Kind::WaitAcquire => wait(args[0], wake::What::Over(args[1] as i32)),
            Kind::Signal => wait(addr, wake::What::Signal),
            Kind::Broadcast => wait(addr, wake::What::Broadcast),
            Kind::Acquire | Kind::Release => {
                let mode = op::mode(args[0]);
                if let LockMode::Read | LockMode::Write = mode {
                    self.locks.push((addr, (kind == Kind::Acquire).then_some(mode)));
                }
            }
            Kind::Module => self.modules.push(Module::new(addr, args[0], content, seq)),
            _ => {}
        }
    }
}
