//! A reference implementation of the synchronisation semantics: which events can happen next in a
//! state, and in which states they can result.
//!
//! It is written to be obviously right, not fast, and explores every choice: a signal may wake any
//! of the waiting threads. Tests compare the engines and the checker with it.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    AnnotationEffect, BarrierEffect, BlockEffect, ChannelEffect, ConditionEffect, Effect,
    LockEffect, LockMode, OnceEffect, Op, Outcome, Role, SemaphoreEffect, ThreadEffect, ThreadId,
    Trace, WokenBy,
};

/// The synchronisation semantics, for one trace.
#[derive(Debug)]
pub struct Machine<'a> {
    trace: &'a Trace,
    forked: BTreeSet<ThreadId>,
    /// By barrier: the number of threads that it waits for.
    sizes: BTreeMap<u64, usize>,
    /// By semaphore: its initial value.
    initial: BTreeMap<u64, i64>,
    /// By `HappensAfter` event: the `HappensBefore` events that it needs. Events are a thread's
    /// number and an index in it.
    announced: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    /// By event that receives: the events that sent what it got.
    sources: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    /// By event that frees memory: the event that allocated it.
    allocations: BTreeMap<(usize, usize), (usize, usize)>,
}

/// The state of the program after some events.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MachineState {
    /// By thread: the number of its events so far.
    pub cuts: Vec<usize>,
    /// By lock: the threads that hold it, how many times, and whether in shared mode.
    holds: BTreeMap<u64, BTreeMap<usize, (u32, bool)>>,
    /// By condition: the threads that wait.
    waiting: BTreeMap<u64, BTreeSet<usize>>,
    woken: BTreeSet<usize>,
    /// By barrier: the number of arrivals, and the round that each thread is in.
    arrived: BTreeMap<u64, usize>,
    rounds: BTreeMap<(u64, usize), usize>,
    counts: BTreeMap<u64, i64>,
    /// By object: whether its initialisation is done, or in progress.
    once: BTreeMap<u64, bool>,
}

/// The state while the machine scans the recorded run.
#[derive(Default)]
struct Past {
    arrived: BTreeMap<u64, usize>,
    counts: BTreeMap<u64, i64>,
    initialised: BTreeSet<u64>,
    announced: BTreeMap<u64, Vec<(usize, usize)>>,
    /// By channel and position: the event that sent it.
    sent: BTreeMap<(u64, u64), (usize, usize)>,
    blocks: BTreeMap<u64, (usize, usize)>,
}

impl<'a> Machine<'a> {
    /// Collects what the semantics need from the trace.
    pub fn new(trace: &'a Trace) -> Self {
        let mut machine = Machine {
            trace,
            forked: BTreeSet::new(),
            sizes: BTreeMap::new(),
            initial: BTreeMap::new(),
            announced: BTreeMap::new(),
            sources: BTreeMap::new(),
            allocations: BTreeMap::new(),
        };
        machine.learn();
        machine
    }

    fn learn(&mut self) {
        let mut past = Past::default();
        for event in self.trace.merged() {
            let at = (self.number(event.id.thread), usize::try_from(event.id.index).unwrap_or(0));
            match event.op.effect() {
                Effect::Thread(ThreadEffect::Fork(child)) => {
                    self.forked.insert(child);
                }
                Effect::Barrier(effect) => self.learn_barrier(&mut past, effect),
                Effect::Semaphore(effect) => self.learn_semaphore(&mut past, effect),
                Effect::Annotation(AnnotationEffect::HappensBefore { object }) => {
                    past.announced.entry(object).or_default().push(at);
                }
                Effect::Annotation(AnnotationEffect::HappensAfter { object }) => {
                    let before = past.announced.get(&object).cloned().unwrap_or_default();
                    self.announced.insert(at, before);
                }
                Effect::Channel(ChannelEffect::Send { channel, from, to }) => {
                    past.sent.extend((from..to).map(|position| ((channel, position), at)));
                }
                Effect::Channel(ChannelEffect::Receive { channel, from, to, .. }) => {
                    let sent = (from..to).filter_map(|it| past.sent.get(&(channel, it)).copied());
                    self.sources.insert(at, sent.collect());
                }
                Effect::Block(BlockEffect::Allocated { addr, .. }) => {
                    past.blocks.insert(addr, at);
                }
                Effect::Block(BlockEffect::Freed { addr }) => {
                    self.allocations.extend(past.blocks.get(&addr).map(|it| (at, *it)));
                }
                Effect::None
                | Effect::Access(_)
                | Effect::Thread(ThreadEffect::Join(_))
                | Effect::Lock(_)
                | Effect::Condition(_)
                | Effect::Once(_)
                | Effect::Object(_) => {}
            }
        }
    }

    fn learn_barrier(&mut self, past: &mut Past, effect: BarrierEffect) {
        match effect {
            BarrierEffect::Init { barrier, size } => {
                self.sizes.insert(barrier, usize::try_from(size).unwrap_or(0));
            }
            BarrierEffect::Arrive { barrier } => *past.arrived.entry(barrier).or_default() += 1,
            BarrierEffect::Leave { barrier } => {
                let size = past.arrived.get(&barrier).copied().unwrap_or(0);
                self.sizes.entry(barrier).or_insert(size);
            }
        }
    }

    fn learn_semaphore(&mut self, past: &mut Past, effect: SemaphoreEffect) {
        match effect {
            SemaphoreEffect::Init { semaphore, value } => {
                self.initial.insert(semaphore, i64::try_from(value).unwrap_or(0));
                past.initialised.insert(semaphore);
            }
            SemaphoreEffect::Post { semaphore } => {
                *past.counts.entry(semaphore).or_default() += 1;
            }
            SemaphoreEffect::Wait { semaphore, .. } => {
                let count = past.counts.entry(semaphore).or_default();
                *count -= 1;
                let initial = self.initial.entry(semaphore).or_default();
                if !past.initialised.contains(&semaphore) {
                    *initial = (*initial).max(-*count);
                }
            }
            SemaphoreEffect::Failed { .. } => {}
        }
    }

    fn number(&self, id: ThreadId) -> usize {
        self.trace.threads.iter().position(|it| it.id == id).unwrap_or(usize::MAX)
    }

    /// The state before the first event.
    pub fn start(&self) -> MachineState {
        MachineState { cuts: vec![0; self.trace.threads.len()], ..MachineState::default() }
    }

    /// All states that a thread's next event can result in; none if it cannot happen now.
    pub fn step(&self, state: &MachineState, thread: usize) -> Vec<MachineState> {
        let Some(event) = self.trace.threads[thread].events.get(state.cuts[thread]) else {
            return Vec::new();
        };
        if state.cuts[thread] == 0 && !self.is_created(state, thread) {
            return Vec::new();
        }
        if self.is_interrupted(state, thread) || self.has_no_host(state, thread, event) {
            return Vec::new();
        }
        let mut next = self.successors(state, thread, event.op.effect());
        for it in &mut next {
            it.cuts[thread] += 1;
        }
        next
    }

    /// Whether a signal handler runs on a thread: the last `HandlerBegin` of one that interrupts it
    /// comes after the last `HandlerEnd`.
    fn is_interrupted(&self, state: &MachineState, thread: usize) -> bool {
        let id = self.trace.threads[thread].id;
        let interrupts =
            |it: &norn_model::Thread| it.role == Role::Handler && it.parent == Some(id);
        let streams = self.trace.threads.iter().enumerate().filter(|(_, it)| interrupts(it));
        streams.into_iter().any(|(number, stream)| {
            let mut done = stream.events[..state.cuts[number]].iter().rev();
            let is_bound = |op: &Op| matches!(op, Op::HandlerBegin { .. } | Op::HandlerEnd);
            done.find(|it| is_bound(&it.op)).is_some_and(|it| it.op != Op::HandlerEnd)
        })
    }

    /// Whether a signal handler would begin on a thread that has not begun, or has ended.
    fn has_no_host(&self, state: &MachineState, thread: usize, event: &norn_model::Event) -> bool {
        let stream = &self.trace.threads[thread];
        let begins = stream.role == Role::Handler && matches!(event.op, Op::HandlerBegin { .. });
        let Some(host) = stream.parent.filter(|_| begins).map(|it| self.number(it)) else {
            return false;
        };
        let Some(thread) = self.trace.threads.get(host) else { return false };
        let done = &thread.events[..state.cuts[host]];
        let begun = !matches!(thread.events.first(), Some(it) if matches!(it.op, Op::Begin { .. }));
        !begun && done.is_empty() || done.last().is_some_and(|it| it.op == Op::End)
    }

    /// The threads that keep a thread waiting for the lock that its next event requests: those that hold it, and
    /// before a reader that queues, those that wait to write. A thread that was not created yet requests nothing.
    pub fn blocking_threads(&self, state: &MachineState, thread: usize) -> Vec<usize> {
        let mut blocking = self.holders(state, thread);
        let all = 0..self.trace.threads.len();
        blocking.extend(all.filter(|it| {
            self.is_queued_behind(state, thread, *it) && !self.holders(state, *it).is_empty()
        }));
        blocking.sort_unstable();
        blocking.dedup();
        blocking
    }

    /// Whether a thread requests a lock for reading, and would queue there behind another thread, which is about to
    /// request it for writing.
    pub fn is_queued_behind(&self, state: &MachineState, thread: usize, writer: usize) -> bool {
        let request = |it| {
            let Effect::Lock(LockEffect::Acquire { lock, mode, how }) = self.next(state, it) else {
                return None;
            };
            self.is_created(state, it).then_some((lock, mode, how))
        };
        let (Some((read, _, Outcome::Queued)), Some((written, LockMode::Write, Outcome::Waited))) =
            (request(thread), request(writer))
        else {
            return false;
        };
        thread != writer && read == written
    }

    /// The threads that hold the lock that a thread's next event requests, so that it has to wait.
    fn holders(&self, state: &MachineState, thread: usize) -> Vec<usize> {
        let Effect::Lock(LockEffect::Acquire { lock, mode, .. }) = self.next(state, thread) else {
            return Vec::new();
        };
        if !self.is_created(state, thread) {
            return Vec::new();
        }
        let shared = mode == LockMode::Read;
        let holds = state.holds.get(&lock).into_iter().flatten();
        let others = holds.filter(|(it, (_, shares))| **it != thread && !(shared && *shares));
        others.map(|it| *it.0).collect()
    }

    /// Whether a thread's next event failed in the recorded run to acquire something that is
    /// available now.
    pub fn would_succeed(&self, state: &MachineState, thread: usize) -> bool {
        let effect = self.next(state, thread);
        if let Effect::Lock(LockEffect::Failed { lock, mode, .. }) = effect {
            return state.clone().acquire(lock, thread, mode == LockMode::Read);
        }
        if let Effect::Semaphore(SemaphoreEffect::Failed { semaphore }) = effect {
            let count = state.counts.get(&semaphore).copied().unwrap_or(0);
            return count + self.initial.get(&semaphore).copied().unwrap_or(0) > 0;
        }
        false
    }

    /// The effect of a thread's next event; none at its end.
    fn next(&self, state: &MachineState, thread: usize) -> Effect {
        let event = self.trace.threads[thread].events.get(state.cuts[thread]);
        event.map_or(Effect::None, |it| it.op.effect())
    }

    fn is_created(&self, state: &MachineState, thread: usize) -> bool {
        let id = self.trace.threads[thread].id;
        let fork = Effect::Thread(ThreadEffect::Fork(id));
        let forks = |(at, it): (usize, &norn_model::Thread)| {
            it.events[..state.cuts[at]].iter().any(|it| it.op.effect() == fork)
        };
        !self.forked.contains(&id) || self.trace.threads.iter().enumerate().any(forks)
    }

    /// The states that an effect can result in.
    fn successors(&self, state: &MachineState, thread: usize, effect: Effect) -> Vec<MachineState> {
        if let Effect::Condition(ConditionEffect::Signal { cond, all: false }) = effect {
            return signal(state, cond);
        }
        let mut next = state.clone();
        let at = (thread, state.cuts[thread]);
        let has = |(other, at): &(usize, usize)| state.cuts[*other] > *at;
        let possible = match effect {
            Effect::Thread(ThreadEffect::Join(other)) => {
                let other = self.number(other);
                state.cuts.get(other).is_none_or(|it| *it == self.trace.threads[other].events.len())
            }
            Effect::Lock(LockEffect::Acquire { lock, mode, .. }) => {
                next.acquire(lock, thread, mode == LockMode::Read)
            }
            Effect::Lock(LockEffect::Release { lock, .. }) => next.release(lock, thread),
            Effect::Condition(effect) => next.condition(thread, effect),
            Effect::Barrier(effect) => self.barrier(&mut next, thread, effect),
            Effect::Semaphore(effect) => self.semaphore(&mut next, effect),
            Effect::Once(effect) => next.once(effect),
            Effect::Annotation(AnnotationEffect::HappensAfter { .. }) => {
                self.announced.get(&at).is_none_or(|it| it.iter().all(has))
            }
            Effect::Channel(ChannelEffect::Receive { .. }) => {
                self.sources.get(&at).is_none_or(|it| it.iter().all(has))
            }
            Effect::Block(BlockEffect::Freed { .. }) => self.allocations.get(&at).is_none_or(has),
            Effect::None
            | Effect::Access(_)
            | Effect::Thread(ThreadEffect::Fork(_))
            | Effect::Lock(LockEffect::Failed { .. })
            | Effect::Annotation(AnnotationEffect::HappensBefore { .. })
            | Effect::Channel(ChannelEffect::Send { .. })
            | Effect::Block(BlockEffect::Allocated { .. })
            | Effect::Object(_) => true,
        };
        if possible { vec![next] } else { Vec::new() }
    }

    fn barrier(&self, next: &mut MachineState, thread: usize, effect: BarrierEffect) -> bool {
        let size = |barrier| self.sizes.get(&barrier).copied().unwrap_or(1).max(1);
        match effect {
            BarrierEffect::Init { .. } => true,
            BarrierEffect::Arrive { barrier } => {
                let arrived = next.arrived.entry(barrier).or_default();
                next.rounds.insert((barrier, thread), *arrived / size(barrier));
                *arrived += 1;
                true
            }
            BarrierEffect::Leave { barrier } => {
                let round = next.rounds.remove(&(barrier, thread));
                let arrived = next.arrived.get(&barrier).copied().unwrap_or(0);
                round.is_some_and(|it| arrived >= (it + 1) * size(barrier))
            }
        }
    }

    fn semaphore(&self, next: &mut MachineState, effect: SemaphoreEffect) -> bool {
        match effect {
            SemaphoreEffect::Init { .. } | SemaphoreEffect::Failed { .. } => true,
            SemaphoreEffect::Post { semaphore } => {
                *next.counts.entry(semaphore).or_default() += 1;
                true
            }
            SemaphoreEffect::Wait { semaphore, .. } => {
                let count = next.counts.entry(semaphore).or_default();
                *count -= 1;
                *count + self.initial.get(&semaphore).copied().unwrap_or(0) >= 0
            }
        }
    }
}

/// A signal wakes any one of the threads that wait, and is lost if there is none.
fn signal(state: &MachineState, cond: u64) -> Vec<MachineState> {
    let waiting = state.waiting.get(&cond).cloned().unwrap_or_default();
    if waiting.is_empty() {
        return vec![state.clone()];
    }
    let wake = |thread: usize| {
        let mut next = state.clone();
        next.waiting.entry(cond).or_default().remove(&thread);
        next.woken.insert(thread);
        next
    };
    waiting.into_iter().map(wake).collect()
}

impl MachineState {
    fn condition(&mut self, thread: usize, effect: ConditionEffect) -> bool {
        match effect {
            ConditionEffect::Wait { cond, .. } => {
                self.waiting.entry(cond).or_default().insert(thread)
            }
            ConditionEffect::Wake { cond, lock, woken } => {
                let needs_signal = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
                let woken = self.woken.remove(&thread);
                self.waiting.entry(cond).or_default().remove(&thread);
                (woken || !needs_signal) && self.acquire(lock, thread, false)
            }
            // A broadcast; `successors` takes care of signals to one thread.
            ConditionEffect::Signal { cond, .. } => {
                let all = self.waiting.remove(&cond).unwrap_or_default();
                self.woken.extend(all);
                true
            }
        }
    }

    fn once(&mut self, effect: OnceEffect) -> bool {
        match effect {
            OnceEffect::Begin { once } => self.once.insert(once, false).is_none(),
            OnceEffect::End { once, done: true } => self.once.insert(once, true) == Some(false),
            OnceEffect::End { once, done: false } => self.once.remove(&once) == Some(false),
            OnceEffect::Done { once } => self.once.get(&once) == Some(&true),
        }
    }

    fn acquire(&mut self, lock: u64, thread: usize, shared: bool) -> bool {
        let holders = self.holds.entry(lock).or_default();
        let others = holders.iter().filter(|(it, _)| **it != thread);
        if others.into_iter().any(|(_, (_, theirs))| !(shared && *theirs)) {
            return false;
        }
        let mine = holders.entry(thread).or_insert((0, shared));
        mine.0 += 1;
        true
    }

    fn release(&mut self, lock: u64, thread: usize) -> bool {
        let holders = self.holds.entry(lock).or_default();
        let Some(mine) = holders.get_mut(&thread) else { return false };
        mine.0 -= 1;
        if mine.0 == 0 {
            holders.remove(&thread);
        }
        true
    }
}
