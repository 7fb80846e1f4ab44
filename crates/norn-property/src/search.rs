//! Searches a trace for candidates: events of one instance in an order that would violate a
//! property and that the happens-before order permits.
//!
//! The events of a linear pattern are chosen one after another. Of events that only differ in time
//! (same thread, same site) a few are enough, the earliest that fit. Their number, and the number
//! of search steps, is limited; the result states which limits were reached.

use std::collections::BTreeMap;

use norn_model::{Access, Apart, Candidate, CandidateKind, EventId, Scope, SiteId, Step, ThreadId};
use norn_predict::HappensBefore;

use crate::{
    Exclusion, Instance, LinearPattern, Occurrence, Property, SearchLimits, Truncation,
    syntax::{Edge, Item},
};

/// A predicted violation: events in an order that would violate a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedViolation {
    /// The values of the parameters.
    pub values: Vec<u64>,
    /// The events.
    pub candidate: Candidate,
    /// By event of the candidate: its event in the property. After the events of the pattern come
    /// excluded events that are forced to occur later.
    pub roles: Vec<usize>,
    /// The events of the pattern, without the excluded ones.
    pub chosen: Vec<EventId>,
    /// The index of the linear pattern in the property.
    pub linear: usize,
    /// The finding that it belongs to: violations with the same sites are one finding.
    pub group: usize,
}

/// Violations with equal keys are one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    items: Vec<Item>,
    sites: Vec<SiteId>,
}

/// One choice of events for a linear pattern. A smaller one is cheaper to try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventChoice {
    /// Number of events of the recorded run up to the last chosen one.
    cost: u64,
    /// Of two simultaneous events, the read comes last, because its thread is more likely to fail.
    reads_first: bool,
    /// Number of excluded events that are forced to occur later.
    later: usize,
    steps: Vec<(Step, usize)>,
    values: Vec<u64>,
    chosen: Vec<EventId>,
    linear: usize,
    adjacent: bool,
}

pub(crate) struct ViolationSearch<'a> {
    order: &'a HappensBefore,
    limits: SearchLimits,
    /// Number of steps left.
    steps: u64,
    truncation: Truncation,
    found: BTreeMap<FindingKey, Vec<EventChoice>>,
}

/// The state of the search for one linear pattern in one instance.
struct PartialChoice<'a> {
    values: &'a [u64],
    linear: &'a LinearPattern,
    /// The index of the linear pattern in the property.
    number: usize,
    occurrences: &'a [Occurrence],
    /// By event that begins a region: the event that ends it.
    ends: BTreeMap<EventId, EventId>,
    chosen: Vec<Occurrence>,
    threads: Vec<Option<ThreadId>>,
}

impl<'a> ViolationSearch<'a> {
    pub(crate) fn new(order: &'a HappensBefore, limits: SearchLimits) -> Self {
        let truncation = Truncation::default();
        ViolationSearch { order, limits, steps: limits.steps, truncation, found: BTreeMap::new() }
    }

    /// What the search left out.
    pub(crate) fn truncation(&self) -> Truncation {
        Truncation { out_of_steps: self.steps == 0, ..self.truncation }
    }

    /// Searches for one linear pattern in one instance.
    pub(crate) fn linear(&mut self, property: &Property, instance: &Instance, number: usize) {
        let linear = &property.linear_patterns[number];
        let mut partial = PartialChoice {
            values: &instance.values,
            linear,
            number,
            occurrences: &instance.occurrences,
            ends: ends(linear, &instance.occurrences),
            chosen: Vec::new(),
            threads: vec![None; property.definition.threads.len()],
        };
        self.extend(&mut partial);
    }

    /// Tries all events as the next one of a linear pattern.
    fn extend(&mut self, partial: &mut PartialChoice<'_>) {
        let Some(item) = partial.linear.items.get(partial.chosen.len()) else {
            self.keep(partial);
            return;
        };
        let mut alike: BTreeMap<(ThreadId, SiteId), usize> = BTreeMap::new();
        for occurrence in partial.occurrences {
            if self.steps == 0 {
                return;
            }
            if !partial.fits(item, occurrence) || self.is_late(partial, occurrence) {
                continue;
            }
            let alike = alike.entry((occurrence.id.thread, occurrence.site)).or_default();
            *alike += 1;
            if *alike > self.limits.events_per_site {
                self.truncation.events += 1;
                continue;
            }
            self.steps -= 1;
            let threads = partial.threads.clone();
            if let Some(thread) = item.thread {
                partial.threads[thread] = Some(occurrence.id.thread);
            }
            partial.chosen.push(*occurrence);
            self.extend(partial);
            partial.chosen.pop();
            partial.threads = threads;
        }
    }

    /// Whether the happens-before order places an event before one that was chosen earlier, or
    /// after one that it must be parallel to.
    fn is_late(&self, partial: &PartialChoice<'_>, occurrence: &Occurrence) -> bool {
        let (new, together) = (occurrence.id, partial.linear.adjacent);
        partial.chosen.iter().any(|it| {
            it.id == new
                || self.order.is_before(new, it.id)
                || together && self.order.is_before(it.id, new)
        })
    }

    /// Keeps a complete choice, and a variant in which the excluded events are forced to occur
    /// later.
    fn keep(&mut self, partial: &PartialChoice<'_>) {
        let recorded = partial.chosen.is_sorted_by_key(|it| it.time);
        if recorded && partial.linear.exclusions.is_empty() && !partial.linear.adjacent {
            // The recorded run itself contains this order.
            return;
        }
        if partial.linear.exclusions.iter().any(|it| self.is_unavoidable(partial, it)) {
            return;
        }
        let items = partial.chosen.iter().zip(&partial.linear.items);
        let chosen: Vec<_> = items.map(|(event, item)| (*event, item.event)).collect();
        self.add(partial, &chosen);
        if let Some(forced) = self.forced(partial) {
            self.add(partial, &forced);
        }
    }

    /// Whether an excluded event occurs in between in every order.
    fn is_unavoidable(&self, partial: &PartialChoice<'_>, exclusion: &Exclusion) -> bool {
        let (before, from) =
            (partial.chosen[exclusion.before], exclusion.after.map(|it| partial.chosen[it]));
        let inner = exclusion.after.map_or(0, |it| it + 1)..exclusion.before;
        partial.occurrences.iter().filter(|it| partial.is_excluded(exclusion, it)).any(|it| {
            let chosen = partial.chosen.iter().position(|other| other.id == it.id);
            chosen.is_some_and(|it| inner.contains(&it))
                || self.order.is_before(it.id, before.id)
                    && from.is_none_or(|from| self.order.is_before(from.id, it.id))
        })
    }

    /// The chosen events, each followed by the events excluded before it: the first of each thread.
    fn forced(&self, partial: &PartialChoice<'_>) -> Option<Vec<(Occurrence, usize)>> {
        let mut all = Vec::new();
        for (at, event) in partial.chosen.iter().enumerate() {
            all.push((*event, partial.linear.items[at].event));
            let mut threads = Vec::new();
            for exclusion in partial.linear.exclusions.iter().filter(|it| it.before == at) {
                let from = exclusion.after.map(|it| partial.chosen[it]);
                for it in partial.occurrences.iter().filter(|it| partial.is_excluded(exclusion, it))
                {
                    let settled = self.order.is_before(event.id, it.id)
                        || from.is_some_and(|from| self.order.is_before(it.id, from.id));
                    let taken = partial.chosen.iter().any(|other| other.id == it.id);
                    if settled || taken || threads.contains(&it.id.thread) {
                        continue;
                    }
                    if self.order.is_before(it.id, event.id) {
                        return None;
                    }
                    threads.push(it.id.thread);
                    all.push((*it, exclusion.item.event));
                }
            }
        }
        (all.len() > partial.chosen.len()).then_some(all)
    }

    fn add(&mut self, partial: &PartialChoice<'_>, steps: &[(Occurrence, usize)]) {
        let adjacent = partial.linear.adjacent;
        let mut key = FindingKey {
            items: partial.linear.items.clone(),
            sites: partial.chosen.iter().map(|it| it.site).collect(),
        };
        if !partial.linear.parts.is_empty() {
            let mut both: Vec<_> = key.items.iter().copied().zip(key.sites).collect();
            both.sort_unstable();
            (key.items, key.sites) = both.into_iter().unzip();
        }
        let choice = EventChoice {
            cost: steps.iter().map(|it| it.0.time).max().unwrap_or(0),
            reads_first: adjacent
                && partial.chosen.last().is_some_and(|it| it.access != Access::Read),
            later: steps.len() - partial.chosen.len(),
            steps: steps.iter().map(|(it, role)| (step(it), *role)).collect(),
            values: partial.values.to_vec(),
            chosen: partial.chosen.iter().map(|it| it.id).collect(),
            linear: partial.number,
            adjacent,
        };
        let kept = self.found.entry(key).or_default();
        let at = kept.partition_point(|it| *it < choice);
        if kept.get(at) == Some(&choice) {
            return;
        }
        let values = choice.values.clone();
        kept.insert(at, choice);
        // The most expensive choice of the same instance goes first, so that one instance does not
        // hide others.
        let same = |it: &EventChoice| it.values == values;
        if kept.iter().filter(|it| same(it)).count() > self.limits.candidates_per_instance
            && let Some(last) = kept.iter().rposition(same)
        {
            kept.remove(last);
            self.truncation.candidates += 1;
        }
        self.truncation.candidates +=
            kept.len().saturating_sub(self.limits.candidates_per_finding) as u64;
        kept.truncate(self.limits.candidates_per_finding);
    }

    /// The violations that were found.
    pub(crate) fn predicted(self, property: &Property) -> Vec<PredictedViolation> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|a, b| (a.1.first(), &a.0).cmp(&(b.1.first(), &b.0)));
        let mut predicted = Vec::new();
        for (group, (_, choices)) in found.into_iter().enumerate() {
            for (instance, choice) in (0..).zip(choices) {
                let (steps, roles) = choice.steps.into_iter().unzip();
                let candidate = Candidate {
                    kind: CandidateKind::Property(property.name().to_owned()),
                    adjacent: choice.adjacent,
                    steps,
                    stuck: Vec::new(),
                    scope: Scope::Marked,
                    instance,
                };
                let EventChoice { values, chosen, linear, .. } = choice;
                predicted.push(PredictedViolation {
                    values,
                    candidate,
                    roles,
                    chosen,
                    linear,
                    group,
                });
            }
        }
        predicted
    }
}

fn step(it: &Occurrence) -> Step {
    let region = (it.id.index, it.id.index);
    Step { event: it.id, site: it.site, addr: it.addr, access: it.access, region }
}

impl PartialChoice<'_> {
    /// Whether an event can be the next one of the linear pattern: its kind, thread and region fit.
    fn fits(&self, item: &Item, occurrence: &Occurrence) -> bool {
        if occurrence.event_set & (1 << item.event) == 0 {
            return false;
        }
        let by = Some(occurrence.id.thread);
        let part = self.linear.parts.get(self.chosen.len());
        let mut others = self.linear.parts.iter().zip(&self.chosen).filter(|it| Some(it.0) != part);
        if others.any(|(_, it)| it.id.thread == occurrence.id.thread) {
            return false;
        }
        if let Some(thread) = item.thread {
            let mut others = self.threads.iter().enumerate().filter(|(it, _)| *it != thread);
            if others.any(|(_, it)| *it == by)
                || self.threads[thread].is_some_and(|it| Some(it) != by)
            {
                return false;
            }
        }
        match item.region {
            Some((Edge::End, region)) => {
                let begins = |it: &Item| it.region == Some((Edge::Begin, region));
                let begin = self.linear.items.iter().position(begins);
                let begin = begin.and_then(|it| self.chosen.get(it)).map(|it| it.id);
                begin.is_some_and(|it| self.ends.get(&it) == Some(&occurrence.id))
            }
            Some((Edge::Begin, _)) => self.ends.contains_key(&occurrence.id),
            None => true,
        }
    }

    fn is_excluded(&self, exclusion: &Exclusion, occurrence: &Occurrence) -> bool {
        let chosen: Vec<_> = self.chosen.iter().map(|it| it.id).collect();
        is_excluded(self.linear, &chosen, exclusion, occurrence)
    }
}

/// Whether an exclusion applies to an event. A thread name is bound by the first event of the
/// pattern that mentions it.
fn is_excluded(
    linear: &LinearPattern,
    chosen: &[EventId],
    exclusion: &Exclusion,
    occurrence: &Occurrence,
) -> bool {
    let by = exclusion.item.thread.and_then(|name| {
        let mut earlier = linear.items.iter().zip(chosen).take(exclusion.before);
        earlier.find(|(it, _)| it.thread == Some(name)).map(|(_, it)| it.thread)
    });
    occurrence.event_set & (1 << exclusion.item.event) != 0
        && by.is_none_or(|it| it == occurrence.id.thread)
}

/// The events that must not occur between the events of a predicted violation.
pub(crate) fn aparts(
    property: &Property,
    instance: &Instance,
    violation: &PredictedViolation,
) -> Vec<Apart> {
    let (linear, chosen) = (&property.linear_patterns[violation.linear], &violation.chosen);
    let mut aparts = Vec::new();
    for exclusion in &linear.exclusions {
        let (after, before) = (exclusion.after.map(|it| chosen[it]), chosen[exclusion.before]);
        for it in
            instance.occurrences.iter().filter(|it| is_excluded(linear, chosen, exclusion, it))
        {
            let event = it.id;
            let early = after.is_some_and(|it| precedes(event, it));
            if !early && !precedes(before, event) && !chosen.contains(&event) {
                aparts.push(Apart { event, after, before });
            }
        }
    }
    aparts
}

/// Whether both events belong to one thread and the first precedes the second.
fn precedes(one: EventId, other: EventId) -> bool {
    one.thread == other.thread && one.index < other.index
}

/// By event that begins a region: the event that ends it. Regions of a thread nest.
fn ends(linear: &LinearPattern, occurrences: &[Occurrence]) -> BTreeMap<EventId, EventId> {
    let mut ends = BTreeMap::new();
    let mut open: BTreeMap<(ThreadId, usize), Vec<EventId>> = BTreeMap::new();
    for occurrence in occurrences {
        for item in &linear.items {
            let Some((edge, region)) = item.region else { continue };
            if occurrence.event_set & (1 << item.event) == 0 {
                continue;
            }
            let open = open.entry((occurrence.id.thread, region)).or_default();
            match edge {
                Edge::Begin => open.push(occurrence.id),
                Edge::End => {
                    if let Some(begin) = open.pop() {
                        ends.insert(begin, occurrence.id);
                    }
                }
            }
        }
    }
    ends
}
