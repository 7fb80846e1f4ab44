//! Signal handlers: whom they interrupt, and when.
//!
//! The handlers that interrupt a thread are a stream of events of their own. They run on the same
//! thread: while one runs, from its `HandlerBegin` to its `HandlerEnd`, the interrupted thread does
//! not continue.

use std::collections::BTreeMap;

use crate::{EventId, Op, Role, ThreadId, Trace};

/// The signal handlers of a trace, by the thread that they interrupt.
#[derive(Clone, Debug, Default)]
pub struct Handlers {
    streams: BTreeMap<ThreadId, Vec<HandlerStream>>,
    hosts: BTreeMap<ThreadId, ThreadId>,
}

#[derive(Clone, Debug)]
struct HandlerStream {
    id: ThreadId,
    runs: Vec<HandlerRun>,
}

/// A run of a handler: the indices of its first and its last event, and whether it has ended.
#[derive(Clone, Copy, Debug)]
struct HandlerRun {
    first: u64,
    last: u64,
    ended: bool,
}

impl Handlers {
    /// Collects the handlers of a trace.
    pub fn new(trace: &Trace) -> Handlers {
        let mut handlers = Handlers::default();
        for thread in trace.threads.iter().filter(|it| it.role == Role::Handler) {
            let Some(host) = thread.parent else { continue };
            let mut runs: Vec<HandlerRun> = Vec::new();
            for event in &thread.events {
                let last = event.id.index;
                match runs.last_mut() {
                    Some(run) if !matches!(event.op, Op::HandlerBegin { .. }) => {
                        (run.last, run.ended) = (last, event.op == Op::HandlerEnd);
                    }
                    _ => runs.push(HandlerRun { first: last, last, ended: false }),
                }
            }
            let stream = HandlerStream { id: thread.id, runs };
            handlers.streams.entry(host).or_default().push(stream);
            handlers.hosts.insert(thread.id, host);
        }
        handlers
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// The thread, or the handler, that the handlers of a stream interrupt.
    pub fn host(&self, stream: ThreadId) -> Option<ThreadId> {
        self.hosts.get(&stream).copied()
    }

    /// The streams of the handlers that interrupt a thread, or a handler.
    pub fn of(&self, host: ThreadId) -> impl Iterator<Item = ThreadId> {
        self.streams.get(&host).into_iter().flatten().map(|it| it.id)
    }

    /// Whether both run on the same thread: one interrupts the other, perhaps indirectly.
    pub fn is_same_thread(&self, one: ThreadId, other: ThreadId) -> bool {
        self.root(one) == self.root(other)
    }

    fn root(&self, stream: ThreadId) -> ThreadId {
        self.host(stream).map_or(stream, |it| self.root(it))
    }

    /// The first and the last event of the run that an event of a handler belongs to.
    pub fn run(&self, id: EventId) -> Option<(EventId, EventId)> {
        let host = self.host(id.thread)?;
        let stream = self.streams.get(&host)?.iter().find(|it| it.id == id.thread)?;
        let run = stream.runs.iter().find(|it| (it.first..=it.last).contains(&id.index))?;
        Some((EventId { index: run.first, ..id }, EventId { index: run.last, ..id }))
    }

    /// If a handler has begun on a thread and not ended: its last event. In a trace that ends in the
    /// handler, that event may have happened. `done` is the number of events of a stream that have
    /// happened.
    pub fn interrupting(&self, host: ThreadId, done: impl Fn(ThreadId) -> u64) -> Option<EventId> {
        let mut streams = self.streams.get(&host)?.iter();
        streams.find_map(|it| {
            let done = done(it.id);
            let open = |run: &&HandlerRun| run.first < done && (done <= run.last || !run.ended);
            let run = it.runs.iter().find(open)?;
            Some(EventId { thread: it.id, index: run.last })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    const TRACE: &str = "T0 r x\nT0! handler 10\nT0! w x\nT0! return\nT0 r x\nT0! handler 10\n\
                         T0!! handler 11\nT0!! return\nT0! return\nT0.1 r x";

    #[test]
    fn a_thread_is_interrupted_while_a_handler_runs() {
        let trace = text::parse(TRACE).unwrap();
        let handlers = Handlers::new(&trace);
        let id = |name: &str| trace.thread_named(name).unwrap().id;
        let (host, stream) = (id("T0"), id("T0!"));
        let until = |done: u64| handlers.interrupting(host, |_| done).map(|it| it.index);
        assert_eq!(
            (0..=5).map(until).collect::<Vec<_>>(),
            [None, Some(2), Some(2), None, Some(4), None]
        );
        assert_eq!(handlers.of(host).collect::<Vec<_>>(), [stream]);
        assert!(handlers.is_same_thread(host, id("T0!!")));
        assert!(!handlers.is_same_thread(id("T0.1"), id("T0!!")));
        assert_eq!(handlers.interrupting(id("T0.1"), |_| 1), None);
    }

    #[test]
    fn a_handler_that_does_not_end_interrupts_for_ever() {
        let trace = text::parse("T0 r x\nT0! handler 10\nT0! w x").unwrap();
        let handlers = Handlers::new(&trace);
        let host = trace.thread_named("T0").unwrap().id;
        assert!((1..4).all(|done| handlers.interrupting(host, |_| done).is_some()));
    }

    #[test]
    fn an_event_of_a_handler_belongs_to_a_run() {
        let trace = text::parse(TRACE).unwrap();
        let handlers = Handlers::new(&trace);
        let event =
            |name: &str, index| EventId { thread: trace.thread_named(name).unwrap().id, index };
        let run = handlers.run(event("T0!", 1)).map(|(first, last)| (first.index, last.index));
        assert_eq!(run, Some((0, 2)));
        assert_eq!(handlers.run(event("T0", 0)), None);
    }
}
