//! What led to a failure, from one pass over the trace: the locks that each thread holds, its last
//! events, and the events on the objects that threads wait for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use norn_frontend::{Interrupt, Memory, Region};
use norn_model::{AtomicOp, Event, Held, LockMode, Op, ThreadId};
use norn_trace::{Blocked, Trace};

use super::signal;

/// Maximum number of events that are kept for each thread, and for all together. A library emits
/// many irrelevant events while it throws an exception or prints a message.
const RECENT: usize = 512;
/// A read-only event repeats an earlier one if there are fewer events than this in between.
const REPEAT_WINDOW: usize = 24;
/// Maximum number of events that are kept for each object; the others are only counted.
const OBJECT_EVENTS: usize = 256;

/// Number of events up to which every run is read as a whole, and number of the last events of each thread
/// that are read of a longer one that did not end. What an endless program does shows in any part of it,
/// and every run that is cut has a story.
const LONG: u64 = 1_000_000;
const LAST: u64 = 50_000;
/// Number of events between two looks at whether the user wants to stop.
const INTERVAL: usize = 4096;

/// The part of a run that its story is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoryScope {
    /// All of it.
    All,
    /// Its end.
    End,
}

impl StoryScope {
    pub(super) fn new(trace: &Trace, unfinished: bool) -> StoryScope {
        let hurried = unfinished || Interrupt::caught().is_some();
        if hurried && trace.counts().events > LONG { StoryScope::End } else { StoryScope::All }
    }

    /// Whether the user wants to stop and there is more to read than that allows: then the events end
    /// early.
    pub(super) fn is_interrupted(self, trace: &Trace) -> bool {
        self == StoryScope::All && StoryScope::new(trace, false) == StoryScope::End
    }

    /// The events, in their order.
    pub(super) fn events(self, trace: &Trace) -> Box<dyn Iterator<Item = Event> + '_> {
        match self {
            StoryScope::All => {
                let goes_on = move |it: &(usize, Event)| {
                    !it.0.is_multiple_of(INTERVAL) || !self.is_interrupted(trace)
                };
                Box::new(trace.merged().enumerate().take_while(goes_on).map(|it| it.1))
            }
            // The first event of a thread has the place of its stack.
            StoryScope::End => {
                let firsts = trace.threads().iter().filter_map(|it| trace.events(it.id).next());
                let is_begin = |it: &Event| matches!(it.op, Op::Begin { .. });
                let last = trace.merged_last(LAST).filter(move |it| !is_begin(it));
                Box::new(firsts.filter(is_begin).chain(last))
            }
        }
    }
}

/// What led to a failure.
#[derive(Default)]
pub(super) struct RunHistory {
    pub(super) threads: BTreeMap<ThreadId, ThreadHistory>,
    pub(super) objects: BTreeMap<u64, ObjectHistory>,
    /// The last events that sent or received a signal that a thread waits for, with their positions.
    pub(super) signals: VecDeque<(u64, Event)>,
    /// The last events of all threads, and how often each read-only one was repeated.
    pub(super) last: VecDeque<(Event, u64)>,
}

/// The history of one thread.
#[derive(Default)]
pub(super) struct ThreadHistory {
    pub(super) ended: bool,
    /// The position of its last event in the order of all events.
    pub(super) last: u64,
    held: Held,
    /// The events that acquired the locks that it holds.
    pub(super) taken: Vec<(u64, Event)>,
    /// Its last event, if that is a failed attempt to take a lock for writing.
    pub(super) failed_write: Option<(u64, Event)>,
    pub(super) recent: VecDeque<Event>,
}

/// The history of an object that a thread waits for.
#[derive(Default)]
pub(super) struct ObjectHistory {
    /// Its initial value.
    pub(super) detail: Option<u64>,
    /// Number of posts and waits of a semaphore.
    pub(super) posts: u64,
    pub(super) waits: u64,
    /// The last events on it, each with its position in the order of all events.
    pub(super) events: VecDeque<(u64, Event)>,
}

/// The threads that were blocked at the end.
pub(super) fn blocked(trace: &Trace) -> &[Blocked] {
    let number = trace.process();
    let process = trace.run().processes.iter().find(|it| it.number == number);
    process.map_or(&[], |it| &it.blocked)
}

impl RunHistory {
    /// Collects the history in one pass over a trace.
    pub(super) fn of(trace: &Trace, scope: StoryScope) -> (RunHistory, Memory) {
        let wanted: BTreeSet<u64> = blocked(trace).iter().map(|it| it.object).collect();
        let signals = blocked(trace).iter().filter_map(signal::awaited).fold(0, |all, it| all | it);
        let (mut history, mut memory) = (RunHistory::default(), Memory::default());
        for (order, event) in (0..).zip(scope.events(trace)) {
            memory.learn(&event);
            history.threads.entry(event.id.thread).or_default().step(order, &event);
            if signal::of(&event.op).is_some_and(|it| signal::has(signals, it.0)) {
                push(&mut history.signals, (order, event), OBJECT_EVENTS);
            }
            if let Some(object) = object(&event.op).filter(|it| wanted.contains(it)) {
                history.objects.entry(object).or_default().add(order, &event);
            }
            if is_shown(&event, &memory) {
                history.add_last(&event);
            }
        }
        (history, memory)
    }

    /// Adds an event to the last events. A repeated read-only event is only counted.
    fn add_last(&mut self, event: &Event) {
        let same =
            |it: &Event| (it.id.thread, it.site, it.op) == (event.id.thread, event.site, event.op);
        let known = is_read_only(&event.op)
            .then(|| self.last.iter_mut().rev().take(REPEAT_WINDOW).find(|it| same(&it.0)));
        match known.flatten() {
            Some((_, times)) => *times += 1,
            None => push(&mut self.last, (*event, 1), RECENT),
        }
    }
}

/// Whether an event is shown. Accesses to a thread's own stack concern no other thread, and the release
/// of the mutex is part of a wait.
fn is_shown(event: &Event, memory: &Memory) -> bool {
    match event.op {
        Op::Read { addr, .. } | Op::Write { addr, .. } => {
            !matches!(memory.region(addr), Some(Region::Stack(it)) if it.thread == event.id.thread)
        }
        Op::WaitRelease { .. } => false,
        _ => true,
    }
}

/// Whether an operation changes nothing.
fn is_read_only(op: &Op) -> bool {
    matches!(
        op,
        Op::Read { .. }
            | Op::Atomic { op: AtomicOp::Load(_) | AtomicOp::CasFailed { .. }, .. }
            | Op::AcquireFailed { .. }
            | Op::Yield
            | Op::Sleep { .. }
    )
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}

impl ThreadHistory {
    fn step(&mut self, order: u64, event: &Event) {
        self.held.step(&event.op);
        self.last = order;
        self.failed_write = match event.op {
            Op::AcquireFailed { lock, mode: LockMode::Write, .. } => Some((lock, *event)),
            _ => None,
        };
        match event.op {
            Op::End => self.ended = true,
            Op::Acquire { lock, .. } | Op::WaitAcquire { lock, .. }
                if self.held.depth(lock) == 1 =>
            {
                self.taken.push((lock, *event));
            }
            Op::Release { lock, .. } | Op::WaitRelease { lock } if self.held.depth(lock) == 0 => {
                self.taken.retain(|it| it.0 != lock);
            }
            _ => {}
        }
        push(&mut self.recent, *event, RECENT);
    }
}

impl ObjectHistory {
    fn add(&mut self, order: u64, event: &Event) {
        match event.op {
            Op::Init { detail, .. } => {
                *self = ObjectHistory { detail: Some(detail), ..ObjectHistory::default() };
            }
            Op::SemPost { .. } => self.posts += 1,
            Op::SemWait { .. } => self.waits += 1,
            _ => {}
        }
        push(&mut self.events, (order, *event), OBJECT_EVENTS);
    }
}

/// The object of an operation by which threads wait for each other.
fn object(op: &Op) -> Option<u64> {
    Some(match *op {
        Op::Signal { cond }
        | Op::Broadcast { cond }
        | Op::Wait { cond, .. }
        | Op::WaitAcquire { cond, .. } => cond,
        Op::SemPost { semaphore } | Op::SemWait { semaphore, .. } => semaphore,
        Op::BarrierEnter { barrier } | Op::BarrierLeave { barrier, .. } => barrier,
        Op::OnceBegin { once } | Op::OnceEnd { once, .. } => once,
        Op::Init { object, .. } => object,
        _ => return None,
    })
}
