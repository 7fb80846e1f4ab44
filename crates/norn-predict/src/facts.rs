//! The shared indices of a trace, each built once.
//!
//! Indices that every analysis needs are built at once; the others on first use, so that a search
//! for deadlocks alone does not pay for timestamps.

use std::{collections::BTreeSet, sync::OnceLock};

use norn_model::{Handlers, Thread, Trace, mutexes};
use rayon::prelude::*;

use crate::{
    AtomicSet, Options, Pattern,
    access::{Touch, Touches},
    condition_wait::{self, Wait},
    freed::Freed,
    interval::Rules,
    life::{Block, Lives, SplitTouches, blocks},
    lockset::LockSets,
    order::{Order, SyncEdges},
    outline::Outline,
    pattern_match::{Matches, PatternSearch},
    region::{Regions, marked},
    section::Sections,
    shared_filter::SharedFilter,
    timestamp::Timestamps,
    two_region_match::TwoRegionPattern,
    variable_pairs::VariablePairs,
};

/// The synchronisation of a trace: the locks held at each event, and the happens-before order. It
/// does not depend on the options of the search.
#[derive(Debug)]
pub(crate) struct Synchronisation {
    pub(crate) outlines: Vec<Outline>,
    /// The semaphores that are used as locks.
    pub(crate) semaphores: BTreeSet<u64>,
    pub(crate) sets: LockSets,
    /// The order for plain accesses, and that for atomic ones.
    pub(crate) orders: [Order; 2],
    pub(crate) blocks: Vec<Block>,
}

impl Synchronisation {
    /// The first pass over the events; marks in the filter which memory they access.
    pub(crate) fn new(trace: &Trace, filter: &SharedFilter) -> Synchronisation {
        let (mut outlines, semaphores) = outlines(trace, filter);
        let sets = LockSets::unite(&mut outlines);
        let order = |edges| Order::new(trace, &outlines, edges);
        let (plain, forced) = rayon::join(|| order(SyncEdges::All), || order(SyncEdges::Forced));
        let blocks = blocks(trace, &outlines);
        Synchronisation { outlines, semaphores, sets, orders: [plain, forced], blocks }
    }

    /// The atomic regions of the threads, as critical sections and the user define them.
    pub(crate) fn regions<'a>(&'a self, trace: &'a Trace, options: &Options) -> Regions<'a> {
        let wanted = [marked(trace, &options.functions), options.regions.clone()].concat();
        Regions::new(trace, &self.outlines, &wanted)
    }
}

/// The facts that decide whether accesses can be reordered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncFacts<'a> {
    pub(crate) sets: &'a LockSets,
    pub(crate) outlines: &'a [Outline],
    pub(crate) regions: &'a Regions<'a>,
    /// The order for plain accesses, and that for atomic ones.
    pub(crate) orders: [&'a Order; 2],
}

/// Thread numbers have 16 bits.
const MAX_THREADS: usize = u16::MAX as usize;

/// The shared indices of a trace.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) trace: &'a Trace,
    handlers: Handlers,
    pub(crate) sync: SyncFacts<'a>,
    pub(crate) semaphores: &'a BTreeSet<u64>,
    /// The patterns of the selected classes.
    pub(crate) patterns: Vec<&'a Pattern>,
    /// Those of the patterns that have two regions.
    pub(crate) two_region: Vec<TwoRegionPattern>,
    /// Accesses to shared memory and to blocks that another thread frees, sorted by variable,
    /// thread and index.
    pub(crate) accesses: Touches,
    /// Accesses to pairs of variables that are used together, sorted by variables.
    pub(crate) pairs: VariablePairs,
    lives: SplitTouches,
    sections: OnceLock<Sections>,
    recorded_order: OnceLock<Order>,
    timestamps: OnceLock<Timestamps<'a>>,
    waits: OnceLock<Vec<Vec<Wait>>>,
    matches: OnceLock<Matches>,
}

impl<'a> Facts<'a> {
    /// The second pass over the events, for the accesses to shared memory.
    pub(crate) fn new(
        trace: &'a Trace,
        options: &'a Options,
        synchronisation: &'a Synchronisation,
        regions: &'a Regions<'a>,
        filter: &SharedFilter,
    ) -> Facts<'a> {
        let Synchronisation { outlines, semaphores, sets, orders: [plain, forced], blocks } =
            synchronisation;
        let sync = SyncFacts { sets, outlines, regions, orders: [plain, forced] };
        let patterns: Vec<_> = options.wanted_patterns().collect();
        let frees = patterns.iter().any(|it| it.frees());
        let freed = if frees { Freed::new(blocks.as_slice()) } else { Freed::default() };
        let numbered = patterns.iter().enumerate();
        let two_region: Vec<_> =
            numbered.filter_map(|(at, it)| TwoRegionPattern::new(at, it)).collect();
        let wide = two_region.iter().any(|it| it.width == 2);
        let pairs = wide.then_some(&options.sets);
        let (mut accesses, mut pairs) = accesses(searched(trace), sync, filter, &freed, pairs);
        let site = |thread: u16, index: u32| {
            let event = &trace.threads[usize::from(thread)].events[index as usize];
            (event.site.0, event.stack.0)
        };
        accesses.uses.extend(freed.frees(&accesses.uses, outlines, site));
        accesses.uses.par_sort_unstable_by_key(|it| (it.granule, it.thread, it.index));
        accesses.shared.par_sort_unstable_by_key(|it| (it.granule, it.thread, it.index));
        pairs.all.par_sort_unstable_by_key(|it| {
            (it.variables(), it.touches.map(|it| (it.thread, it.index)))
        });
        let mut granules: Vec<_> = accesses.shared.iter().map(|it| it.granule).collect();
        granules.dedup();
        let lives = Lives::new(blocks, &granules).split(trace, &accesses.shared);
        Facts {
            trace,
            handlers: Handlers::new(trace),
            sync,
            semaphores,
            patterns,
            two_region,
            accesses,
            pairs,
            lives,
            sections: OnceLock::new(),
            recorded_order: OnceLock::new(),
            timestamps: OnceLock::new(),
            waits: OnceLock::new(),
            matches: OnceLock::new(),
        }
    }

    /// The shared variables, each with its accesses by thread in program order. Memory that is
    /// freed and allocated again is another variable.
    pub(crate) fn variables(&self) -> impl ParallelIterator<Item = &[Touch]> {
        let granules = self.accesses.shared.par_chunk_by(|a, b| a.granule == b.granule);
        granules.flat_map_iter(|it| self.lives.of(it))
    }

    /// Whether a stream has handlers that interrupt another one, perhaps indirectly.
    pub(crate) fn interrupts(&self, handler: u16, host: u16) -> bool {
        if self.handlers.is_empty() {
            return false;
        }
        let id = |it: u16| self.trace.threads[usize::from(it)].id;
        let mut hosts =
            std::iter::successors(self.handlers.host(id(handler)), |it| self.handlers.host(*it));
        hosts.any(|it| it == id(host))
    }

    /// The rules that exclude a reordering of two accesses.
    pub(crate) fn rules(&self) -> Rules<'_> {
        let SyncFacts { sets, outlines, orders, .. } = self.sync;
        let sections = self.sections.get_or_init(|| Sections::new(outlines, sets));
        Rules { sets, sections, orders }
    }

    /// Happens-before of the recorded run.
    pub(crate) fn recorded_order(&self) -> &Order {
        self.recorded_order.get_or_init(|| Order::recorded(self.trace))
    }

    /// The timestamps of events.
    pub(crate) fn timestamps(&self) -> &Timestamps<'a> {
        self.timestamps.get_or_init(|| Timestamps::new(self.trace))
    }

    /// By thread: the condition waits that a signal ended.
    pub(crate) fn condition_waits(&self) -> &[Vec<Wait>] {
        self.waits.get_or_init(|| condition_wait::waits(self.trace, self.sync.outlines))
    }

    /// The matches of all patterns. One search covers the patterns of all classes, since most of
    /// its work does not depend on the pattern.
    pub(crate) fn pattern_matches(&self, options: &Options) -> &Matches {
        self.matches.get_or_init(|| PatternSearch::new(self, options).matches())
    }

    /// The patterns whose search reached its limit.
    pub(crate) fn unfinished_patterns(&self) -> Vec<String> {
        self.matches.get().map_or_else(Vec::new, |it| it.unfinished.clone())
    }
}

/// The threads whose accesses are analysed.
pub(crate) fn searched(trace: &Trace) -> &[Thread] {
    &trace.threads[..trace.threads.len().min(MAX_THREADS)]
}

/// The outlines of all threads, and the semaphores that are used as locks. These are only known
/// when all outlines exist, so the threads are scanned again if there are any.
pub(crate) fn outlines(trace: &Trace, filter: &SharedFilter) -> (Vec<Outline>, BTreeSet<u64>) {
    let outline = |number: usize, semaphores: &BTreeSet<u64>| {
        Outline::new(u32::try_from(number).unwrap_or(0), &trace.threads[number], filter, semaphores)
    };
    let none = BTreeSet::new();
    let numbers = 0..trace.threads.len();
    let mut outlines: Vec<_> = numbers.into_par_iter().map(|it| outline(it, &none)).collect();
    let points = |number: usize, outline: &Outline| {
        let thread = &trace.threads[number];
        let ops = outline.sync_points.iter().map(|it| &thread.events[*it as usize].op);
        ops.map(|it| (thread.id, it)).collect::<Vec<_>>()
    };
    let all = outlines.iter().enumerate().flat_map(|(number, it)| points(number, it));
    let locks = mutexes(all);
    if !locks.is_empty() {
        outlines.par_iter_mut().enumerate().for_each(|(number, it)| *it = outline(number, &locks));
    }
    (outlines, locks)
}

/// The accesses of all threads to shared memory and, on request, the variable pairs among them.
fn accesses(
    threads: &[Thread],
    sync: SyncFacts<'_>,
    filter: &SharedFilter,
    freed: &Freed<'_>,
    given: Option<&Vec<AtomicSet>>,
) -> (Touches, VariablePairs) {
    let each = threads.par_iter().enumerate().map(|(number, thread)| {
        let outline = &sync.outlines[number];
        let name = u16::try_from(number).unwrap_or(0);
        let touches = Touches::new(name, thread, outline, filter, freed);
        let pairs = given
            .map(|given| {
                VariablePairs::new(&touches.shared, outline, sync.sets, sync.regions, given)
            })
            .unwrap_or_default();
        (touches, pairs)
    });
    each.reduce(Default::default, |(mut touches, mut pairs), (more, others)| {
        touches.shared.extend(more.shared);
        touches.uses.extend(more.uses);
        touches.sampled += more.sampled;
        pairs.all.extend(others.all);
        pairs.left_out += others.left_out;
        (touches, pairs)
    })
}
