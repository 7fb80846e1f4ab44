//! The whole way from a trace to candidates.

use std::collections::BTreeSet;

use norn_model::{
    Access, BugClass, Candidate, FunctionPattern, Op, Scope, SiteId, Step, ThreadId, Trace, mutexes,
};
use rayon::prelude::*;

use crate::{
    AtomicSet, Pattern, Region, Remark,
    access::{Touch, Touches, accessed},
    couple::Couples,
    deadlock::deadlocks,
    general::Field,
    group::Groups,
    interval::Rules,
    keep::{Instance, Kept, Key},
    life::{Lives, blocks},
    lifetime::Freed,
    lockset::Sets,
    moment::Moments,
    order::{Meetings, Order},
    outline::Outline,
    region::{Regions, marked},
    search::Search,
    section::Sections,
    sieve::{GRANULE, Sieve},
    spin::spins,
    steal::Steals,
    teardown,
    timeout::timeouts,
    violation,
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
    /// Functions whose calls are to be atomic, as far as their calls are recorded.
    pub functions: Vec<FunctionPattern>,
    /// Which variables belong together; if there is none, those that are used together.
    pub sets: Vec<AtomicSet>,
    /// Whether deadlocks are looked for.
    pub deadlocks: bool,
    /// Whether order violations are looked for.
    pub order: bool,
}

impl Default for Options {
    /// The built-in patterns.
    fn default() -> Self {
        Options {
            patterns: Pattern::built_in(),
            instances: 4,
            unmarked: true,
            regions: Vec::new(),
            functions: Vec::new(),
            sets: Vec::new(),
            deadlocks: true,
            order: true,
        }
    }
}

/// What a trace allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// The anomalies: those with a strong reason to be one first, then the cheap ones; instances
    /// with the same sites follow each other.
    pub candidates: Vec<Candidate>,
    /// Order violations, which are tried later, and what is known of each; those that a program
    /// seems to expect come last.
    pub violations: Vec<(Candidate, Remark)>,
    /// How many accesses to shared memory there are.
    pub shared: u64,
    /// The search for a pattern or for deadlocks was given up before its end.
    pub incomplete: bool,
    /// Threads whose accesses were not looked at: there are too many threads.
    pub skipped: Vec<ThreadId>,
    /// What else was not looked at.
    pub limits: Limits,
}

/// What was not looked at, so that the search comes to an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Accesses to so many bytes that only some of them were looked at.
    pub sampled: u64,
    /// Pairs of accesses to two variables that were left out, since the same two places in the code
    /// have met so many other variables.
    pub couples: u64,
    /// Patterns for which the search was given up before its end.
    pub patterns: Vec<String>,
    /// Places where a thread may wait that were left out of the search for deadlocks, or from
    /// which not all others were looked at.
    pub requests: u64,
}

impl Limits {
    /// Whether all was looked at.
    pub fn is_complete(&self) -> bool {
        let searched = self.patterns.is_empty() && self.requests == 0;
        self.sampled == 0 && self.couples == 0 && searched
    }
}

/// Threads are counted with 16 bits.
const MOST_THREADS: usize = u16::MAX as usize;

/// Looks for anomalies.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    let sieve = Sieve::new(trace);
    let threads = &trace.threads[..trace.threads.len().min(MOST_THREADS)];
    let (mut outlines, semaphores) = outlines(trace, &sieve);
    let sets = Sets::unite(&mut outlines);
    let (plain, forced) = rayon::join(
        || Order::new(trace, &outlines, Meetings::All),
        || Order::new(trace, &outlines, Meetings::Forced),
    );
    let wanted = [marked(trace, &options.functions), options.regions.clone()].concat();
    let regions = Regions::new(trace, &outlines, &wanted);
    let orders = [&plain, &forced];
    let field = Field { sets: &sets, outlines: &outlines, regions: &regions, orders };

    let weaves: Vec<_> =
        options.patterns.iter().enumerate().filter_map(|(at, it)| Weave::new(at, it)).collect();
    let wide = weaves.iter().any(|it| it.width == 2);
    let blocks = blocks(trace, &outlines);
    let frees = options.patterns.iter().any(Pattern::frees);
    let freed = if frees { Freed::new(&blocks) } else { Freed::default() };
    let sets = wide.then_some(&options.sets);
    let (Touches { shared: mut all, mut uses, sampled }, Couples { all: mut pairs, left_out }) =
        accesses(threads, field, &sieve, &freed, sets);
    drop(sieve);
    let site = |thread: u16, index: u32| {
        let event = &trace.threads[usize::from(thread)].events[index as usize];
        (event.site.0, event.stack.0)
    };
    uses.extend(freed.frees(&uses, &outlines, site));
    uses.par_sort_unstable_by_key(|it| (it.granule, it.thread, it.index));
    all.par_sort_unstable_by_key(|it| (it.granule, it.thread, it.index));
    pairs.par_sort_unstable_by_key(|it| {
        (it.variables(), it.touches.map(|it| (it.thread, it.index)))
    });
    let mut granules: Vec<_> = all.iter().map(|it| it.granule).collect();
    granules.dedup();
    let search = Search {
        trace,
        field,
        lives: Lives::new(&blocks, &granules),
        patterns: &options.patterns,
        weaves,
        instances: options.instances,
        unmarked: options.unmarked,
    };
    let violations = options.order.then(|| violations(&search, &all));
    let (general, patterns) = search.generals(&all, &uses);
    let kept = search.singles(&all).merge(search.couples(&pairs));
    let kept = kept.merge(search.blocks(&uses)).merge(general);
    let stuck = || deadlocks(trace, &forced, &semaphores, options.instances);
    let dead = options.deadlocks.then(stuck).unwrap_or_default();
    let limits = Limits { sampled, couples: left_out, patterns, requests: dead.left_out };
    let expired = expiring(&search, options);
    let others = found(&search, &all, candidates(trace, &options.patterns, &regions, kept));
    Prediction {
        candidates: dead.candidates.into_iter().chain(expired).chain(others).collect(),
        violations: violations.map_or_else(Vec::new, |it| violation::candidates(trace, it)),
        shared: all.len() as u64,
        incomplete: !limits.patterns.is_empty() || limits.requests > 0,
        skipped: trace.threads[threads.len()..].iter().map(|it| it.id).collect(),
        limits,
    }
}

/// The order violations among accesses to shared memory, which are sorted by variable.
fn violations(search: &Search<'_>, touches: &[Touch]) -> Groups {
    let Field { sets, outlines, orders, .. } = search.field;
    let (sections, moments) =
        rayon::join(|| Sections::new(outlines, sets), || Moments::new(search.trace));
    let rules = Rules { sets, sections: &sections, orders };
    let granules = touches.par_chunk_by(|a, b| a.granule == b.granule);
    let variables = granules.flat_map_iter(|it| search.lives(it));
    let Search { trace, instances, .. } = *search;
    let moments = &moments;
    let mut objects = Groups::new(instances);
    teardown::Search { trace, outlines, rules, moments }.objects(&mut objects);
    let search = violation::Search { trace, outlines, rules, moments };
    search.variables(variables, instances).merge(objects)
}

/// Stolen wake-ups among accesses to shared memory, which are sorted by variable; they are looked for
/// together with the patterns of their class.
fn stolen(search: &Search<'_>, touches: &[Touch]) -> Vec<Candidate> {
    let Search { trace, field, patterns, instances, .. } = search;
    if !patterns.iter().any(|it| it.class() == BugClass::Atomicity) {
        return Vec::new();
    }
    let granules = touches.par_chunk_by(|a, b| a.granule == b.granule);
    let variables = granules.flat_map_iter(|it| search.lives(it));
    Steals::new(trace, *field, *instances).search(variables)
}

/// Waits whose time can run out; they are looked for together with order violations.
fn expiring(search: &Search<'_>, options: &Options) -> Vec<Candidate> {
    let all = || timeouts(search.trace, search.field, search.instances);
    options.order.then(all).unwrap_or_default()
}

/// The outlines of all threads, and the semaphores that are locks. Which these are is only known when
/// all are there, so those who use such ones are gone over again.
pub(crate) fn outlines(trace: &Trace, sieve: &Sieve) -> (Vec<Outline>, BTreeSet<u64>) {
    let outline = |number: usize, semaphores: &BTreeSet<u64>| {
        Outline::new(u32::try_from(number).unwrap_or(0), &trace.threads[number], sieve, semaphores)
    };
    let none = BTreeSet::new();
    let numbers = 0..trace.threads.len();
    let mut outlines: Vec<_> = numbers.into_par_iter().map(|it| outline(it, &none)).collect();
    let meetings = |number: usize, outline: &Outline| {
        let thread = &trace.threads[number];
        let ops = outline.meetings.iter().map(|it| &thread.events[*it as usize].op);
        ops.map(|it| (thread.id, it)).collect::<Vec<_>>()
    };
    let all = outlines.iter().enumerate().flat_map(|(number, it)| meetings(number, it));
    let locks = mutexes(all);
    if !locks.is_empty() {
        outlines.par_iter_mut().enumerate().for_each(|(number, it)| *it = outline(number, &locks));
    }
    (outlines, locks)
}

/// The accesses of all threads to shared memory, and, if wanted, the couples among them.
fn accesses(
    threads: &[norn_model::Thread],
    field: Field<'_>,
    sieve: &Sieve,
    freed: &Freed<'_>,
    given: Option<&Vec<AtomicSet>>,
) -> (Touches, Couples) {
    let each = threads.par_iter().enumerate().map(|(number, thread)| {
        let outline = &field.outlines[number];
        let name = u16::try_from(number).unwrap_or(0);
        let touches = Touches::new(name, thread, outline, sieve, freed);
        let couples = given
            .map(|given| Couples::new(&touches.shared, outline, field.sets, field.regions, given))
            .unwrap_or_default();
        (touches, couples)
    });
    each.reduce(Default::default, |(mut touches, mut couples), (more, others)| {
        touches.shared.extend(more.shared);
        touches.uses.extend(more.uses);
        touches.sampled += more.sampled;
        couples.all.extend(others.all);
        couples.left_out += others.left_out;
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
        let event = &trace.threads[usize::from(place.thread)].events[place.index as usize];
        let own = accessed(&event.op);
        Step {
            event: event.id,
            site: SiteId(key.sites[at]),
            // What has a whole block for a variable has an address of its own.
            addr: if pattern.frees() { address(&event.op) } else { place.addr },
            access: own.map_or(Access::Free, |(_, _, kind)| kind.access(slot.deed)),
            region: regions.bounds(scope, place.thread, first, last),
        }
    };
    Candidate {
        kind: pattern.kind.clone(),
        adjacent: pattern.adjacent,
        steps: (0..pattern.slots.len()).map(step).collect(),
        stuck: Vec::new(),
        scope: key.scope,
        instance: number,
    }
}

/// Stolen wake-ups, and the candidates that patterns gave. Variables that lie in the same eight bytes
/// are often used together by chance: they come later. Candidates with a read that its thread
/// repeats until it sees something else come last; to races that does not matter.
fn found(search: &Search<'_>, touches: &[Touch], mut others: Vec<Candidate>) -> Vec<Candidate> {
    let spins = spins(search.trace, touches);
    others.sort_by_key(|it| {
        let mut reads = it.steps.iter().filter(|it| it.access == Access::Read);
        let spins = it.class() != BugClass::Race && reads.any(|it| spins.contains(&it.site.0));
        let granules = || it.steps.iter().map(|it| it.addr / GRANULE);
        let close = it.class() == BugClass::AtomicSet && granules().is_sorted_by(|a, b| a == b);
        (spins, close)
    });
    let mut found = stolen(search, touches);
    found.extend(others);
    found
}

/// Which memory an event is about.
fn address(op: &Op) -> u64 {
    match *op {
        Op::Free { addr } | Op::Unmap { addr, .. } => addr,
        ref op => accessed(op).map_or(0, |it| it.0),
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use super::*;

    fn limits(trace: &str, options: &Options) -> Limits {
        predict(&text::parse(trace).unwrap_or_default(), options).limits
    }

    #[test]
    fn what_is_not_looked_at_is_said() {
        let options = Options::default();
        assert!(limits("T1 w x:512 \nT2 w x:8", &options).is_complete());
        assert_eq!(limits("T1 w x:2048\nT2 w x:8", &options).sampled, 1);
        let accesses = |thread: &str, object: usize| {
            format!("{thread} w a{object} @ one\n{thread} w b{object} @ other\n")
        };
        let many: String =
            ["T1", "T2"].iter().flat_map(|it| (0..300).map(|at| accesses(it, at))).collect();
        assert_ne!(limits(&many, &options).couples, 0);
        let patterns =
            Pattern::parse("pattern three\n a w x\n b w y\n c w z\n").unwrap_or_default();
        let options = Options { patterns, ..options };
        let many: String =
            ["T1", "T2", "T3"].iter().flat_map(|it| (0..200).map(|at| accesses(it, at))).collect();
        assert_eq!(limits(&many, &options).patterns, ["three"]);
    }

    #[test]
    fn a_tangle_of_locks_is_given_up() {
        let options = Options { patterns: Vec::new(), ..Options::default() };
        let prediction = predict(&norn_testkit::nested(8, 50_000, false), &options);
        assert_ne!(prediction.limits.requests, 0);
        assert!(prediction.incomplete && !prediction.candidates.is_empty());
        let prediction = predict(&norn_testkit::nested(8, 50_000, true), &options);
        assert!(prediction.limits.is_complete() && prediction.candidates.is_empty());
    }
}
