//! A run in which some stretches of threads also hold a lock, reduced to its synchronisation.
//!
//! Only the events that order threads are kept, and those of the candidate. Accesses to memory and their values are
//! left out: what is impossible in the reduced run is impossible whatever the threads read, as long as they take the
//! same path. The threads of the recorded run may have been in two of the stretches at once. Then the later one
//! waits, and with it everything that depends on it, so that the result is a run that could have been recorded.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use norn_model::{
    Access, Candidate, Effect, Event, EventId, LockEffect, LockMode, Op, Order, Outcome,
    SemaphoreEffect, Site, SiteId, Step, Thread, ThreadEffect, ThreadId, Trace, WokenBy,
};

use super::section::Stretch;

/// A stretch of a thread, and the lock that it holds there.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) stretch: Stretch,
    pub(super) lock: u64,
    pub(super) mode: LockMode,
}

/// A reduced run with added lock operations.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) trace: Trace,
    /// The candidate, with the numbers that its events have now.
    pub(super) candidate: Candidate,
    /// The acquisitions that were added.
    pub(super) added: BTreeSet<EventId>,
    /// The recorded acquisitions that the added ones replace.
    pub(super) replaced: Vec<EventId>,
}

/// Adds the holds. `None` if the threads of the recorded run could not get past them in this way.
pub(super) fn rewrite(trace: &Trace, candidate: &Candidate, holds: &[Hold]) -> Option<Rewritten> {
    let mut order = Reordering::default();
    let mut replaced = Vec::new();
    let steps: BTreeMap<_, _> = candidate.steps.iter().map(|it| (it.event, it)).collect();
    let mut ahead: BTreeMap<_, _> =
        trace.threads.iter().map(|it| (it.id, Ahead::new(it.id, holds))).collect();
    for (number, event) in trace.merged().enumerate() {
        let at = usize::try_from(event.id.index).ok()?;
        let mut add = |op, event: &Event, old| {
            order.add(Item { op, site: event.site, event: *event, number, old })
        };
        let here = ahead.get_mut(&event.id.thread).map(|it| it.at(at)).unwrap_or_default();
        for it in here.iter().filter(|it| *it.stretch.events.start() == at) {
            add(Op::Acquire { lock: it.lock, mode: it.mode, how: Outcome::Waited }, &event, None)?;
        }
        let effect = event.op.effect();
        if here.iter().any(|it| is_replaced(effect, it.lock)) {
            let acquires = matches!(effect, Effect::Lock(LockEffect::Acquire { .. }));
            replaced.extend(acquires.then_some(event.id));
        } else if let Some(op) = kept(&event, steps.get(&event.id).copied()) {
            add(op, &event, Some(event.id))?;
        }
        for it in here.iter().filter(|it| *it.stretch.events.end() == at) {
            add(Op::Release { lock: it.lock, mode: it.mode }, &event, None)?;
        }
    }
    order.finish(trace, candidate, replaced)
}

/// The holds of one thread, as its events pass by.
struct Ahead<'a> {
    /// Those that are still to come, the next one last.
    left: Vec<&'a Hold>,
    now: Vec<&'a Hold>,
}

impl<'a> Ahead<'a> {
    fn new(thread: ThreadId, holds: &'a [Hold]) -> Self {
        let mut left: Vec<_> = holds.iter().filter(|it| it.stretch.thread == thread).collect();
        left.sort_by_key(|it| std::cmp::Reverse(*it.stretch.events.start()));
        Ahead { left, now: Vec::new() }
    }

    /// The holds that an event is in. Events come in their order.
    fn at(&mut self, at: usize) -> Vec<&'a Hold> {
        self.now.retain(|it| *it.stretch.events.end() >= at);
        while let Some(next) = self.left.pop_if(|it| *it.stretch.events.start() <= at) {
            self.now.push(next);
        }
        self.now.clone()
    }
}

/// Whether an operation on a lock is left out in a stretch that holds the lock anyway. A wait still releases it,
/// and acquires it again.
fn is_replaced(effect: Effect, held: u64) -> bool {
    let Effect::Lock(effect) = effect else { return false };
    match effect {
        LockEffect::Acquire { lock, .. } | LockEffect::Failed { lock, .. } => lock == held,
        LockEffect::Release { lock, by_wait } => lock == held && !by_wait,
    }
}

/// An operation as the reduced run has it, if it does.
fn kept(event: &Event, step: Option<&Step>) -> Option<Op> {
    if let Some(step) = step {
        let access = event.op.access()?;
        let (addr, size, value, volatile) = (access.addr, access.size, None, false);
        return Some(match step.access {
            Access::Read => Op::Read { addr, size, value, volatile },
            _ => Op::Write { addr, size, value, volatile },
        });
    }
    let effect = event.op.effect();
    let orders = match effect {
        Effect::Thread(_)
        | Effect::Lock(_)
        | Effect::Condition(_)
        | Effect::Barrier(_)
        | Effect::Semaphore(_)
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_) => true,
        Effect::None => {
            let handler = matches!(event.op, Op::HandlerBegin { .. } | Op::HandlerEnd);
            handler || matches!(event.op, Op::Begin { .. } | Op::End)
        }
        Effect::Access(_) | Effect::Block(_) | Effect::Object(_) => false,
    };
    let orders = orders && !fails(effect);
    orders.then_some(event.op)
}

/// Whether it is an attempt that failed. Whether one fails depends on the order, which is not the recorded one.
fn fails(effect: Effect) -> bool {
    let lock = matches!(effect, Effect::Lock(LockEffect::Failed { .. }));
    lock || matches!(effect, Effect::Semaphore(SemaphoreEffect::Failed { .. }))
}

/// Maximum number of events that wait at a time. If there are more, the runs have little in common.
const MOST_WAITING: usize = 4_096;

/// An event of the reduced run.
#[derive(Clone, Copy, Debug)]
struct Item {
    op: Op,
    site: SiteId,
    /// The recorded event that it is, or next to which it was added.
    event: Event,
    /// Its place in the recorded order.
    number: usize,
    /// The recorded event that it is, if it is one.
    old: Option<EventId>,
}

/// The events so far, in an order in which no lock is held twice.
#[derive(Debug, Default)]
struct Reordering {
    done: Vec<Item>,
    waiting: BTreeMap<ThreadId, VecDeque<Item>>,
    /// By lock: the threads that hold it, and how often; the mode of the last acquisition.
    holders: BTreeMap<u64, BTreeMap<ThreadId, (u32, LockMode)>>,
}

impl Reordering {
    fn add(&mut self, item: Item) -> Option<()> {
        self.waiting.entry(item.event.id.thread).or_default().push_back(item);
        while self.advance() {}
        let waiting = self.waiting.values().map(VecDeque::len).sum::<usize>();
        (waiting <= MOST_WAITING).then_some(())
    }

    /// Lets one waiting thread execute its next event, if there is one that can.
    fn advance(&mut self) -> bool {
        let threads: Vec<_> = self.waiting.keys().copied().collect();
        for thread in threads {
            let Some(&item) = self.waiting.get(&thread).and_then(VecDeque::front) else { continue };
            if !self.can(thread, &item) {
                continue;
            }
            self.waiting.get_mut(&thread).and_then(VecDeque::pop_front);
            self.waiting.retain(|_, it| !it.is_empty());
            self.apply(thread, &item.op);
            self.done.push(item);
            return true;
        }
        false
    }

    fn can(&self, thread: ThreadId, item: &Item) -> bool {
        if let Some(LockEffect::Acquire { lock, mode, .. }) = item.op.effect().lock() {
            let mut others = self.holders.get(&lock).into_iter().flatten();
            let excludes = |held: LockMode| mode != LockMode::Read || held != LockMode::Read;
            if others.any(|(holder, (_, held))| *holder != thread && excludes(*held)) {
                return false;
            }
        }
        let others = self.waiting.iter().filter(|it| *it.0 != thread);
        let mut earlier = others
            .flat_map(|(other, items)| items.iter().map(move |it| (*other, it)))
            .filter(|(_, it)| it.number < item.number);
        !earlier.any(|(other, it)| depends((thread, &item.op), (other, &it.op)))
    }

    fn apply(&mut self, thread: ThreadId, op: &Op) {
        match op.effect().lock() {
            Some(LockEffect::Acquire { lock, mode, .. }) => {
                let held = self.holders.entry(lock).or_default().entry(thread);
                let held = held.or_insert((0, mode));
                *held = (held.0 + 1, mode);
            }
            Some(LockEffect::Release { lock, .. }) => {
                let Some(holders) = self.holders.get_mut(&lock) else { return };
                let Some(held) = holders.get_mut(&thread) else { return };
                held.0 -= 1;
                if held.0 == 0 {
                    holders.remove(&thread);
                }
            }
            Some(LockEffect::Failed { .. }) | None => {}
        }
    }

    fn finish(
        self,
        trace: &Trace,
        candidate: &Candidate,
        replaced: Vec<EventId>,
    ) -> Option<Rewritten> {
        if !self.waiting.is_empty() {
            return None;
        }
        let empty = |it: &Thread| Thread { events: Vec::new(), after: 0, ..it.clone() };
        let mut threads: Vec<_> = trace.threads.iter().map(empty).collect();
        let (mut ids, mut added) = (BTreeMap::new(), BTreeSet::new());
        let mut sites = trace.sites.clone();
        let known = self.done.iter().map(|it| it.site.0 as usize + 1).max().unwrap_or(0);
        sites.resize(sites.len().max(known), Site::default());
        // One place for each added operation, so that it is not mistaken for a recorded one.
        let mut places: BTreeMap<(SiteId, bool), SiteId> = BTreeMap::new();
        for (seq, item) in (1..).zip(&self.done) {
            let at = threads.binary_search_by_key(&item.event.id.thread, |it| it.id).ok()?;
            let events = &mut threads[at].events;
            let id = EventId { thread: item.event.id.thread, index: events.len() as u64 };
            let mut site = item.site;
            if let Some(old) = item.old {
                ids.insert(old, id);
            } else {
                let acquires = matches!(item.op, Op::Acquire { .. });
                added.extend(acquires.then_some(id));
                site = *places.entry((site, acquires)).or_insert_with(|| {
                    sites.push(Site::default());
                    SiteId(u32::try_from(sites.len() - 1).unwrap_or(u32::MAX))
                });
            }
            events.push(Event { id, op: item.op, site, stack: item.event.stack, seq: Some(seq) });
        }
        for event in threads.iter_mut().flat_map(|it| &mut it.events) {
            if let Op::WaitAcquire { woken, .. } = &mut event.op
                && let WokenBy::Event(old) = *woken
            {
                *woken = ids.get(&old).map_or(WokenBy::Nothing, |it| WokenBy::Event(*it));
            }
        }
        let step = |it: &Step| {
            let event = *ids.get(&it.event)?;
            Some(Step { event, region: (event.index, event.index), ..*it })
        };
        let steps = candidate.steps.iter().map(step).collect::<Option<_>>()?;
        let candidate = Candidate { steps, ..candidate.clone() };
        let trace = Trace { order: Order::Global, threads, sites, ..trace.clone() };
        Some(Rewritten { trace, candidate, added, replaced })
    }
}

/// Whether an operation must stay after an earlier one of another thread.
fn depends((thread, op): (ThreadId, &Op), (other, earlier): (ThreadId, &Op)) -> bool {
    let created = *earlier == Op::Fork(thread);
    let joins = op.effect() == Effect::Thread(ThreadEffect::Join(other));
    // Threads may acquire a lock in another order; everything else that they share stays in order.
    let lock = |op: &Op| matches!(op.effect(), Effect::Lock(_));
    let shared = !(lock(op) && lock(earlier));
    let shares = || op.effect().objects().any(|it| earlier.effect().objects().any(|o| o == it));
    created || joins || shared && shares()
}
