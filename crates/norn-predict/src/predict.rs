//! The whole way from a trace to candidates.

use norn_model::{Candidate, Scope, SiteId, Step, ThreadId, Trace};
use rayon::prelude::*;

use crate::{
    AtomicSet, Pattern, Region,
    access::{Touch, touches},
    couple::{Couple, couples},
    general::Field,
    keep::{Instance, Kept, Key},
    life::Lives,
    lockset::Sets,
    order::{Meetings, Order},
    outline::Outline,
    region::Regions,
    search::Search,
    sieve::Sieve,
    weave::Weave,
};

/// What to look for and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// How many instances of each finding are kept, the cheapest ones.
    pub instances: usize,
    /// Whether accesses that merely follow each other are taken for regions, too.
    pub unmarked: bool,
    /// What the user wants to be atomic.
    pub regions: Vec<Region>,
    /// Which variables belong together; if there is none, those that are used together.
    pub sets: Vec<AtomicSet>,
}

impl Default for Options {
    /// The built-in patterns.
    fn default() -> Self {
        Options {
            patterns: Pattern::built_in(),
            instances: 4,
            unmarked: true,
            regions: Vec::new(),
            sets: Vec::new(),
        }
    }
}

/// What a trace allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The anomalies: those with a strong reason to be one first, then the cheap ones; instances
    /// with the same sites follow each other.
    pub candidates: Vec<Candidate>,
    /// How many accesses to shared memory there are.
    pub shared: u64,
    /// The search for a pattern was given up before its end.
    pub incomplete: bool,
    /// Threads whose accesses were not looked at: there are too many threads.
    pub skipped: Vec<ThreadId>,
}

/// Threads are counted with 16 bits.
const MOST_THREADS: usize = u16::MAX as usize;

/// Looks for anomalies.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    let sieve = Sieve::new(trace);
    let threads = &trace.threads[..trace.threads.len().min(MOST_THREADS)];
    let mut outlines: Vec<_> = trace
        .threads
        .par_iter()
        .enumerate()
        .map(|(number, thread)| Outline::new(u32::try_from(number).unwrap_or(0), thread, &sieve))
        .collect();
    let sets = Sets::unite(&mut outlines);
    let (plain, forced) = rayon::join(
        || Order::new(trace, &outlines, Meetings::All),
        || Order::new(trace, &outlines, Meetings::Forced),
    );
    let regions = Regions::new(trace, &outlines, &options.regions);
    let orders = [&plain, &forced];
    let field = Field { sets: &sets, outlines: &outlines, regions: &regions, orders };

    let weaves: Vec<_> =
        options.patterns.iter().enumerate().filter_map(|(at, it)| Weave::new(at, it)).collect();
    let wide = weaves.iter().any(|it| it.width == 2);
    let (mut all, mut pairs) = accesses(threads, field, &sieve, wide.then_some(&options.sets));
    drop(sieve);
    all.par_sort_unstable_by_key(|it| (it.granule, it.thread, it.index));
    pairs.par_sort_unstable_by_key(|it| {
        (it.variables(), it.touches.map(|it| (it.thread, it.index)))
    });
    let mut granules: Vec<_> = all.iter().map(|it| it.granule).collect();
    granules.dedup();
    let search = Search {
        trace,
        field,
        lives: Lives::new(trace, &outlines, &granules),
        patterns: &options.patterns,
        weaves,
        instances: options.instances,
        unmarked: options.unmarked,
    };
    let (general, incomplete) = search.generals(&all);
    let kept = search.singles(&all).merge(search.couples(&pairs)).merge(general);
    Prediction {
        candidates: candidates(trace, &options.patterns, &regions, kept),
        shared: all.len() as u64,
        incomplete,
        skipped: trace.threads[threads.len()..].iter().map(|it| it.id).collect(),
    }
}

/// The accesses of all threads to shared memory, and, if wanted, the couples among them.
fn accesses(
    threads: &[norn_model::Thread],
    field: Field<'_>,
    sieve: &Sieve,
    given: Option<&Vec<AtomicSet>>,
) -> (Vec<Touch>, Vec<Couple>) {
    let each = threads.par_iter().enumerate().map(|(number, thread)| {
        let outline = &field.outlines[number];
        let touches = touches(u16::try_from(number).unwrap_or(0), thread, outline, sieve);
        let couples = given
            .map(|given| couples(&touches, outline, field.sets, field.regions, given))
            .unwrap_or_default();
        (touches, couples)
    });
    each.reduce(Default::default, |(mut touches, mut couples), (more, others)| {
        touches.extend(more);
        couples.extend(others);
        (touches, couples)
    })
}

fn candidates(
    trace: &Trace,
    patterns: &[Pattern],
    regions: &Regions<'_>,
    kept: Kept,
) -> Vec<Candidate> {
    let numbered = |(key, instances): (Key, Vec<Instance>)| {
        let candidate = |(at, it): (usize, &Instance)| {
            let pattern = &patterns[usize::from(key.pattern)];
            candidate(trace, pattern, regions, &key, it, u32::try_from(at).unwrap_or(u32::MAX))
        };
        instances.iter().enumerate().map(candidate).collect::<Vec<_>>()
    };
    kept.sorted().into_iter().flat_map(numbered).collect()
}

fn candidate(
    trace: &Trace,
    pattern: &Pattern,
    regions: &Regions<'_>,
    key: &Key,
    instance: &Instance,
    number: u32,
) -> Candidate {
    let step = |at: usize| {
        let (place, slot) = (instance.steps[at], pattern.slots[at]);
        let unit = pattern.unit(slot.region).map(|it| instance.steps[it].index);
        let (first, last) = unit.fold((u32::MAX, 0), |(from, to), it| (from.min(it), to.max(it)));
        let scope = if first == last { Scope::Single } else { key.scope };
        Step {
            event: crate::region::event_id(trace, place.thread, place.index),
            site: SiteId(key.sites[at]),
            addr: place.addr,
            access: slot.access,
            region: regions.bounds(scope, place.thread, first, last),
        }
    };
    Candidate {
        class: pattern.class,
        pattern: pattern.name.clone(),
        adjacent: pattern.adjacent,
        steps: (0..pattern.slots.len()).map(step).collect(),
        scope: key.scope,
        instance: number,
    }
}
