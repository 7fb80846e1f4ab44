//! What can happen next: the rules of threads, locks and the rest, spelled out one by one.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{LockMode, Object, Op, ThreadId, Trace, WokenBy};

/// The rules, for one trace.
#[derive(Debug)]
pub struct Machine<'a> {
    trace: &'a Trace,
    forked: BTreeSet<ThreadId>,
    /// How many threads meet at a barrier.
    sizes: BTreeMap<u64, usize>,
    /// With what semaphores begin.
    firsts: BTreeMap<u64, i64>,
    /// Which announcements an event needs, by thread and index.
    announced: BTreeMap<(usize, usize), Vec<(usize, usize)>>,
    /// Where memory that an event gives back was given out.
    given: BTreeMap<(usize, usize), (usize, usize)>,
}

/// What has happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    /// How many events of each thread have been.
    pub cuts: Vec<usize>,
    /// By lock: who holds it, how often, and whether it shares it.
    holds: BTreeMap<u64, BTreeMap<usize, (u32, bool)>>,
    /// By condition: who waits.
    waiting: BTreeMap<u64, BTreeSet<usize>>,
    woken: BTreeSet<usize>,
    /// By barrier: how many have arrived, and in which round each thread is.
    arrived: BTreeMap<u64, usize>,
    rounds: BTreeMap<(u64, usize), usize>,
    counts: BTreeMap<u64, i64>,
    /// By object: whether its initialisation is done, or still going on.
    once: BTreeMap<u64, bool>,
}

impl<'a> Machine<'a> {
    /// Learns what the rules need to know of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        let mut machine = Machine {
            trace,
            forked: BTreeSet::new(),
            sizes: BTreeMap::new(),
            firsts: BTreeMap::new(),
            announced: BTreeMap::new(),
            given: BTreeMap::new(),
        };
        machine.learn();
        machine
    }

    fn learn(&mut self) {
        let mut arrived: BTreeMap<u64, usize> = BTreeMap::new();
        let mut counts: BTreeMap<u64, i64> = BTreeMap::new();
        let mut known = BTreeSet::new();
        let mut announced: BTreeMap<u64, Vec<_>> = BTreeMap::new();
        let mut given = BTreeMap::new();
        for event in self.trace.merged() {
            let at = (self.number(event.id.thread), usize::try_from(event.id.index).unwrap_or(0));
            match event.op {
                Op::Fork(child) => {
                    self.forked.insert(child);
                }
                Op::Init { object, class: Object::Barrier, detail } => {
                    self.sizes.insert(object, usize::try_from(detail).unwrap_or(0));
                }
                Op::Init { object, class: Object::Semaphore, detail } => {
                    self.firsts.insert(object, i64::try_from(detail).unwrap_or(0));
                    known.insert(object);
                }
                Op::BarrierEnter { barrier } => *arrived.entry(barrier).or_default() += 1,
                Op::BarrierLeave { barrier, .. } => {
                    let size = arrived.get(&barrier).copied().unwrap_or(0);
                    self.sizes.entry(barrier).or_insert(size);
                }
                Op::SemPost { semaphore } => *counts.entry(semaphore).or_default() += 1,
                Op::SemWait { semaphore, .. } => {
                    let count = counts.entry(semaphore).or_default();
                    *count -= 1;
                    let first = self.firsts.entry(semaphore).or_default();
                    if !known.contains(&semaphore) {
                        *first = (*first).max(-*count);
                    }
                }
                Op::HappensBefore { object } => announced.entry(object).or_default().push(at),
                Op::HappensAfter { object } => {
                    let before = announced.get(&object).cloned().unwrap_or_default();
                    self.announced.insert(at, before);
                }
                Op::Alloc { addr, .. } | Op::Map { addr, .. } => {
                    given.insert(addr, at);
                }
                Op::Free { addr } | Op::Unmap { addr, .. } => {
                    self.given.extend(given.get(&addr).map(|it| (at, *it)));
                }
                _ => {}
            }
        }
    }

    fn number(&self, id: ThreadId) -> usize {
        self.trace.threads.iter().position(|it| it.id == id).unwrap_or(usize::MAX)
    }

    /// Before anything.
    pub fn start(&self) -> State {
        State { cuts: vec![0; self.trace.threads.len()], ..State::default() }
    }

    /// All that a thread's next event can lead to; nothing if it cannot happen now.
    pub fn step(&self, state: &State, thread: usize) -> Vec<State> {
        let Some(event) = self.trace.threads[thread].events.get(state.cuts[thread]) else {
            return Vec::new();
        };
        if state.cuts[thread] == 0 && !self.is_born(state, thread) {
            return Vec::new();
        }
        let mut next = self.effects(state, thread, &event.op);
        for it in &mut next {
            it.cuts[thread] += 1;
        }
        next
    }

    /// Who holds the lock that a thread's next event wants, so that it has to wait. Who is not there
    /// yet wants nothing.
    pub fn in_the_way(&self, state: &State, thread: usize) -> Vec<usize> {
        let event = self.trace.threads[thread].events.get(state.cuts[thread]);
        let Some(Op::Acquire { lock, mode, .. }) = event.map(|it| it.op) else { return Vec::new() };
        if !self.is_born(state, thread) {
            return Vec::new();
        }
        let shared = mode == LockMode::Read;
        let holds = state.holds.get(&lock).into_iter().flatten();
        let others = holds.filter(|(it, (_, shares))| **it != thread && !(shared && *shares));
        others.map(|it| *it.0).collect()
    }

    /// Whether a thread's next event was denied what it would get now.
    pub fn is_lucky(&self, state: &State, thread: usize) -> bool {
        match self.trace.threads[thread].events.get(state.cuts[thread]).map(|it| it.op) {
            Some(Op::AcquireFailed { lock, mode, .. }) => {
                state.clone().take(lock, thread, mode == LockMode::Read)
            }
            Some(Op::SemFailed { semaphore, .. }) => {
                let count = state.counts.get(&semaphore).copied().unwrap_or(0);
                count + self.firsts.get(&semaphore).copied().unwrap_or(0) > 0
            }
            _ => false,
        }
    }

    fn is_born(&self, state: &State, thread: usize) -> bool {
        let id = self.trace.threads[thread].id;
        let forks = |(at, it): (usize, &norn_model::Thread)| {
            it.events[..state.cuts[at]].iter().any(|it| it.op == Op::Fork(id))
        };
        !self.forked.contains(&id) || self.trace.threads.iter().enumerate().any(forks)
    }

    fn effects(&self, state: &State, thread: usize, op: &Op) -> Vec<State> {
        let mut next = state.clone();
        let fine = match *op {
            Op::Join(other) => {
                let other = self.number(other);
                state.cuts.get(other).is_none_or(|it| *it == self.trace.threads[other].events.len())
            }
            Op::Acquire { lock, mode, .. } => next.take(lock, thread, mode == LockMode::Read),
            Op::Release { lock, .. } | Op::WaitRelease { lock } => next.give(lock, thread),
            Op::Wait { cond, .. } => next.waiting.entry(cond).or_default().insert(thread),
            Op::WaitAcquire { cond, lock, woken } => {
                let needs = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
                let woken = next.woken.remove(&thread);
                next.waiting.entry(cond).or_default().remove(&thread);
                (woken || !needs) && next.take(lock, thread, false)
            }
            Op::Signal { cond } => return signal(state, cond),
            Op::Broadcast { cond } => {
                let all = next.waiting.remove(&cond).unwrap_or_default();
                next.woken.extend(all);
                true
            }
            Op::BarrierEnter { barrier } => {
                let arrived = next.arrived.entry(barrier).or_default();
                let size = self.sizes.get(&barrier).copied().unwrap_or(1).max(1);
                next.rounds.insert((barrier, thread), *arrived / size);
                *arrived += 1;
                true
            }
            Op::BarrierLeave { barrier, .. } => {
                let size = self.sizes.get(&barrier).copied().unwrap_or(1).max(1);
                let round = next.rounds.remove(&(barrier, thread));
                let arrived = next.arrived.get(&barrier).copied().unwrap_or(0);
                round.is_some_and(|it| arrived >= (it + 1) * size)
            }
            Op::SemPost { semaphore } => {
                *next.counts.entry(semaphore).or_default() += 1;
                true
            }
            Op::SemWait { semaphore, .. } => {
                let count = next.counts.entry(semaphore).or_default();
                *count -= 1;
                *count + self.firsts.get(&semaphore).copied().unwrap_or(0) >= 0
            }
            Op::OnceBegin { once } => next.once.insert(once, false).is_none(),
            Op::OnceEnd { once, done: true } => next.once.insert(once, true) == Some(false),
            Op::OnceEnd { once, done: false } => next.once.remove(&once) == Some(false),
            Op::OnceDone { once } => next.once.get(&once) == Some(&true),
            Op::HappensAfter { .. } => {
                let needed = self.announced.get(&(thread, state.cuts[thread]));
                needed.is_none_or(|it| it.iter().all(|(other, at)| state.cuts[*other] > *at))
            }
            Op::Free { .. } | Op::Unmap { .. } => {
                let given = self.given.get(&(thread, state.cuts[thread]));
                given.is_none_or(|(other, at)| state.cuts[*other] > *at)
            }
            _ => true,
        };
        if fine { vec![next] } else { Vec::new() }
    }
}

/// A signal wakes any one of those who wait.
fn signal(state: &State, cond: u64) -> Vec<State> {
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

impl State {
    fn take(&mut self, lock: u64, thread: usize, shared: bool) -> bool {
        let holders = self.holds.entry(lock).or_default();
        let others = holders.iter().filter(|(it, _)| **it != thread);
        if others.into_iter().any(|(_, (_, theirs))| !(shared && *theirs)) {
            return false;
        }
        let mine = holders.entry(thread).or_insert((0, shared));
        mine.0 += 1;
        true
    }

    fn give(&mut self, lock: u64, thread: usize) -> bool {
        let holders = self.holds.entry(lock).or_default();
        let Some(mine) = holders.get_mut(&thread) else { return false };
        mine.0 -= 1;
        if mine.0 == 0 {
            holders.remove(&thread);
        }
        true
    }
}
