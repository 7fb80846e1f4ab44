//! The synchronisation skeleton of a trace: the interaction of threads without their memory
//! accesses. The fast engine rearranges it. It is built once per trace, and has a [`SyncStep`] for
//! each event that can make a thread wait or let another one continue.

use norn_model::{Cancel, Trace};
use rustc_hash::FxHashMap;

use crate::{recorded_order::RecordedOrder, skeleton_builder::SkeletonBuilder};

/// One event that can make a thread wait or let another one continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncStep {
    /// The index of the event in its thread.
    pub(crate) index: u32,
    pub(crate) op: SyncOp,
}

/// An event: its thread, numbered from 0 in the order of the trace, and its index in the thread.
pub(crate) type EventPos = (u32, u32);

/// What a step does. Objects are numbered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SyncOp {
    /// Acquires a lock. `until` is the event that releases it, if the trace has one; `timed` says
    /// whether the request has a time limit.
    Acquire { lock: u32, shared: bool, until: Option<u32>, timed: bool },
    /// Releases a lock.
    Release { lock: u32 },
    /// Waits until a thread has ended.
    Join { thread: u32 },
    /// Begins to wait for a condition.
    Wait,
    /// A condition wait returns and acquires its mutex. `by` is the signal that ended it, if the
    /// trace knows it; `woken` is false for a wait that ended without a signal.
    Wake {
        cond: u32,
        by: Option<EventPos>,
        woken: bool,
        lock: u32,
        until: Option<u32>,
        timed: bool,
    },
    /// Wakes one thread that waits for a condition, or all of them.
    Signal { cond: u32, all: bool },
    /// Increments a semaphore.
    Post { semaphore: u32 },
    /// Decrements a semaphore.
    SemWait { semaphore: u32, timed: bool },
    /// Requires other events, a range of [`SyncSkeleton::required`].
    Requires { from: u32, to: u32, timed: bool },
}

/// The synchronisation of one thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadSkeleton {
    pub(crate) steps: Vec<SyncStep>,
    /// The first and last events of the outermost critical sections.
    pub(crate) sections: Vec<(u32, u32)>,
    /// The event that creates the thread.
    pub(crate) fork: Option<EventPos>,
    /// The number of all its events.
    pub(crate) len: u32,
    /// The streams of the signal handlers that interrupt it.
    pub(crate) handlers: Vec<u32>,
    /// For such a stream: the first and the last event of each handler; `u32::MAX` for one that does
    /// not end.
    pub(crate) handled: Vec<(u32, u32)>,
}

/// Events by thread, each with its index in the thread and its rank in the recorded order.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByThread {
    threads: Vec<(u32, Vec<(u32, u32)>)>,
    len: u32,
}

impl ByThread {
    /// Adds the next event of the recorded order.
    pub(crate) fn push(&mut self, (thread, index): EventPos) {
        let event = (index, self.len);
        self.len += 1;
        match self.threads.iter_mut().find(|it| it.0 == thread) {
            Some(list) => list.1.push(event),
            None => self.threads.push((thread, vec![event])),
        }
    }

    /// The first event in the recorded order that has not happened, of other threads than this one.
    /// `done` is the number of events of each thread.
    pub(crate) fn next(&self, done: &[u32], except: u32) -> Option<EventPos> {
        let others = self.threads.iter().filter(|it| it.0 != except);
        let next = others.filter_map(|(thread, events)| {
            let at = events.partition_point(|it| it.0 < done[*thread as usize]);
            events.get(at).map(|(index, rank)| (*rank, (*thread, *index)))
        });
        next.min().map(|it| it.1)
    }
}

/// The synchronisation of all threads.
#[derive(Debug)]
pub(crate) struct SyncSkeleton {
    pub(crate) threads: Vec<ThreadSkeleton>,
    pub(crate) order: RecordedOrder,
    pub(crate) required: Vec<EventPos>,
    /// By condition, all signals; by semaphore, all posts.
    pub(crate) signals: Vec<ByThread>,
    pub(crate) posts: Vec<ByThread>,
    /// By signal, the waits that it ended in the recorded run.
    pub(crate) ended: FxHashMap<EventPos, Vec<EventPos>>,
    /// By semaphore, its initial value.
    pub(crate) semaphores: Vec<i64>,
    /// The number of locks.
    pub(crate) locks: usize,
}

impl SyncSkeleton {
    /// Collects the synchronisation, with a cut after each segment of this many events; 0 makes none.
    pub(crate) fn new(trace: &Trace, segment: usize, cancel: &Cancel) -> SyncSkeleton {
        let mut builder = SkeletonBuilder::new(trace, segment);
        for event in cancel.items(trace.merged()) {
            builder.event(event.id, &event.op);
        }
        builder.finish()
    }

    /// The last cut before all of some events, before the critical sections that a schedule may hold
    /// them back at, and at least one whole segment before. What is in between may be rearranged.
    pub(crate) fn cut_before(&self, events: &[EventPos]) -> usize {
        let before = |at: &EventPos| {
            let held = [self.outermost(*at), self.earlier(*at, 1), self.earlier(*at, 2), at.1];
            let held = held.into_iter().min().unwrap_or(0);
            self.order.cuts.partition_point(|it| it.done[at.0 as usize] <= held)
        };
        let cuts = events.iter().map(before).min().unwrap_or(0);
        cuts.saturating_sub(2)
    }

    /// The first event of the outermost critical section around an event, or the event itself.
    pub(crate) fn outermost(&self, at: EventPos) -> u32 {
        self.section(at).map_or(at.1, |it| it.0)
    }

    /// The first event of the critical section that is this many sections before the one around an
    /// event, or the event itself if there are too few.
    pub(crate) fn earlier(&self, at: EventPos, sections: usize) -> u32 {
        let all = &self.threads[at.0 as usize].sections;
        let begun = all.partition_point(|it| it.0 < self.outermost(at));
        begun.checked_sub(sections).map_or(at.1, |it| all[it].0)
    }

    /// The event that acquires the first of the locks around an event that other threads hold at
    /// their events, too; the outermost lock if they have none in common.
    pub(crate) fn common(&self, at: EventPos, others: &[EventPos]) -> u32 {
        let others = others.iter().filter(|it| it.0 != at.0);
        let wanted: Vec<_> = others.flat_map(|it| self.held(*it)).map(|it| it.0).collect();
        let mut held = self.held(at);
        held.find(|it| wanted.contains(&it.0)).map_or_else(|| self.outermost(at), |it| it.1)
    }

    /// The locks that a thread holds at an event, and the events that acquired them, in order.
    fn held(&self, at: EventPos) -> impl Iterator<Item = (u32, u32)> {
        let steps = &self.threads[at.0 as usize].steps;
        let from = steps.partition_point(|it| it.index < self.outermost(at));
        let inside = steps[from..].iter().take_while(move |it| it.index < at.1);
        inside.filter_map(move |it| match it.op {
            SyncOp::Acquire { lock, until, .. } | SyncOp::Wake { lock, until, .. } => {
                until.is_none_or(|it| it > at.1).then_some((lock, it.index))
            }
            SyncOp::Release { .. }
            | SyncOp::Join { .. }
            | SyncOp::Wait
            | SyncOp::Signal { .. }
            | SyncOp::Post { .. }
            | SyncOp::SemWait { .. }
            | SyncOp::Requires { .. } => None,
        })
    }

    /// The position of a thread when it has left the critical section around an event.
    pub(crate) fn left(&self, at: EventPos) -> u32 {
        let end = self.section(at).map_or(at.1, |it| it.1).saturating_add(1);
        end.min(self.threads[at.0 as usize].len)
    }

    fn section(&self, (thread, index): EventPos) -> Option<(u32, u32)> {
        let sections = &self.threads[thread as usize].sections;
        let begun = sections.partition_point(|it| it.0 <= index);
        let last = begun.checked_sub(1).map(|at| sections[at]);
        last.filter(|(_, end)| index <= *end)
    }
}
