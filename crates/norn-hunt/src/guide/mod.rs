//! Guided exploration: runs that showed something new are repeated with one more disturbance.
//!
//! After Wolff et al. (*Greybox fuzzing for concurrency testing*, ASPLOS 2024): a schedule is kept if its
//! run shows a new reads-from pair, and mutated by another constraint on which write a read sees. Unlike
//! there, mutations are not drawn at random: the trace of the run shows the next write that each read can
//! miss, and the most promising ones are tried first ([`search`]). A run that was
//! disturbed once is disturbed again where it goes on, so bugs that need several reorderings are reached
//! step by step. A constraint is removed by going back to an earlier run, which keeps its own mutations.

mod disturbance;
mod reads_from;
mod search;
mod timeline;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use norn_model::{Thread, ThreadName};
use norn_replay::SymbolizedTrace;

pub(crate) use self::disturbance::Disturbance;
use self::reads_from::ReadsFrom;
use crate::source::{Place, Source, place};

/// Maximum number of events of a run that is mutated.
const MOST_EVENTS: u64 = 1 << 16;
/// Maximum number of mutations that wait.
const MOST_WAITING: usize = 512;
/// One in this many explored runs is not guided.
const UNGUIDED: usize = 4;

/// The runs that showed something new, and the mutations of them that are left to try.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    reads_from: ReadsFrom,
    waiting: Vec<Mutation>,
    /// What was ever added, so that nothing is tried twice.
    known: BTreeSet<(usize, usize, Place, Place, ThreadName)>,
    /// Number of explored runs so far.
    explored: usize,
    added: usize,
}

/// A run and a disturbance that is added to it.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    pub(crate) source: Arc<Source>,
    pub(crate) disturbance: Arc<Disturbance>,
    /// Mutations are tried in this order: by rank, those of runs with most disturbances first, so that
    /// what was reached step by step is followed to its end.
    order: (u32, Reverse<usize>, usize),
}

impl PartialEq for Mutation {
    fn eq(&self, other: &Mutation) -> bool {
        Arc::ptr_eq(&self.source, &other.source) && self.disturbance == other.disturbance
    }
}

impl Guide {
    /// Whether a run is short enough. All events of such a run are loaded, so that their numbers are
    /// those of the run.
    pub(crate) fn may_mutate(symbolized: &Arc<SymbolizedTrace>) -> bool {
        symbolized.trace.counts().events <= MOST_EVENTS
    }

    /// Adds the mutations of a run. Of each thread, the events before the index in `from` stay as they
    /// are. The run itself has `depth` disturbances.
    pub(crate) fn add(
        &mut self,
        source: &Arc<Source>,
        from: &BTreeMap<ThreadName, u64>,
        depth: usize,
    ) {
        if !Guide::may_mutate(&source.symbolized) {
            return;
        }
        let place = |it| place(&source.symbolized.trace, it);
        let known = |it: &Thread| Some((it.id, *from.get(&it.name)?));
        let from = source.trace.threads.iter().filter_map(known).collect();
        for moment in search::moments(&source.trace, &from, depth) {
            let mode = moment.disturbance.mode.number();
            let (read, write) = moment.sites;
            let victim = source.symbolized.thread(moment.disturbance.seen.thread);
            if !self.known.insert((depth, mode, place(read), place(write), victim)) {
                continue;
            }
            self.added += 1;
            let order = (moment.rank, Reverse(depth), self.added);
            let disturbance = Arc::new(moment.disturbance);
            self.waiting.push(Mutation { source: Arc::clone(source), disturbance, order });
        }
        self.waiting.sort_by_key(|it| it.order);
        self.waiting.truncate(MOST_WAITING);
    }

    /// Adds the reads-from pairs of a run. Returns whether one of them is new.
    pub(crate) fn learn(&mut self, source: &Source) -> bool {
        Guide::may_mutate(&source.symbolized) && self.reads_from.learn(source)
    }

    /// The mutation for the explored run with this number, if that is guided. Numbers of later runs than
    /// the next one are what comes if no run until then shows anything new.
    pub(crate) fn mutation(&self, number: usize) -> Option<&Mutation> {
        let is_guided = |it: &usize| it % UNGUIDED != UNGUIDED - 1;
        let earlier = (self.explored..number).filter(is_guided).count();
        self.waiting.get(earlier).filter(|_| is_guided(&number))
    }

    /// An explored run was made: the mutation that it was made for is done.
    pub(crate) fn finish(&mut self, mutation: Option<&Mutation>) {
        self.explored += 1;
        if let Some(mutation) = mutation {
            self.waiting.retain(|it| it != mutation);
        }
    }
}

impl Mutation {
    /// The events that a run of this mutation begins with, by thread: only what comes later is new.
    pub(crate) fn prefix(&self) -> BTreeMap<ThreadName, u64> {
        let written = self.disturbance.written;
        let turns = self.disturbance.turns.iter().copied();
        let turns = turns.chain([(written.thread, written.index + 1)]);
        turns.map(|(thread, until)| (self.source.symbolized.thread(thread), until)).collect()
    }

    pub(crate) fn depth(&self) -> usize {
        self.disturbance.depth
    }
}
