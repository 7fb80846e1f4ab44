//! Traces to measure engines with: threads that nest locks, mostly follow the locking discipline
//! and sometimes do not, and read values that many threads write. Values, locks and signals are
//! consistent.

use norn_model::{
    Event, EventId, LockMode, Op, Order, Outcome, Role, Site, SiteId, StackId, Thread, ThreadId,
    ThreadName, Trace, WokenBy,
};

/// The parameters of a workload.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The number of threads, including the first.
    pub threads: usize,
    /// The approximate number of events.
    pub events: usize,
    /// The number of values that most writes choose from; few values make hard queries.
    pub values: u64,
    /// The number of locks; 0 chooses one that suits the length.
    pub locks: u64,
    /// The seed.
    pub seed: u64,
}

/// Events to be brought into an order, and whether they have to be adjacent.
pub type Question = (Vec<EventId>, bool);

/// The addresses of locks and of what they protect.
const LOCKS: u64 = 0x1000_0000;
const MEMORY: u64 = 0x2000_0000;
const CONDS: u64 = 0x3000_0000;
/// Variables of each lock that all threads use.
const COMMON: u64 = 3;

impl Workload {
    /// The deterministic trace.
    pub fn trace(&self) -> Trace {
        let mut generator = Generator::new(*self);
        for child in 1..self.threads {
            generator.push(0, Op::Fork(id(child)));
        }
        let mut now = 0;
        while generator.seq < self.events as u64 {
            if generator.chance(8) || !generator.turn(now) {
                now = generator.below(self.threads as u64);
            }
        }
        generator.end();
        generator.trace
    }

    /// This many queries about two adjacent accesses, near and far, and about an access between two
    /// others.
    pub fn questions(&self, trace: &Trace, count: usize) -> Vec<Question> {
        let mut generator = Generator::new(*self);
        let mut accesses: Vec<Vec<(u64, EventId, bool)>> = Vec::new();
        for event in trace.merged() {
            if let Op::Read { addr, .. } | Op::Write { addr, .. } = event.op {
                let at = usize::try_from((addr - MEMORY) / 8).unwrap_or(0);
                accesses.resize(accesses.len().max(at + 1), Vec::new());
                let write = matches!(event.op, Op::Write { .. });
                accesses[at].push((event.seq.unwrap_or(0), event.id, write));
            }
        }
        accesses.retain(|it| it.len() > 3);
        let mut questions = Vec::new();
        for tries in 0..count * 400 {
            if questions.len() == count || accesses.is_empty() {
                break;
            }
            let all = &accesses[generator.below(accesses.len() as u64)];
            questions.extend(generator.question(all, tries % 4));
        }
        questions
    }
}

fn id(thread: usize) -> ThreadId {
    ThreadId(u32::try_from(thread).unwrap_or(0))
}

/// The state of a thread.
#[derive(Clone, Debug, Default)]
struct ThreadState {
    held: Vec<u64>,
    /// Waits for the condition of this lock; the signal that woke it.
    waits: Option<(u64, Option<EventId>)>,
}

struct Generator {
    load: Workload,
    trace: Trace,
    random: u64,
    seq: u64,
    threads: Vec<ThreadState>,
    memory: Vec<u64>,
    unique: u64,
}

impl Generator {
    fn new(load: Workload) -> Self {
        let thread = |at: usize| Thread {
            id: id(at),
            name: ThreadName(if at == 0 { "T0".to_owned() } else { format!("T0.{at}") }),
            role: Role::Thread,
            parent: None,
            after: 0,
            events: Vec::new(),
        };
        let threads = (0..load.threads).map(thread).collect();
        let trace = Trace {
            threads,
            sites: vec![Site::default()],
            order: Order::Global,
            ..Trace::default()
        };
        let threads = vec![ThreadState::default(); load.threads];
        let random = load.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Generator { load, trace, random, seq: 0, threads, memory: Vec::new(), unique: 1000 }
    }

    fn below(&mut self, bound: u64) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from((self.random >> 11) % bound).unwrap_or(0)
    }

    fn chance(&mut self, percent: u64) -> bool {
        (self.below(100) as u64) < percent
    }

    fn locks(&self) -> u64 {
        if self.load.locks > 0 { self.load.locks } else { 8 + self.load.events as u64 / 1000 }
    }

    fn push(&mut self, thread: usize, op: Op) -> EventId {
        self.seq += 1;
        let events = &mut self.trace.threads[thread].events;
        let id = EventId { thread: id(thread), index: events.len() as u64 };
        let (site, stack) = (SiteId(0), StackId(0));
        events.push(Event { id, op, site, stack, seq: Some(self.seq) });
        id
    }

    fn is_free(&self, lock: u64) -> bool {
        !self.threads.iter().any(|it| it.held.contains(&lock))
    }

    fn acquire(lock: u64) -> Op {
        Op::Acquire { lock: LOCKS + 64 * lock, mode: LockMode::Mutex, how: Outcome::Waited }
    }

    fn release(lock: u64) -> Op {
        Op::Release { lock: LOCKS + 64 * lock, mode: LockMode::Mutex }
    }

    /// A thread performs an event, if it can.
    fn turn(&mut self, thread: usize) -> bool {
        match self.threads[thread].waits {
            Some((_, None)) => return false,
            Some((lock, Some(by))) => return self.wake(thread, lock, by),
            None => {}
        }
        let depth = self.threads[thread].held.len();
        if depth > 0 && self.signal(thread) {
            return true;
        }
        if depth > 0 && self.chance(22) {
            self.leave(thread);
        } else if depth == 0 && self.chance(30) || (1..3).contains(&depth) && self.chance(6) {
            let (one, other) = (self.below(self.locks()), self.below(self.locks()));
            let lock = one.min(other) as u64;
            if !self.is_free(lock) {
                return false;
            }
            self.push(thread, Self::acquire(lock));
            self.threads[thread].held.push(lock);
        } else {
            self.access(thread);
        }
        true
    }

    /// Leaves the last critical section, for good or to wait.
    fn leave(&mut self, thread: usize) {
        let waiting = self.threads.iter().filter(|it| it.waits.is_some()).count();
        let last = self.threads[thread].held.len() == 1;
        let Some(lock) = self.threads[thread].held.pop() else { return };
        if last && waiting < self.load.threads / 4 && self.below(150) == 0 {
            let (address, cond) = (LOCKS + 64 * lock, CONDS + 64 * lock);
            self.push(thread, Op::WaitRelease { lock: address });
            self.push(thread, Op::Wait { cond, lock: address, timed: false });
            self.threads[thread].waits = Some((lock, None));
        } else {
            self.push(thread, Self::release(lock));
        }
    }

    /// Wakes a thread that waits for the condition of a lock that this thread holds.
    fn signal(&mut self, thread: usize) -> bool {
        let Some(lock) = self.threads[thread].held.last().copied() else { return false };
        let asleep = |it: &ThreadState| it.waits == Some((lock, None));
        let Some(other) = self.threads.iter().position(asleep) else { return false };
        if !self.chance(40) {
            return false;
        }
        let by = self.push(thread, Op::Signal { cond: CONDS + 64 * lock });
        self.threads[other].waits = Some((lock, Some(by)));
        true
    }

    fn wake(&mut self, thread: usize, lock: u64, by: EventId) -> bool {
        if !self.is_free(lock) {
            return false;
        }
        let (cond, address) = (CONDS + 64 * lock, LOCKS + 64 * lock);
        let woken = WokenBy::Event(by);
        self.push(thread, Op::WaitAcquire { cond, lock: address, woken });
        self.threads[thread] = ThreadState { held: vec![lock], waits: None };
        true
    }

    /// A variable: one of a held lock, or a private one; sometimes another.
    fn variable(&mut self, thread: usize) -> u64 {
        let (locks, threads) = (self.locks(), self.load.threads as u64);
        let each = COMMON + 2 * threads;
        let own =
            |generator: &mut Generator| COMMON + 2 * thread as u64 + generator.below(2) as u64;
        let held = self.threads[thread].held.clone();
        if !held.is_empty() && !self.chance(4) {
            let lock = held[self.below(held.len() as u64)];
            let common = self.chance(20);
            return lock * each + if common { self.below(COMMON) as u64 } else { own(self) };
        }
        if self.chance(25) {
            let lock = self.below(locks) as u64;
            return lock * each + self.below(each) as u64;
        }
        let racy = 5 + self.load.events as u64 / 400;
        if self.chance(20) {
            locks * each + self.below(racy) as u64
        } else {
            locks * each + racy + own(self)
        }
    }

    fn access(&mut self, thread: usize) {
        let variable = self.variable(thread);
        let at = usize::try_from(variable).unwrap_or(0);
        self.memory.resize(self.memory.len().max(at + 1), 0);
        let (addr, size, volatile) = (MEMORY + 8 * variable, 8, false);
        if self.chance(65) {
            let value = Some(self.memory[at].into());
            self.push(thread, Op::Read { addr, size, value, volatile });
            return;
        }
        self.unique += 1;
        let unique = self.chance(30);
        let value = if unique { self.unique } else { self.below(self.load.values) as u64 };
        self.memory[at] = value;
        let value = Some(value.into());
        self.push(thread, Op::Write { addr, size, value, volatile });
    }

    /// All threads release their locks; threads that wait keep waiting.
    fn end(&mut self) {
        for thread in 0..self.load.threads {
            while let Some(lock) = self.threads[thread].held.pop() {
                self.push(thread, Self::release(lock));
            }
        }
        for thread in 1..self.load.threads {
            if self.threads[thread].waits.is_none() {
                self.push(thread, Op::End);
                self.push(0, Op::Join(id(thread)));
            }
        }
    }

    /// Some accesses of one variable: near, farther, far apart, or three.
    fn question(&mut self, all: &[(u64, EventId, bool)], kind: usize) -> Option<Question> {
        let at = self.below(all.len() as u64);
        let other = (at + 1 + self.below(40)).min(all.len() - 1);
        let (one, other) = (all[at], all[other]);
        if one.1.thread == other.1.thread || !(one.2 || other.2) {
            return None;
        }
        let fits =
            matches!((other.0 - one.0, kind), (0..60, 0) | (60..400, 1) | (400.., 2) | (_, 3));
        if !fits {
            return None;
        }
        if kind < 3 {
            let pair = if self.chance(50) { vec![one.1, other.1] } else { vec![other.1, one.1] };
            return Some((pair, true));
        }
        let next = all.iter().find(|it| it.0 > one.0 && it.1.thread == one.1.thread)?;
        other.2.then(|| (vec![one.1, other.1, next.1], false))
    }
}
