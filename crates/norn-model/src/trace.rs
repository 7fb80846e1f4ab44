//! A whole trace in memory: from a recording, from a file of another tool, or from a test.

use crate::{
    Event, EventId, Merged, Names, Op, Order, SiteId, Stacks, Start, Stream, Symbols, ThreadId,
    ThreadName,
};

/// A trace in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// How its events are ordered.
    pub order: Order,
    /// The threads, sorted by id. A thread without events may be missing.
    pub threads: Vec<Thread>,
    /// The sites, by their ids.
    pub sites: Vec<Site>,
    /// The call stacks.
    pub stacks: Stacks,
    /// Names of addresses, if they have any.
    pub symbols: Symbols,
    /// Names of functions and of the user's marks.
    pub names: Names,
}

/// A thread with its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in this trace.
    pub id: ThreadId,
    /// Its name, the same in every run.
    pub name: ThreadName,
    /// The kind of stream.
    pub role: Role,
    /// The thread that created it or that it interrupts.
    pub parent: Option<ThreadId>,
    /// If its first events are missing: the last sequence number of the missing part.
    pub after: u64,
    /// Its events, in order.
    pub events: Vec<Event>,
}

/// The kinds of event streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A thread that the program created, or its main thread.
    #[default]
    Thread,
    /// The signal handlers that interrupted a thread.
    Handler,
    /// A thread that was created by code without instrumentation.
    Foreign,
}

impl Role {
    /// Whether a schedule can decide when the stream continues.
    pub fn can_be_scheduled(self) -> bool {
        self != Role::Foreign
    }
}

/// A code location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The program counter; 0 if there is none.
    pub pc: u64,
    /// Its readable form, if known: `file.c:12`.
    pub place: Option<String>,
}

impl Trace {
    /// Whether a schedule can decide when a thread continues.
    pub fn can_be_scheduled(&self, id: ThreadId) -> bool {
        self.thread(id).is_some_and(|it| it.role.can_be_scheduled())
    }

    /// A thread.
    pub fn thread(&self, id: ThreadId) -> Option<&Thread> {
        let at = self.threads.binary_search_by_key(&id, |it| it.id).ok()?;
        self.threads.get(at)
    }

    /// A thread by its name.
    pub fn thread_named(&self, name: &str) -> Option<&Thread> {
        self.threads.iter().find(|it| it.name.0 == name)
    }

    /// An event.
    pub fn event(&self, id: EventId) -> Option<&Event> {
        self.thread(id.thread)?.events.get(usize::try_from(id.index).ok()?)
    }

    /// A site.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.0 as usize)
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.threads.iter().map(|it| it.events.len()).sum()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events in one order that is consistent with the trace; see [`Merged`].
    pub fn merged(&self) -> impl Iterator<Item = Event> {
        Merged::new(self.threads.iter().map(|thread| Stream {
            start: self.start(thread),
            open: || thread.events.iter().copied(),
        }))
    }

    /// The position of a thread's first event. If it has no number, because the beginning of the
    /// thread is missing, it comes after the missing part and after the creation of the thread.
    pub fn start(&self, thread: &Thread) -> Start {
        match thread.events.first().and_then(|it| it.seq) {
            Some(seq) => Start::With(seq),
            None => Start::After(self.forked(thread.id).unwrap_or(0).max(thread.after)),
        }
    }

    fn forked(&self, id: ThreadId) -> Option<u64> {
        let events = self.threads.iter().filter(|it| it.id != id).flat_map(|it| &it.events);
        events.filter(|it| it.op == Op::Fork(id)).filter_map(|it| it.seq).min()
    }
}
