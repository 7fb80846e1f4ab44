//! The analyses: one file each, over [facts](crate::facts) that they share.
//!
//! To add one, write its file with its [`AnalysisInfo`], add it to [`ANALYSES`], and add its kinds,
//! and if need be its class, to [`norn_model::CandidateKind`] and [`norn_model::BugClass`].

mod atomic_set;
mod atomicity;
mod dangerous_write;
mod deadlock;
mod descriptor;
mod info;
mod lifetime;
mod lock_misuse;
mod lost_wakeup;
mod order;
mod pattern;
mod race;
mod stolen_wakeup;
mod sync_object;
mod timeout;
mod user_pattern;

use norn_model::{Access, BugClass, Candidate, SiteId, Step, Trace};

use crate::{
    Danger, Options,
    access::{Kind, Touch},
    facts::Facts,
    outline::narrow,
    shared_filter::GRANULE,
    spin::spins,
    top_k::{EventPlace, Instance, Key},
    violation_groups::{Remark, ViolationGroups, candidates},
};

pub use self::info::{AnalysisInfo, KindInfo, TitleNames, analyses, title};

/// Finds candidates of one class.
pub(crate) trait Analysis: Sync {
    /// Its description.
    fn info(&self) -> &'static AnalysisInfo;

    /// Searches the trace of the facts.
    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found);
}

/// All analyses.
pub(crate) static ANALYSES: [&dyn Analysis; 14] = [
    &race::RACE,
    &atomicity::ATOMICITY,
    &stolen_wakeup::StolenWakeUp,
    &atomic_set::ATOMIC_SET,
    &lifetime::LIFETIME,
    &order::OrderViolation,
    &dangerous_write::DangerousWrite,
    &sync_object::SyncObject,
    &timeout::Timeout,
    &deadlock::Deadlock,
    &lost_wakeup::LostWakeUp,
    &lock_misuse::LockMisuse,
    &descriptor::Descriptor,
    &user_pattern::USER_PATTERN,
];

/// The priority of candidates; smaller ones are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    /// Few, and each of them is harmful.
    Stuck,
    /// A wait times out, and the thread continues without what it waited for.
    TimedOut,
    /// A wait times out although its wake-up comes.
    WokenLate,
    /// Another thread has consumed what a thread was woken for.
    Stolen,
    /// Accesses that match a pattern.
    Matched,
}

/// The results of the analyses.
#[derive(Debug)]
pub(crate) struct Found {
    groups: Vec<Group>,
    /// Order violations are sorted and counted separately.
    violations: ViolationGroups,
    /// Critical reads that can see something else.
    pub(crate) dangers: Vec<Danger>,
    /// Number of requests that the search for deadlocks has left out.
    pub(crate) requests_left_out: u64,
}

/// Candidates with the same sites.
#[derive(Debug)]
struct Group {
    priority: Priority,
    key: Key,
    cheapest: Instance,
    candidates: Vec<Candidate>,
}

impl Found {
    pub(crate) fn new(instances: usize) -> Self {
        let violations = ViolationGroups::new(instances);
        Found { groups: Vec::new(), violations, dangers: Vec::new(), requests_left_out: 0 }
    }

    /// Adds matches; the instances of each are sorted, and `candidate` gets the index of an
    /// instance among them.
    pub(crate) fn add(
        &mut self,
        priority: Priority,
        matches: impl IntoIterator<Item = (Key, Vec<Instance>)>,
        candidate: impl Fn(&Key, &Instance, u32) -> Candidate,
    ) {
        for (key, instances) in matches {
            let numbered = instances.iter().zip(0..);
            let candidates = numbered.map(|(it, number)| candidate(&key, it, number)).collect();
            let cheapest = instances.into_iter().min_by(|a, b| a.rank().cmp(&b.rank()));
            if let Some(cheapest) = cheapest {
                self.groups.push(Group { priority, key, cheapest, candidates });
            }
        }
    }

    /// Adds order violations.
    pub(crate) fn add_violations(&mut self, more: ViolationGroups) {
        let empty = ViolationGroups::new(0);
        self.violations = std::mem::replace(&mut self.violations, empty).merge(more);
    }

    /// Candidates and order violations, in the order in which they are tried. It does not depend on
    /// the order of the analyses.
    pub(crate) fn sorted(
        mut self,
        facts: &Facts<'_>,
    ) -> (Vec<Candidate>, Vec<(Candidate, Remark)>) {
        self.groups.sort_unstable_by(|a, b| {
            let key = |it: &Group| (it.priority, it.key.scope);
            key(a)
                .cmp(&key(b))
                .then_with(|| (a.cheapest.rank(), &a.key).cmp(&(b.cheapest.rank(), &b.key)))
        });
        let spins = spins(facts.trace, &facts.accesses.shared);
        let each = self
            .groups
            .into_iter()
            .flat_map(|group| group.candidates.into_iter().map(move |it| (group.priority, it)));
        let mut all: Vec<_> = each.collect();
        all.sort_by_key(|(priority, it)| {
            let matched = *priority == Priority::Matched;
            let late = matched.then(|| (spins_in(it, |site| spins.contains(&site)), is_close(it)));
            (*priority, late)
        });
        let violations = candidates(facts.trace, self.violations);
        (all.into_iter().map(|it| it.1).collect(), violations)
    }
}

/// Whether a candidate has a read that its thread repeats until it sees another value: the thread
/// is prepared for any value, so such candidates come last. This does not apply to races.
fn spins_in(candidate: &Candidate, spins: impl Fn(u32) -> bool) -> bool {
    let mut reads = candidate.steps.iter().filter(|it| it.access == Access::Read);
    candidate.class() != BugClass::Race && reads.any(|it| spins(it.site.0))
}

/// Whether a candidate has two variables in the same eight bytes, which are often accessed together
/// by chance.
fn is_close(candidate: &Candidate) -> bool {
    let mut granules = candidate.steps.iter().map(|it| it.addr / GRANULE);
    let first = granules.next();
    candidate.class() == BugClass::AtomicSet && granules.all(|it| Some(it) == first)
}

/// An event on an object, as an access to its first byte.
fn object_touch(facts: &Facts<'_>, (thread, index): (u16, usize), object: u64) -> Touch {
    let event = &facts.trace.threads[usize::from(thread)].events[index];
    let outline = &facts.sync.outlines[usize::from(thread)];
    let index = narrow(index);
    let change = outline.changes[outline.at(index)];
    Touch {
        granule: object / GRANULE,
        index,
        site: event.site.0,
        set: change.set,
        section: change.section,
        thread,
        mask: 1 << (object % GRANULE),
        kind: Kind::free(),
        stack: event.stack.0,
        epoch: outline.epoch(index),
    }
}

/// A step of a candidate for a single event.
fn single_step(trace: &Trace, place: &EventPlace, access: Access) -> Step {
    let event = &trace.threads[usize::from(place.thread)].events[place.index as usize];
    let region = (event.id.index, event.id.index);
    Step { event: event.id, site: SiteId(event.site.0), addr: place.addr, access, region }
}
