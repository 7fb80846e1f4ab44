//! Long traces for measurements: threads mostly access private memory, sometimes shared memory
//! under locks, and rarely shared memory without a lock by mistake.

use norn_model::{
    Event, EventId, LockMode, Op, Outcome, Role, Site, SiteId, StackId, Thread, ThreadId,
    ThreadName, Trace,
};

/// Base addresses of private memory, shared tables, and locks.
const OWN: u64 = 0x1000_0000;
const COMMON: u64 = 0x8000_0000;
const LOCKS: u64 = 0x9000_0000;
/// Number of locks, and of the tables that they protect.
const TABLES: u64 = 64;
/// Number of entries per table.
const PLACES: u64 = 256;
/// Number of unprotected entries.
const MISTAKES: u64 = 4;

/// A deterministic trace with this many threads and about this many events.
pub fn long(threads: u32, events: usize) -> Trace {
    let mut writer = Writer::new(threads);
    while writer.events < events {
        let thread = writer.random(threads.into());
        writer.burst(usize::try_from(thread).unwrap_or(0));
    }
    writer.trace
}

/// A trace with this many threads and about this many events, in which threads hold two or three
/// locks at a time, acquired in one global order or in any.
pub fn nested(threads: u32, events: usize, ordered: bool) -> Trace {
    let mut writer = Writer::new(threads);
    while writer.events < events {
        let thread = writer.random(threads.into());
        writer.nest(usize::try_from(thread).unwrap_or(0), ordered);
    }
    writer.trace
}

struct Writer {
    trace: Trace,
    seed: u64,
    seq: u64,
    events: usize,
}

impl Writer {
    fn new(threads: u32) -> Self {
        let thread = |number: u32| Thread {
            id: ThreadId(number),
            name: ThreadName(format!("T{number}")),
            role: Role::Thread,
            parent: None,
            after: 0,
            events: Vec::new(),
        };
        let threads = (0..threads).map(thread).collect();
        let sites = vec![Site::default(); 512];
        let trace = Trace { threads, sites, ..Trace::default() };
        Writer { trace, seed: 1, seq: 0, events: 0 }
    }

    /// A number below a bound, by Knuth's linear congruential generator.
    fn random(&mut self, below: u64) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % below
    }

    fn push(&mut self, thread: usize, op: Op, site: u64) {
        let synchronises = !matches!(op, Op::Read { .. } | Op::Write { .. });
        self.seq += u64::from(synchronises);
        let thread = &mut self.trace.threads[thread];
        let id = EventId { thread: thread.id, index: thread.events.len() as u64 };
        let site = SiteId(u32::try_from(site).unwrap_or(0));
        let seq = synchronises.then_some(self.seq);
        thread.events.push(Event { id, op, site, stack: StackId(0), seq });
        self.events += 1;
    }

    /// Adds some work of one thread.
    fn burst(&mut self, thread: usize) {
        for turn in 0..16 {
            let own = OWN + ((thread as u64) << 20) + 8 * self.random(4096);
            self.access(thread, own, turn % 3 == 0, turn);
        }
        let table = self.random(TABLES);
        let lock = LOCKS + 64 * table;
        let mode = LockMode::Mutex;
        self.push(thread, Op::Acquire { lock, mode, how: Outcome::Waited }, 100);
        for turn in 0..8 {
            let place = COMMON + 8 * (table * PLACES + self.random(PLACES));
            self.access(thread, place, turn % 2 == 1, 101 + turn + 8 * (table % 8));
        }
        self.push(thread, Op::Release { lock, mode }, 200);
        if self.random(64) == 0 {
            let place = COMMON + 8 * (TABLES * PLACES + self.random(MISTAKES));
            let site = 201 + self.random(4);
            self.access(thread, place, site.is_multiple_of(2), site);
        }
    }

    /// One thread acquires some locks, works, and releases them.
    fn nest(&mut self, thread: usize, ordered: bool) {
        let count = 2 + self.random(2);
        let mut locks: Vec<_> = (0..count).map(|_| LOCKS + 64 * self.random(TABLES)).collect();
        if ordered {
            locks.sort_unstable();
        }
        locks.dedup();
        let mode = LockMode::Mutex;
        for (&lock, site) in locks.iter().zip(300..) {
            self.push(thread, Op::Acquire { lock, mode, how: Outcome::Waited }, site);
        }
        for turn in 0..16 {
            let own = OWN + ((thread as u64) << 20) + 8 * self.random(4096);
            self.access(thread, own, turn % 3 == 0, turn);
        }
        for (&lock, site) in locks.iter().rev().zip(310..) {
            self.push(thread, Op::Release { lock, mode }, site);
        }
    }

    fn access(&mut self, thread: usize, addr: u64, write: bool, site: u64) {
        let (size, value, volatile) = (8, Some(0), false);
        self.push(
            thread,
            if write {
                Op::Write { addr, size, value, volatile }
            } else {
                Op::Read { addr, size, value, volatile }
            },
            site,
        );
    }
}
