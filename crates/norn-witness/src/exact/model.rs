//! The model of a trace that all queries share.
//!
//! Events are numbered in the recorded order; a [`Node`] is such a number. The effect of an event
//! on others is a list of [`Facet`]s, each of which belongs to one rule. [`Reach`] has what holds
//! in every order.

use norn_model::{EventId, Trace};

use super::{cell::Cells, reach::Reach};

/// An event, by its number in the recorded order.
pub(crate) type Node = u32;

/// An event that never happens; as a write, the initial one before all events.
pub(crate) const NEVER: Node = Node::MAX;

/// One aspect of an event, with the index of its object or detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facet {
    /// Reads a value: a number of [`Cells::reads`].
    Read(u32),
    /// Writes a value to a cell: which of its writes.
    Write {
        cell: u32,
        at: u32,
    },
    /// Begins and ends a critical section, a number of [`Model::sections`].
    Open(u32),
    Close(u32),
    /// Fails to acquire a lock.
    Denied {
        lock: u32,
        shared: bool,
    },
    /// Ends a wait, a number of [`Model::wakes`].
    Wake(u32),
    Signal {
        cond: u32,
        all: bool,
    },
    /// Increments or decrements a semaphore, or fails to decrement it.
    Up(u32),
    Down(u32),
    Dry(u32),
    /// Arrives at or leaves a barrier.
    Enter(u32),
    Leave(u32),
    /// Begins or ends an initialisation, a number of [`Model::tries`].
    Begin(u32),
    End(u32),
    /// Finds an initialisation done.
    Done(u32),
    /// Cannot happen in any order: it releases what its thread does not hold.
    Impossible,
}

/// A critical section of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) thread: u32,
    pub(crate) open: Node,
    /// [`NEVER`] if the trace ends before.
    pub(crate) close: Node,
    pub(crate) shared: bool,
}

/// The end of a wait by a signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    pub(crate) cond: u32,
    pub(crate) wait: Node,
    pub(crate) node: Node,
    /// The signal that ended it in the recorded order, if there is one.
    pub(crate) signal: Node,
}

/// One attempt at an initialisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Try {
    pub(crate) once: u32,
    pub(crate) begin: Node,
    pub(crate) end: Node,
    /// Whether it succeeds.
    pub(crate) done: bool,
}

/// Events of one kind on one object, by thread, each in order.
pub(crate) type ByThread = Vec<(u32, Vec<Node>)>;

/// A semaphore.
#[derive(Debug, Default)]
pub(crate) struct Semaphore {
    pub(crate) first: i64,
    pub(crate) ups: ByThread,
    pub(crate) downs: ByThread,
}

/// A barrier.
#[derive(Debug, Default)]
pub(crate) struct Barrier {
    pub(crate) size: u64,
    pub(crate) enters: ByThread,
}

/// The model of a trace.
#[derive(Debug)]
pub(crate) struct Model<'a> {
    pub(crate) trace: &'a Trace,
    /// By node: the thread's number and the index in it.
    pub(crate) places: Vec<(u32, u32)>,
    /// By thread and index: the node.
    pub(crate) threads: Vec<Vec<Node>>,
    pub(crate) facets: Vec<Facet>,
    /// By node: where its facets begin; one more at the end.
    pub(crate) firsts: Vec<u32>,
    pub(crate) reach: Reach,
    pub(crate) cells: Cells,
    pub(crate) sections: Vec<Section>,
    /// By lock and thread: its sections, in order.
    pub(crate) locks: Vec<ByThread>,
    /// By condition: its signals, and whether they wake all.
    pub(crate) conds: Vec<Vec<(Node, bool)>>,
    pub(crate) wakes: Vec<Wake>,
    pub(crate) semaphores: Vec<Semaphore>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) tries: Vec<Try>,
    /// By initialisation: its attempts.
    pub(crate) onces: Vec<Vec<u32>>,
    /// The recorded order itself breaks a rule: nothing can be proved from it.
    pub(crate) damaged: bool,
}

impl Model<'_> {
    /// The number of events.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.places.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn facets(&self, node: Node) -> &[Facet] {
        let at = node as usize;
        &self.facets[self.firsts[at] as usize..self.firsts[at + 1] as usize]
    }

    pub(crate) fn thread(&self, node: Node) -> u32 {
        self.places[node as usize].0
    }

    /// The event after this one in its thread.
    pub(crate) fn next(&self, node: Node) -> Option<Node> {
        let (thread, index) = self.places[node as usize];
        self.threads[thread as usize].get(index as usize + 1).copied()
    }

    /// The event before this one in its thread.
    pub(crate) fn previous(&self, node: Node) -> Option<Node> {
        let (thread, index) = self.places[node as usize];
        let index = (index as usize).checked_sub(1)?;
        self.threads[thread as usize].get(index).copied()
    }

    /// Whether the first is the second or before it in every order.
    pub(crate) fn before(&self, one: Node, other: Node) -> bool {
        let (thread, index) = self.places[one as usize];
        self.reach.count(&self.places, other, thread) > index
    }

    pub(crate) fn node(&self, id: EventId) -> Option<Node> {
        let thread = self.trace.threads.binary_search_by_key(&id.thread, |it| it.id).ok()?;
        self.threads[thread].get(usize::try_from(id.index).ok()?).copied()
    }

    pub(crate) fn id(&self, node: Node) -> EventId {
        let (thread, index) = self.places[node as usize];
        EventId { thread: self.trace.threads[thread as usize].id, index: index.into() }
    }

    /// Whether it is a read-modify-write.
    pub(crate) fn updates(&self, node: Node) -> bool {
        let access = self.trace.event(self.id(node)).and_then(|it| it.op.access());
        access.is_some_and(|it| it.is_update())
    }
}
