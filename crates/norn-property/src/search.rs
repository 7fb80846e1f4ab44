//! From a trace to candidates: events of one instance in an order that would break a property, and that
//! no must-order forbids.
//!
//! The events of a linear pattern are chosen one after another. Of those that only differ in time (same
//! thread, same place in the code) a few are enough, the earliest that fit; how many, and how
//! many steps a search may take, is bounded, and a bound that was met is part of the result.

use std::collections::BTreeMap;

use norn_model::{Access, Apart, Candidate, CandidateKind, EventId, Scope, SiteId, Step, ThreadId};
use norn_predict::HappensBefore;

use crate::{
    Bounds, Exclusion, Instance, Limits, LinearPattern, Occurrence, Property,
    syntax::{Edge, Item},
};

/// Events in an order that would break a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prospect {
    /// What the parameters stand for.
    pub values: Vec<u64>,
    /// The events.
    pub candidate: Candidate,
    /// What each of them is for the property, counted as the property lists its events. Behind those of
    /// the pattern are some that must not come before.
    pub roles: Vec<usize>,
    /// The events of the pattern, without those that must not come before.
    pub chosen: Vec<EventId>,
    /// Which of the property's linear patterns they are.
    pub linear: usize,
    /// Which finding it belongs to: those with the same places are one.
    pub group: usize,
}

/// What makes two instances the same finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FindingKey {
    items: Vec<Item>,
    sites: Vec<SiteId>,
}

/// One choice to meet a linear pattern. What is less is cheaper to try.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EventChoice {
    /// How many events there are up to the last of them, in the recorded run.
    cost: u64,
    /// Of two simultaneous events, the read comes last, because its thread is more likely to fail.
    reads_first: bool,
    /// Events that are forced to come later.
    later: usize,
    steps: Vec<(Step, usize)>,
    values: Vec<u64>,
    chosen: Vec<EventId>,
    linear: usize,
    adjacent: bool,
}

pub(crate) struct ViolationSearch<'a> {
    order: &'a HappensBefore,
    limits: Limits,
    /// Steps that are left.
    steps: u64,
    bounds: Bounds,
    found: BTreeMap<FindingKey, Vec<EventChoice>>,
}

/// Where a search in one linear pattern of one instance is.
struct PartialChoice<'a> {
    values: &'a [u64],
    linear: &'a LinearPattern,
    /// Which of the property's linear patterns it is.
    number: usize,
    occurrences: &'a [Occurrence],
    /// Which event ends the region that another one begins.
    ends: BTreeMap<EventId, EventId>,
    chosen: Vec<Occurrence>,
    threads: Vec<Option<ThreadId>>,
}

impl<'a> ViolationSearch<'a> {
    pub(crate) fn new(order: &'a HappensBefore, limits: Limits) -> Self {
        let bounds = Bounds::default();
        ViolationSearch { order, limits, steps: limits.steps, bounds, found: BTreeMap::new() }
    }

    /// What was left out.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { steps: self.steps == 0, ..self.bounds }
    }

    /// Looks for one linear pattern in one instance.
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

    /// Chooses the next event of a linear pattern in all ways.
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
            if *alike > self.limits.alike {
                self.bounds.alike += 1;
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

    /// Whether an event must come before one that was chosen to come first; or behind one with which
    /// it is to happen at the same time.
    fn is_late(&self, partial: &PartialChoice<'_>, occurrence: &Occurrence) -> bool {
        let (new, together) = (occurrence.id, partial.linear.adjacent);
        partial.chosen.iter().any(|it| {
            it.id == new
                || self.order.is_before(new, it.id)
                || together && self.order.is_before(it.id, new)
        })
    }

    /// Keeps what was found, as it is and with what must not come in between made to come later.
    fn keep(&mut self, partial: &PartialChoice<'_>) {
        let recorded = partial.chosen.is_sorted_by_key(|it| it.time);
        if recorded && partial.linear.exclusions.is_empty() && !partial.linear.adjacent {
            // The recorded run has done that.
            return;
        }
        if partial.linear.exclusions.iter().any(|it| self.is_hopeless(partial, it)) {
            return;
        }
        let items = partial.chosen.iter().zip(&partial.linear.items);
        let chosen: Vec<_> = items.map(|(event, item)| (*event, item.event)).collect();
        self.add(partial, &chosen);
        if let Some(forced) = self.forced(partial) {
            self.add(partial, &forced);
        }
    }

    /// Whether something that must not come in between has to, whatever the order.
    fn is_hopeless(&self, partial: &PartialChoice<'_>, exclusion: &Exclusion) -> bool {
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

    /// The chosen events, and behind each what must not come before it: the first of each thread.
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
        // The dearest for the same objects goes first, so that one instance does not hide others.
        let same = |it: &EventChoice| it.values == values;
        if kept.iter().filter(|it| same(it)).count() > self.limits.same
            && let Some(last) = kept.iter().rposition(same)
        {
            kept.remove(last);
            self.bounds.ways += 1;
        }
        self.bounds.ways += kept.len().saturating_sub(self.limits.ways) as u64;
        kept.truncate(self.limits.ways);
    }

    /// What was found.
    pub(crate) fn prospects(self, property: &Property) -> Vec<Prospect> {
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.sort_by(|a, b| (a.1.first(), &a.0).cmp(&(b.1.first(), &b.0)));
        let mut prospects = Vec::new();
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
                prospects.push(Prospect { values, candidate, roles, chosen, linear, group });
            }
        }
        prospects
    }
}

fn step(it: &Occurrence) -> Step {
    let region = (it.id.index, it.id.index);
    Step { event: it.id, site: it.site, addr: it.addr, access: it.access, region }
}

impl PartialChoice<'_> {
    /// Whether an event can be the next of the linear pattern: its kind, its thread and its region
    /// fit.
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

/// Whether an event must not come where a exclusion is. A thread that has a name has it from the first
/// event on that the pattern gives it to.
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

/// What must not come between the events of a prospect.
pub(crate) fn aparts(property: &Property, instance: &Instance, prospect: &Prospect) -> Vec<Apart> {
    let (linear, chosen) = (&property.linear_patterns[prospect.linear], &prospect.chosen);
    let mut aparts = Vec::new();
    for exclusion in &linear.exclusions {
        let (after, before) = (exclusion.after.map(|it| chosen[it]), chosen[exclusion.before]);
        for it in
            instance.occurrences.iter().filter(|it| is_excluded(linear, chosen, exclusion, it))
        {
            let event = it.id;
            let early = after.is_some_and(|it| is_sooner(event, it));
            if !early && !is_sooner(before, event) && !chosen.contains(&event) {
                aparts.push(Apart { event, after, before });
            }
        }
    }
    aparts
}

/// Whether one event of a thread comes before another.
fn is_sooner(one: EventId, other: EventId) -> bool {
    one.thread == other.thread && one.index < other.index
}

/// Which events end the regions that others begin: within a thread they nest.
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
