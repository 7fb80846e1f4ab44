//! The edges that hold in every order: from threads, annotations, channels, allocations, initialisations and
//! counts, and from writes to reads that only one write can have served.

use norn_model::{Channels, ThreadId};
use rustc_hash::FxHashMap;

use super::{
    model::{ByThread, Facet, Model, NEVER, Node, Semaphore},
    reach::Reach,
};

/// Reads of values with more writes than this get no edge: it is unlikely that all writes but one
/// can be excluded.
const FEW: usize = 8;

/// With more threads than this, reads with only one possible write are left to the solver.
const FEW_THREADS: usize = 64;

/// The edges that are collected while the trace is read.
#[derive(Default)]
pub(crate) struct Edges {
    pub(crate) all: Vec<(Node, Node)>,
    pub(crate) forks: Vec<(Node, ThreadId)>,
    pub(crate) joins: Vec<(Node, ThreadId)>,
    /// By object: the last `HappensBefore` of each thread.
    announced: FxHashMap<u64, Vec<(u32, Node)>>,
    pub(crate) sends: Channels<Node>,
}

impl Edges {
    pub(crate) fn announce(&mut self, object: u64, thread: u32, node: Node) {
        let all = self.announced.entry(object).or_default();
        match all.iter_mut().find(|it| it.0 == thread) {
            Some(last) => last.1 = node,
            None => all.push((thread, node)),
        }
    }

    pub(crate) fn hear(&mut self, object: u64, node: Node) {
        let all = self.announced.get(&object).into_iter().flatten();
        self.all.extend(all.map(|it| (it.1, node)));
    }

    /// A receive comes after the sends of its range.
    pub(crate) fn receive(&mut self, (channel, from, to): (u64, u64, u64), node: Node) {
        self.all.extend(self.sends.sends(channel, from, to).map(|it| (*it, node)));
    }

    /// Adds the edges to the model.
    pub(crate) fn connect(mut self, model: &mut Model<'_>) {
        self.threads(model);
        self.initialisations(model);
        for semaphore in &model.semaphores {
            self.semaphore(semaphore);
        }
        self.barriers(model);
        let backwards = |it: &(Node, Node)| it.0 >= it.1;
        model.damaged |= self.all.iter().any(backwards);
        self.all.retain(|it| !backwards(it));
        model.reach = Reach::new(&model.places, model.threads.len(), &self.all);
        // Each read may need a vector clock of its own, which costs too much with many threads.
        if model.threads.len() <= FEW_THREADS {
            self.reads(model);
        }
        self.all.sort_unstable();
        self.all.dedup();
        model.reach = Reach::new(&model.places, model.threads.len(), &self.all);
    }

    fn threads(&mut self, model: &Model<'_>) {
        let number = |id: &ThreadId| {
            let at = model.trace.threads.binary_search_by_key(id, |it| it.id).ok();
            at.and_then(|at| model.threads.get(at))
        };
        // If a thread is created twice, the last time counts.
        let forks: FxHashMap<_, _> = self.forks.iter().map(|it| (it.1, it.0)).collect();
        for (fork, child) in &self.forks {
            if let Some(first) = number(child).and_then(|it| it.first())
                && forks.get(child) == Some(fork)
            {
                self.all.push((*fork, *first));
            }
        }
        for (join, child) in &self.joins {
            if let Some(last) = number(child).and_then(|it| it.last()) {
                self.all.push((*last, *join));
            }
        }
    }

    /// An initialisation that has only one successful attempt ends before it is found done.
    fn initialisations(&mut self, model: &Model<'_>) {
        for node in 0..model.len() {
            for facet in model.facets(node) {
                let Facet::Done(once) = facet else { continue };
                let tries = model.onces[*once as usize].iter().map(|it| model.tries[*it as usize]);
                let ends: Vec<_> = tries.filter(|it| it.done).map(|it| it.end).collect();
                if let [end] = ends[..] {
                    self.all.push((end, node));
                }
            }
        }
    }

    /// The n-th wait of a thread needs n posts. The initial value and the posts of all other
    /// threads can serve `free` of its waits; each further one needs one more post of the thread at
    /// hand.
    fn semaphore(&mut self, semaphore: &Semaphore) {
        let all: usize = semaphore.ups.iter().map(|it| it.1.len()).sum();
        for (_, downs) in &semaphore.downs {
            for (_, ups) in &semaphore.ups {
                let first = usize::try_from(semaphore.first).unwrap_or(0);
                let free = first + all - ups.len();
                let waiting = downs.iter().skip(free);
                self.all.extend(waiting.zip(ups).map(|(down, up)| (*up, *down)));
            }
        }
    }

    /// If exactly as many threads use a barrier as it waits for, the n-th round of one is that of
    /// all.
    fn barriers(&mut self, model: &Model<'_>) {
        for (number, barrier) in model.barriers.iter().enumerate() {
            let leaves = leaves(model, u32::try_from(number).unwrap_or(u32::MAX));
            let alternate = |it: &(u32, Vec<Node>)| {
                let leaves = leaves.iter().find(|leaves| leaves.0 == it.0);
                leaves.is_none_or(|leaves| alternate(&it.1, &leaves.1))
            };
            let all = barrier.enters.len() as u64 == barrier.size;
            if all && barrier.enters.iter().all(alternate) {
                for (_, leaves) in &leaves {
                    for (_, enters) in &barrier.enters {
                        let pairs = enters.iter().zip(leaves);
                        self.all.extend(pairs.map(|(enter, leave)| (*enter, *leave)));
                    }
                }
            }
        }
        let own = |it: &(Node, Node)| model.thread(it.0) == model.thread(it.1) && it.0 < it.1;
        self.all.retain(|it| !own(it));
    }

    /// A thread that continues after a read has seen the value, and so its only write. The read
    /// itself may see another value if it is the last event of its thread.
    fn reads(&mut self, model: &Model<'_>) {
        for read in &model.cells.reads {
            let Some(next) = model.next(read.node) else { continue };
            if let Some(writer) = only_writer(model, read)
                && model.thread(writer) != model.thread(next)
                && writer < next
            {
                self.all.push((writer, next));
            }
        }
    }
}

/// The only write that a read can have seen.
fn only_writer(model: &Model<'_>, read: &super::cell::Read) -> Option<Node> {
    let cell = &model.cells.all[read.cell as usize];
    let same = read.value.map(|it| cell.writes_of(it));
    let source = Some(read.source).filter(|_| read.by_source);
    if same.as_ref().is_some_and(|it| it.clone().nth(FEW).is_some()) {
        return None;
    }
    if read.accepts(NEVER, cell.first) {
        return None;
    }
    let mut writers: Vec<_> = same.into_iter().flatten().chain(source).collect();
    writers.retain(|it| *it != NEVER && *it != read.node && !model.before(read.node, *it));
    writers.sort_unstable();
    writers.dedup();
    if let [writer] = writers[..] { Some(writer) } else { None }
}

/// Whether a thread leaves the barrier each time before it arrives again.
fn alternate(enters: &[Node], leaves: &[Node]) -> bool {
    let pairs = enters.iter().zip(leaves).all(|(enter, leave)| enter < leave);
    let again = leaves.iter().zip(enters.iter().skip(1)).all(|(leave, enter)| leave < enter);
    pairs && again && enters.len() <= leaves.len() + 1
}

fn leaves(model: &Model<'_>, barrier: u32) -> ByThread {
    let mut leaves: ByThread = Vec::new();
    for node in 0..model.len() {
        if model.facets(node).contains(&Facet::Leave(barrier)) {
            let thread = model.thread(node);
            match leaves.iter_mut().find(|it| it.0 == thread) {
                Some(list) => list.1.push(node),
                None => leaves.push((thread, vec![node])),
            }
        }
    }
    leaves
}
