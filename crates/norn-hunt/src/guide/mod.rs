//! Guided exploration: runs that showed something new are repeated with one more disturbance.
//!
//! After Wolff et al. (*Greybox fuzzing for concurrency testing*, ASPLOS 2024): a schedule is kept if its
//! run shows a new reads-from pair, and mutated by another constraint on which write a read sees. Unlike
//! there, mutations are not drawn at random: the trace of the run shows the next write that each read can
//! miss, and the most promising ones are tried first ([`search`]). A run that was
//! disturbed once is disturbed again where it goes on, so bugs that need several reorderings are reached
//! step by step. A constraint is removed by going back to an earlier run, which keeps its own mutations.

mod disturbance;
mod early_free;
mod reach;
mod reads_from;
mod restored;
mod search;
mod timeline;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use norn_model::{SiteId, Thread, ThreadName};
use norn_replay::SymbolizedTrace;

pub(crate) use self::disturbance::Disturbance;
use self::{
    disturbance::Mode,
    reads_from::{Learnt, ReadsFrom},
    search::{FREES_EARLY, Moment},
};
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
    known: BTreeSet<(usize, usize, [Place; 3], ThreadName)>,
    /// Number of explored runs so far.
    explored: usize,
    /// Number of those of mutations that were not urgent.
    usual: usize,
    added: usize,
}

/// A run and a disturbance that is added to it.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    pub(crate) source: Arc<Source>,
    pub(crate) disturbance: Arc<Disturbance>,
    wait: Wait,
    /// What it promises; the smaller, the earlier it is tried.
    rank: u32,
    /// The mutations are numbered as they are found.
    number: usize,
}

/// Whether a mutation waits for attempts on candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wait {
    Urgent,
    Usual,
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
    /// are. The run itself has `depth` disturbances. Code at the sites in `reached` was never executed
    /// before: a thread that is there is disturbed first.
    pub(crate) fn add(
        &mut self,
        source: &Arc<Source>,
        from: &BTreeMap<ThreadName, u64>,
        depth: usize,
        reached: &BTreeSet<SiteId>,
    ) {
        if !Guide::may_mutate(&source.symbolized) {
            return;
        }
        let place = |it| place(&source.symbolized.trace, it);
        let known = |it: &Thread| Some((it.id, *from.get(&it.name)?));
        let from = source.trace.threads.iter().filter_map(known).collect();
        let urgent = reach::moments(&source.trace, (&from, depth), reached);
        let usual = search::moments(&source.trace, &from, depth);
        let urgent = urgent.into_iter().map(|it| (Wait::Urgent, it));
        let usual = with_waits(usual, depth);
        for (wait, moment) in urgent.chain(usual) {
            let mode = moment.disturbance.mode.number();
            let read = moment.disturbance.read;
            let victim = source.symbolized.thread(read.thread);
            if !self.known.insert((depth, mode, moment.sites.map(place), victim)) {
                continue;
            }
            self.added += 1;
            let (rank, number) = (moment.rank, self.added);
            let (source, disturbance) = (Arc::clone(source), Arc::new(moment.disturbance));
            self.waiting.push(Mutation { source, disturbance, wait, rank, number });
        }
        self.arrange();
        self.waiting.truncate(MOST_WAITING);
    }

    /// Puts the mutations in the order in which they are tried: those that disturb what was just reached for
    /// the first time, then the others by turns.
    fn arrange(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_by_key(|it| (it.wait, it.rank, it.number));
        let urgent = waiting.iter().take_while(|it| it.wait == Wait::Urgent).count();
        let usual = waiting.split_off(urgent);
        let ranks: Vec<_> = usual.iter().map(|it| (it.rank, it.depth())).collect();
        let order = by_turns(&ranks, self.usual);
        self.waiting = waiting;
        self.waiting.extend(order.into_iter().map(|it| usual[it].clone()));
    }

    /// Adds the reads-from pairs and the places of a run.
    pub(crate) fn learn(&mut self, source: &Source) -> Learnt {
        if Guide::may_mutate(&source.symbolized) {
            self.reads_from.learn(source)
        } else {
            Learnt::default()
        }
    }

    /// Number of mutations that do not wait for attempts.
    pub(crate) fn urgent(&self) -> usize {
        self.waiting.iter().take_while(|it| it.wait == Wait::Urgent).count()
    }

    /// The mutation for the explored run with this number, if that is guided. Numbers of later runs than
    /// the next one are what comes if no run until then shows anything new.
    pub(crate) fn mutation(&self, number: usize) -> Option<&Mutation> {
        let mut earlier = 0;
        for other in self.explored..number {
            earlier += usize::from(self.guided(other, earlier).is_some());
        }
        self.guided(number, earlier)
    }

    /// The mutation for the explored run with this number, if this many mutations come earlier.
    fn guided(&self, number: usize, earlier: usize) -> Option<&Mutation> {
        let is_guided = number % UNGUIDED != UNGUIDED - 1;
        self.waiting.get(earlier).filter(|it| is_guided || it.wait == Wait::Urgent)
    }

    /// An explored run was made: the mutation that it was made for is done.
    pub(crate) fn finish(&mut self, mutation: Option<&Mutation>) {
        self.explored += 1;
        if let Some(mutation) = mutation {
            self.usual += usize::from(mutation.wait == Wait::Usual);
            self.waiting.retain(|it| it != mutation);
        }
    }
}

/// Which moments of a run with this many disturbances wait for attempts. Of the recorded run, the first restored
/// value, the first lock that is found held, and the first write after which memory in use is freed do not: no candidate
/// is about these.
fn with_waits(moments: Vec<Moment>, depth: usize) -> impl Iterator<Item = (Wait, Moment)> {
    let mut modes = BTreeSet::new();
    moments.into_iter().map(move |it| {
        let mode = it.disturbance.mode;
        let is_rare = match mode {
            Mode::Once | Mode::Held => it.rank == 0,
            Mode::ToTheEnd => it.rank <= FREES_EARLY,
            Mode::Repeatedly(_) | Mode::Inside => false,
        };
        let is_first = depth == 0 && is_rare && modes.insert(mode.number());
        (if is_first { Wait::Urgent } else { Wait::Usual }, it)
    })
}

/// The order of mutations with these ranks and depths, the oldest first: by turns the oldest one, and one of
/// a run with most disturbances. The latter follow what was reached step by step to its end; the former see
/// to it that this does not keep all others waiting.
fn by_turns(mutations: &[(u32, usize)], first_turn: usize) -> Vec<usize> {
    let oldest: Vec<usize> = (0..mutations.len()).collect();
    let mut deepest = oldest.clone();
    deepest.sort_by_key(|it| (mutations[*it].0, Reverse(mutations[*it].1), *it));
    let mut next = [oldest, deepest].map(Vec::into_iter);
    let mut order = Vec::new();
    let mut is_in = vec![false; mutations.len()];
    while order.len() < mutations.len() {
        let turn = (first_turn + order.len()) % next.len();
        let Some(mutation) = next[turn].find(|it| !is_in[*it]) else { break };
        is_in[mutation] = true;
        order.push(mutation);
    }
    order
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

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    /// How many disturbances of a run do not wait.
    fn urgent(run: &str, depth: usize) -> usize {
        let trace = text::parse(&format!("order global\n{run}")).unwrap();
        let moments = search::moments(&trace, &BTreeMap::new(), depth);
        with_waits(moments, depth).filter(|it| it.0 == Wait::Urgent).count()
    }

    #[test]
    fn a_lock_that_is_found_held_does_not_wait() {
        let tries = "T1 acq m mutex tried @ a\nT1 rel m\nT1 acq m mutex tried @ b\nT1 rel m\n";
        let run = format!("{tries}T2 acq m\nT2 rel m");
        assert_eq!([urgent(&run, 0), urgent(&run, 1)], [1, 0]);
        assert_eq!(urgent("T1 load x 0\nT1 yield\nT1 yield\nT2 store x 1\nT2 end", 0), 0);
    }

    #[test]
    fn the_oldest_and_the_deepest_mutations_take_turns() {
        let mutations = [(0, 0), (1, 0), (1, 0), (1, 1), (1, 2), (2, 3)];
        assert_eq!(by_turns(&mutations, 0), [0, 4, 1, 3, 2, 5]);
        assert_eq!(by_turns(&mutations[1..], 1), [3, 0, 2, 1, 4]);
    }
}
