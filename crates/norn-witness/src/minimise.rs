//! Makes schedules short: fewer events, fewer context switches.
//!
//! A schedule is decomposed into its events and their [dependences](Links). Then a new schedule is built
//! from the events that the candidate's last event depends on, transitively, in which each thread runs
//! as far as it can before the next one. The order of dependent events does not change, so the new
//! schedule is possible, too, and every read sees the same value.

use norn_model::{
    Cancel, Candidate, ConditionEffect, Effect, Event, EventId, Handlers, LockEffect, Trace,
};

use crate::{Turn, link::Links};

/// Makes schedules of one trace short.
#[derive(Debug)]
pub struct Minimiser<'a> {
    trace: &'a Trace,
    handlers: Handlers,
    cancel: Cancel,
}

impl<'a> Minimiser<'a> {
    /// For one trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::cancellable(trace, &Cancel::default())
    }

    /// The same, and returns something shorter that is not a schedule after a request to end.
    pub fn cancellable(trace: &'a Trace, cancel: &Cancel) -> Self {
        Minimiser { trace, handlers: Handlers::new(trace), cancel: cancel.clone() }
    }

    /// A schedule for the same candidate that is at most as long.
    pub fn minimise(&self, candidate: &Candidate, turns: &[Turn]) -> Vec<Turn> {
        self.minimise_from(&vec![0; self.trace.threads.len()], candidate, turns)
    }

    /// The same for the part of a schedule after a point at which each thread, by its number, has done
    /// some of its events. What is before that point stays as it is.
    pub(crate) fn minimise_from(
        &self,
        done: &[u32],
        candidate: &Candidate,
        turns: &[Turn],
    ) -> Vec<Turn> {
        let mut links = self.links(done, turns);
        if candidate.stuck.is_empty() {
            keep_order(&mut links, candidate);
        }
        links.place_handlers();
        let mut needed = needed(&links, candidate);
        while links.finish_handlers(&needed) {
            needed = self::needed(&links, candidate);
        }
        self.join(&links, &needed, candidate)
    }

    /// The same events with fewer context switches, from the beginning of the run.
    pub fn with_fewer_switches(&self, turns: &[Turn]) -> Vec<Turn> {
        self.rearrange(&vec![0; self.trace.threads.len()], turns)
    }

    /// The same events with fewer context switches. No event is the last one here.
    pub(crate) fn rearrange(&self, done: &[u32], turns: &[Turn]) -> Vec<Turn> {
        let mut links = self.links(done, turns);
        links.place_handlers();
        let needed = vec![true; links.events.len()];
        links.finish_handlers(&needed);
        self.run(&links, &needed, Vec::new())
    }

    fn links(&self, done: &[u32], turns: &[Turn]) -> Links<'a> {
        let mut links = Links::new(self.trace, done);
        let mut done = done.to_vec();
        for turn in turns {
            let at = self.trace.threads.binary_search_by_key(&turn.thread, |it| it.id);
            let (Ok(at), Ok(until)) = (at, u32::try_from(turn.until)) else { continue };
            let thread = u32::try_from(at).unwrap_or(u32::MAX);
            let from = done[at];
            done[at] = from.max(until);
            let events = &self.trace.threads[at].events;
            let part = events.get(from as usize..(until.max(from) as usize).min(events.len()));
            for (index, event) in (from..).zip(self.cancel.items(part.into_iter().flatten())) {
                let cond = self.awaited(event);
                links.event((thread, index), &event.op, cond, &self.handlers);
            }
        }
        links
    }

    /// The condition of the wait that releases its mutex in this event. The release is the first
    /// half of the wait: a signal must not move between the two halves.
    fn awaited(&self, event: &Event) -> Option<u64> {
        let Effect::Lock(LockEffect::Release { by_wait: true, .. }) = event.op.effect() else {
            return None;
        };
        let next = EventId { index: event.id.index + 1, ..event.id };
        let wait = self.trace.event(next)?.op.effect();
        let Effect::Condition(ConditionEffect::Wait { cond, .. }) = wait else { return None };
        Some(cond)
    }

    /// Runs each thread as far as it can before the next one. The candidate's events come last if
    /// they have to be adjacent.
    fn join(&self, links: &Links<'_>, needed: &[bool], candidate: &Candidate) -> Vec<Turn> {
        let held: Vec<_> = if candidate.adjacent {
            candidate.steps.iter().filter_map(|it| links.place(it.event)).collect()
        } else {
            Vec::new()
        };
        self.run(links, needed, held)
    }

    fn run(&self, links: &Links<'_>, needed: &[bool], held: Vec<u32>) -> Vec<Turn> {
        let mut queues: Vec<Queue> = Vec::new();
        let mut numbers = vec![usize::MAX; self.trace.threads.len()];
        for ((thread, _), at) in links.events.iter().zip(0..).filter(|it| needed[it.1 as usize]) {
            let number = &mut numbers[*thread as usize];
            if *number == usize::MAX {
                *number = queues.len();
                queues.push(Queue::default());
            }
            queues[*number].events.push(at);
        }
        let (trace, done) = (self.trace, vec![false; needed.len()]);
        let mut run = Run { trace, links, done, held, turns: Vec::new() };
        while !self.cancel.is_cancelled() && run.round(&mut queues) {}
        for at in std::mem::take(&mut run.held) {
            run.step(at);
        }
        run.turns
    }
}

/// The candidate's events stay in their order.
fn keep_order(links: &mut Links<'_>, candidate: &Candidate) {
    let places = candidate.steps.iter().filter_map(|it| links.place(it.event));
    let places: Vec<_> = places.collect();
    for pair in places.windows(2) {
        links.depend(pair[1], pair[0]);
    }
}

/// The events that the last one depends on, including itself; for a deadlock, those that the last
/// events of the stuck threads and the candidate's steps depend on.
fn needed(links: &Links<'_>, candidate: &Candidate) -> Vec<bool> {
    let mut needed = vec![false; links.events.len()];
    if let Some(last) = needed.last_mut() {
        *last = candidate.stuck.is_empty();
    }
    let last = candidate.stuck.iter().filter_map(|it| links.last(it.event.thread));
    let steps = candidate.steps.iter().filter_map(|it| links.place(it.event));
    for at in last.chain(steps) {
        needed[at as usize] = true;
    }
    for at in (0..needed.len()).rev() {
        if needed[at] {
            for before in links.before(u32::try_from(at).unwrap_or(u32::MAX)) {
                needed[before as usize] = true;
            }
        }
    }
    needed
}

/// The events of one thread that are to be scheduled, and how many of them are.
#[derive(Default)]
struct Queue {
    events: Vec<u32>,
    next: usize,
}

struct Run<'a> {
    trace: &'a Trace,
    links: &'a Links<'a>,
    done: Vec<bool>,
    /// Events that come at the end.
    held: Vec<u32>,
    turns: Vec<Turn>,
}

impl Run<'_> {
    /// Runs the first thread that can continue as far as possible; false if none can.
    fn round(&mut self, queues: &mut [Queue]) -> bool {
        let Some(queue) = queues.iter_mut().find(|it| self.can(it.events.get(it.next))) else {
            return false;
        };
        while self.can(queue.events.get(queue.next)) {
            self.step(queue.events[queue.next]);
            queue.next += 1;
        }
        true
    }

    fn can(&self, at: Option<&u32>) -> bool {
        let free = |at: u32| self.links.before(at).all(|it| self.done[it as usize]);
        at.is_some_and(|at| !self.held.contains(at) && free(*at))
    }

    fn step(&mut self, at: u32) {
        self.done[at as usize] = true;
        let (thread, index) = self.links.events[at as usize];
        let (thread, until) = (self.trace.threads[thread as usize].id, u64::from(index) + 1);
        match self.turns.last_mut() {
            Some(turn) if turn.thread == thread => turn.until = until,
            _ => self.turns.push(Turn { thread, until }),
        }
    }
}
