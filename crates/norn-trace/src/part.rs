//! The first pass over one chunk; see [`crate::survey`].
#![expect(clippy::inline_always, reason = "a third of the speed depends on it")]

use std::borrow::Cow;

use norn_abi::{Decoder, Fault, Kind, Record};
use norn_model::{EventId, LockMode, ThreadId};

use crate::{
    Counts, Module, Site,
    calls::{Calls, Growing},
    channel,
    count::is_event,
    op,
    scan::Chunk,
    site::Slots,
    wake,
};

/// The contribution of one chunk.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) counts: Counts,
    /// Its sites, possibly with duplicates.
    pub(crate) sites: Vec<Site>,
    pub(crate) tree: Growing,
    pub(crate) modules: Vec<Module>,
    /// Numbers of names in the runtime, the names, and the parameters of functions.
    pub(crate) names: Vec<(u64, String, Vec<String>)>,
    /// Acquisitions of read-write locks, with their modes, and releases.
    pub(crate) locks: Vec<(u64, Option<LockMode>)>,
    /// Waits and signals; the event indices are relative to the chunk.
    pub(crate) waits: Vec<wake::Step>,
    /// What was sent and received; the ids count from the beginning of the chunk.
    pub(crate) transfers: Vec<channel::Step>,
    /// Created threads, with sequence numbers.
    pub(crate) forks: Vec<(ThreadId, u64)>,
    /// Timed-out waits: sequence number and thread.
    pub(crate) expired: Vec<(u64, ThreadId)>,
    /// The sequence number of the first event, if it has one.
    pub(crate) first_seq: Option<u64>,
    /// The sequence number of the last turn, if the thread had no event since.
    pub(crate) turn: Option<u64>,
    /// Why decoding stopped before the end, if it did.
    pub(crate) fault: Option<Fault>,
}

impl Part {
    /// Surveys a chunk.
    pub(crate) fn of(bytes: &[u8], chunk: &Chunk) -> Part {
        let mut part = Part::default();
        let frames = &bytes[chunk.frames.clone()];
        let calls = Calls::start(&mut part.tree, frames, chunk.header.depth);
        let records = &bytes[chunk.records.clone()];
        let decoder = Decoder::new(records, chunk.format(), chunk.header.last_seq);
        let mut pass = Pass {
            part,
            thread: chunk.thread(),
            slots: Slots::new(),
            calls,
            events: 0,
            turn: None,
        };
        pass.part.fault = pass.run(decoder).err();
        pass.part.turn = pass.pending();
        let mut part = pass.part;
        part.counts.sum();
        part.counts.bytes = (chunk.records.end - chunk.offset) as u64;
        part
    }
}

/// The state of the pass over a chunk.
struct Pass {
    part: Part,
    thread: ThreadId,
    slots: Slots,
    calls: Calls,
    events: u64,
    /// The sequence number of the last turn, and the number of events before it.
    turn: Option<(u64, u64)>,
}

impl Pass {
    fn run(&mut self, mut decoder: Decoder<'_>) -> Result<(), Fault> {
        loop {
            while let Some(record) = decoder.next_plain() {
                self.plain(record);
            }
            match decoder.next_record()? {
                Some(record) => self.any(&record),
                None => return Ok(()),
            }
        }
    }

    /// An access, a call or a return. Inlined, so that its fields stay in registers.
    #[inline(always)]
    fn plain(&mut self, record: Record<'_>) {
        match record {
            Record::Leave => self.calls.leave(&mut self.part.tree),
            Record::Event { kind, pc, slot, addr, seq, .. } => {
                self.part.counts.record(kind);
                if kind == Kind::Enter {
                    self.calls.enter(&mut self.part.tree, addr);
                } else {
                    self.event(Site { pc, kind }, slot, seq);
                }
            }
        }
    }

    fn any(&mut self, record: &Record<'_>) {
        match *record {
            Record::Event { kind, pc, slot, addr, seq, .. } if kind != Kind::Enter => {
                self.part.counts.record(kind);
                if kind == Kind::Unwind {
                    self.calls.unwind(&mut self.part.tree, addr);
                }
                self.note(record);
                if is_event(kind) {
                    self.event(Site { pc, kind }, slot, seq);
                }
            }
            _ => self.plain(*record),
        }
    }

    #[inline]
    fn event(&mut self, site: Site, slot: u16, seq: Option<u64>) {
        if self.events == 0 {
            self.part.first_seq = seq.or(self.pending());
        }
        self.events += 1;
        if self.slots.is_new(slot, site) {
            self.part.sites.push(site);
        }
    }

    /// The turn that the next event begins, if it does.
    fn pending(&self) -> Option<u64> {
        self.turn.filter(|&(_, events)| events == self.events).map(|(seq, _)| seq)
    }

    /// Collects what later passes need.
    fn note(&mut self, record: &Record<'_>) {
        let Record::Event { kind, addr, seq, args, content, .. } = *record else { return };
        let seq = seq.unwrap_or(0);
        let id = EventId { thread: self.thread, index: self.events };
        let part = &mut self.part;
        let mut wait = |cond, what| part.waits.push(wake::Step { id, seq, cond, what });
        match kind {
            Kind::Wait | Kind::TimedWait => wait(addr, wake::What::Wait),
            Kind::WaitAcquire => wait(args[0], wake::What::Over(op::number(args[1]))),
            Kind::Signal => wait(addr, wake::What::Signal),
            Kind::Broadcast => wait(addr, wake::What::Broadcast),
            Kind::Send | Kind::Receive | Kind::TimedReceive | Kind::Ready => {
                let what = channel::What::of(kind, args);
                part.transfers.extend(what.map(|what| channel::Step {
                    id,
                    seq,
                    object: addr,
                    what,
                }));
            }
            Kind::Acquire | Kind::Release => {
                let mode = op::mode(args[0]);
                if let LockMode::Read | LockMode::Write = mode {
                    part.locks.push((addr, (kind == Kind::Acquire).then_some(mode)));
                }
            }
            Kind::Turn => self.turn = Some((seq, self.events)),
            Kind::Expired => part.expired.push((seq, op::thread(addr))),
            Kind::Fork => part.forks.push((op::thread(addr), seq)),
            Kind::Name => {
                let mut words = content.split(|&it| it == 0).map(String::from_utf8_lossy);
                let name = words.next().unwrap_or_default().into_owned();
                part.names.push((addr, name, words.map(Cow::into_owned).collect()));
            }
            Kind::Module => part.modules.push(Module::new(addr, args[0], content, seq)),
            _ => {}
        }
    }
}
