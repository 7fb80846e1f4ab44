//! Writes the script of a trace, going through it once.

use std::collections::BTreeSet;

use norn_model::{EventId, LockMode, Object, Op, Outcome, ThreadId, Trace, WokenBy, mutexes};
use rustc_hash::FxHashMap;

use crate::script::{Act, At, Beat, Part, Script};

/// Numbers for objects.
#[derive(Default)]
struct Numbers(FxHashMap<u64, u32>);

impl Numbers {
    fn of(&mut self, object: u64) -> u32 {
        let next = narrow(self.0.len());
        *self.0.entry(object).or_insert(next)
    }
}

/// A lock that a thread holds: which, how often, and the beat that took it.
struct Hold {
    lock: u32,
    depth: u32,
    beat: usize,
}

/// Writes a script, event by event.
pub(crate) struct Writer<'a> {
    trace: &'a Trace,
    script: Script,
    /// Semaphores that are used as such.
    mutexes: BTreeSet<u64>,
    locks: Numbers,
    conds: Numbers,
    semaphores: Numbers,
    held: Vec<Vec<Hold>>,
    /// Where a thread began to wait, and whether for some time only.
    waits: Vec<Option<(At, bool)>>,
    counts: Vec<i64>,
    known: Vec<bool>,
    /// Barriers: who is in the open round, and the rounds that threads are in.
    arrived: FxHashMap<u64, (Vec<At>, bool)>,
    rounds: FxHashMap<(u64, u32), Vec<At>>,
    once: FxHashMap<u64, At>,
    announced: FxHashMap<u64, Vec<At>>,
    /// Where memory was given out.
    blocks: FxHashMap<u64, At>,
}

fn narrow(it: usize) -> u32 {
    u32::try_from(it).unwrap_or(u32::MAX)
}

impl<'a> Writer<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let part =
            |it: &norn_model::Thread| Part { len: narrow(it.events.len()), ..Part::default() };
        let parts: Vec<_> = trace.threads.iter().map(part).collect();
        Writer {
            trace,
            held: parts.iter().map(|_| Vec::new()).collect(),
            waits: vec![None; parts.len()],
            script: Script {
                parts,
                runs: Vec::new(),
                needs: Vec::new(),
                signals: Vec::new(),
                posts: Vec::new(),
                ended: FxHashMap::default(),
                firsts: Vec::new(),
                locks: 0,
            },
            mutexes: mutexes(
                trace.threads.iter().flat_map(|it| &it.events).map(|it| (it.id.thread, &it.op)),
            ),
            locks: Numbers::default(),
            conds: Numbers::default(),
            semaphores: Numbers::default(),
            counts: Vec::new(),
            known: Vec::new(),
            arrived: FxHashMap::default(),
            rounds: FxHashMap::default(),
            once: FxHashMap::default(),
            announced: FxHashMap::default(),
            blocks: FxHashMap::default(),
        }
    }

    fn number(&self, id: ThreadId) -> Option<u32> {
        self.trace.threads.binary_search_by_key(&id, |it| it.id).ok().map(narrow)
    }

    fn place(&self, id: EventId) -> Option<At> {
        Some((self.number(id.thread)?, u32::try_from(id.index).ok()?))
    }

    pub(crate) fn event(&mut self, id: EventId, op: &Op) {
        let Some(at) = self.place(id) else { return };
        match self.script.runs.last_mut() {
            Some(run) if run.0 == at.0 => run.1 = at.1 + 1,
            _ => self.script.runs.push((at.0, at.1 + 1)),
        }
        if !matches!(op, Op::Read { .. } | Op::Write { .. } | Op::Atomic { .. }) {
            self.beat(at, op);
        }
    }

    fn push(&mut self, (thread, index): At, act: Act) {
        self.script.parts[thread as usize].beats.push(Beat { index, act });
    }

    fn beat(&mut self, at: At, op: &Op) {
        match *op {
            Op::Fork(child) => {
                if let Some(child) = self.number(child) {
                    self.script.parts[child as usize].fork = Some(at);
                }
            }
            Op::Join(child) => {
                if let Some(thread) = self.number(child) {
                    self.push(at, Act::Join { thread });
                }
            }
            Op::Acquire { lock, mode, how } => {
                let (lock, shared) = (self.locks.of(lock), mode == LockMode::Read);
                self.take(at, lock);
                let timed = how == Outcome::Timed;
                self.push(at, Act::Take { lock, shared, until: None, timed });
            }
            Op::Release { lock, .. } | Op::WaitRelease { lock } => {
                let lock = self.locks.of(lock);
                self.push(at, Act::Give { lock });
                self.give(at, lock);
            }
            Op::SemWait { semaphore, timed } if self.mutexes.contains(&semaphore) => {
                let lock = self.locks.of(semaphore);
                self.take(at, lock);
                self.push(at, Act::Take { lock, shared: false, until: None, timed });
            }
            Op::SemPost { semaphore } if self.mutexes.contains(&semaphore) => {
                let lock = self.locks.of(semaphore);
                self.push(at, Act::Give { lock });
                self.give(at, lock);
            }
            Op::Wait { cond, timed, .. } => {
                self.conds.of(cond);
                self.waits[at.0 as usize] = Some((at, timed));
                self.push(at, Act::Wait);
            }
            Op::WaitAcquire { cond, lock, woken } => self.wake(at, cond, lock, woken),
            Op::Signal { cond } => self.signal(at, cond, false),
            Op::Broadcast { cond } => self.signal(at, cond, true),
            _ => self.meeting(at, op),
        }
    }

    fn meeting(&mut self, at: At, op: &Op) {
        match *op {
            Op::BarrierEnter { barrier } => {
                let (round, over) = self.arrived.entry(barrier).or_default();
                if std::mem::take(over) {
                    round.clear();
                }
                round.push(at);
            }
            Op::BarrierLeave { barrier, .. } => self.leave(at, barrier),
            Op::SemPost { semaphore } => {
                let semaphore = self.semaphore(semaphore);
                self.counts[semaphore as usize] += 1;
                self.script.posts[semaphore as usize].push(at);
                self.push(at, Act::Post { semaphore });
            }
            Op::SemWait { semaphore, timed } => {
                let semaphore = self.semaphore(semaphore);
                self.down(semaphore as usize);
                self.push(at, Act::Down { semaphore, timed });
            }
            Op::Init { object, class: Object::Semaphore, detail } => {
                let semaphore = self.semaphore(object) as usize;
                self.script.firsts[semaphore] = i64::try_from(detail).unwrap_or(i64::MAX);
                self.known[semaphore] = true;
            }
            Op::OnceEnd { once, done: true } => {
                self.once.insert(once, at);
            }
            Op::OnceDone { once } => {
                let end = self.once.get(&once).copied();
                self.needs(at, end.into_iter().collect());
            }
            Op::HappensBefore { object } => self.announced.entry(object).or_default().push(at),
            Op::HappensAfter { object } => {
                let before = self.announced.get(&object).cloned().unwrap_or_default();
                self.needs(at, before);
            }
            Op::Alloc { addr, .. } | Op::Map { addr, .. } => {
                self.blocks.insert(addr, at);
            }
            Op::Free { addr } | Op::Unmap { addr, .. } => {
                let given = self.blocks.get(&addr).copied().filter(|it| it.0 != at.0);
                self.needs(at, given.into_iter().collect());
            }
            _ => {}
        }
    }

    fn needs(&mut self, at: At, events: Vec<At>) {
        if events.is_empty() {
            return;
        }
        let from = narrow(self.script.needs.len());
        self.script.needs.extend(events);
        let to = narrow(self.script.needs.len());
        self.push(at, Act::Needs { from, to });
    }

    fn take(&mut self, (thread, index): At, lock: u32) {
        let part = &mut self.script.parts[thread as usize];
        let held = &mut self.held[thread as usize];
        if held.is_empty() {
            part.sections.push((index, u32::MAX));
        }
        match held.iter_mut().find(|it| it.lock == lock) {
            Some(hold) => hold.depth += 1,
            None => held.push(Hold { lock, depth: 1, beat: part.beats.len() }),
        }
    }

    fn give(&mut self, (thread, index): At, lock: u32) {
        let held = &mut self.held[thread as usize];
        let Some(at) = held.iter().position(|it| it.lock == lock) else { return };
        held[at].depth -= 1;
        if held[at].depth > 0 {
            return;
        }
        let hold = held.remove(at);
        let part = &mut self.script.parts[thread as usize];
        match &mut part.beats[hold.beat].act {
            Act::Take { until, .. } | Act::Wake { until, .. } => *until = Some(index),
            _ => {}
        }
        if self.held[thread as usize].is_empty()
            && let Some(section) = part.sections.last_mut()
        {
            section.1 = index;
        }
    }

    fn wake(&mut self, at: At, cond: u64, lock: u64, woken: WokenBy) {
        let (cond, lock) = (self.conds.of(cond), self.locks.of(lock));
        let by = match woken {
            WokenBy::Event(signal) => self.place(signal),
            WokenBy::OneOf(_) | WokenBy::Nothing | WokenBy::Timeout | WokenBy::Error(_) => None,
        };
        let woken = matches!(woken, WokenBy::Event(_) | WokenBy::OneOf(_));
        let wait = self.waits[at.0 as usize].take();
        let timed = wait.is_some_and(|it| it.1);
        if let (Some(signal), Some((wait, _))) = (by, wait) {
            self.script.ended.entry(signal).or_default().push(wait);
        }
        self.take(at, lock);
        self.push(at, Act::Wake { cond, by, woken, lock, until: None, timed });
    }

    fn signal(&mut self, at: At, cond: u64, all: bool) {
        let cond = self.conds.of(cond);
        let signals = &mut self.script.signals;
        signals.resize(signals.len().max(cond as usize + 1), Vec::new());
        signals[cond as usize].push(at);
        self.push(at, Act::Signal { cond, all });
    }

    fn leave(&mut self, at: At, barrier: u64) {
        let (round, over) = self.arrived.entry(barrier).or_default();
        if !*over && round.iter().any(|it| it.0 == at.0) {
            // The first to leave closes the round, and takes down who else is in it.
            *over = true;
            let round = round.clone();
            for it in &round {
                self.rounds.insert((barrier, it.0), round.clone());
            }
        }
        let round = self.rounds.remove(&(barrier, at.0)).unwrap_or_default();
        self.needs(at, round);
    }

    fn semaphore(&mut self, object: u64) -> u32 {
        let number = self.semaphores.of(object);
        let len = self.counts.len().max(number as usize + 1);
        self.counts.resize(len, 0);
        self.known.resize(len, false);
        self.script.firsts.resize(len, 0);
        self.script.posts.resize(len, Vec::new());
        number
    }

    /// A semaphore of which the beginning was not seen must have begun high enough.
    fn down(&mut self, semaphore: usize) {
        self.counts[semaphore] -= 1;
        if !self.known[semaphore] {
            let first = &mut self.script.firsts[semaphore];
            *first = (*first).max(-self.counts[semaphore]);
        }
    }

    pub(crate) fn finish(mut self) -> Script {
        self.script.locks = self.locks.0.len();
        let conds = self.conds.0.len();
        self.script.signals.resize(conds, Vec::new());
        self.script
    }
}
