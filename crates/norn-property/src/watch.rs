//! A property in one trace: what its instances are, whether they are broken, and by which other orders.

use norn_model::{Apart, EventId, ThreadId, Trace};
use norn_predict::HappensBefore;
use rustc_hash::FxHashMap;

use crate::{
    Bounds, Breach, Instance, Limits, Occurrence, Property, Prospect, Slices, Variables, monitor,
    search::{self, Search},
};

/// What a trace allows of what breaks a property.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    /// What might break it: the cheap ones first; those with the same places follow each other.
    pub prospects: Vec<Prospect>,
    /// Instances that the recorded run itself breaks.
    pub observed: Vec<Observed>,
    /// Instances of the property.
    pub instances: usize,
    /// By event of the property: how often it happened.
    pub counts: Vec<u64>,
    /// What the search left out.
    pub bounds: Bounds,
}

/// A property that the recorded run breaks.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What the parameters stand for.
    pub values: Vec<u64>,
    /// By what.
    pub breach: Breach,
}

/// A property in one trace: its instances, and what other orders hold.
#[derive(Debug)]
pub struct Watch<'a> {
    property: &'a Property,
    slices: Slices,
}

impl<'a> Watch<'a> {
    /// Goes through a trace.
    pub fn new(property: &'a Property, trace: &Trace, variables: &dyn Variables) -> Self {
        Watch { property, slices: Slices::new(property, trace, variables) }
    }

    /// The property.
    pub fn property(&self) -> &'a Property {
        self.property
    }

    /// Its instances.
    pub fn instances(&self) -> &[Instance] {
        &self.slices.instances
    }

    /// What the recorded run breaks.
    pub fn observed(&self) -> Vec<Observed> {
        let all = self.slices.instances.iter();
        all.filter_map(|it| {
            let breach = monitor::breach(self.property, it)?;
            Some(Observed { values: it.values.clone(), breach })
        })
        .collect()
    }

    /// What other orders would break.
    pub fn outlook(&self, order: &HappensBefore, limits: Limits) -> Outlook {
        let mut search = Search::new(order, limits);
        for instance in &self.slices.instances {
            if has_threads(instance) {
                for word in 0..self.property.words.len() {
                    search.word(self.property, instance, word);
                }
            }
        }
        Outlook {
            bounds: Bounds { instances: self.slices.cut, ..search.bounds() },
            prospects: search.prospects(self.property),
            observed: self.observed(),
            instances: self.slices.instances.len(),
            counts: self.slices.counts.clone(),
        }
    }

    /// What must not come between the events of a prospect.
    pub fn aparts(&self, prospect: &Prospect) -> Vec<Apart> {
        let instance = self.instance(prospect);
        instance.map_or_else(Vec::new, |it| search::aparts(self.property, it, prospect))
    }

    fn instance(&self, prospect: &Prospect) -> Option<&Instance> {
        let instances = &self.slices.instances;
        let at = instances.binary_search_by(|it| it.values.cmp(&prospect.values)).ok()?;
        instances.get(at)
    }

    /// Whether a schedule breaks the property for the instance that a prospect is about. A schedule is
    /// turns of threads, each until before one of the thread's events.
    pub fn is_broken(
        &self,
        prospect: &Prospect,
        turns: impl IntoIterator<Item = (ThreadId, u64)>,
    ) -> bool {
        self.instance(prospect).is_some_and(|instance| {
            let times = Times::new(turns);
            let due = |it: &Occurrence| Some(Occurrence { time: times.of(it.id)?, ..*it });
            let mut events: Vec<_> = instance.occurrences.iter().filter_map(due).collect();
            events.sort_by_key(|it| it.time);
            monitor::breach_in(self.property, &events).is_some()
        })
    }
}

/// When the events of a schedule happen.
#[derive(Debug, Default)]
struct Times {
    /// By thread: from which event on, until before which, and when the first of these happens.
    turns: FxHashMap<ThreadId, Vec<(u64, u64, u64)>>,
}

impl Times {
    fn new(turns: impl IntoIterator<Item = (ThreadId, u64)>) -> Times {
        let mut times = Times::default();
        let mut now = 0;
        for (thread, until) in turns {
            let turns = times.turns.entry(thread).or_default();
            let from = turns.last().map_or(0, |it| it.1);
            turns.push((from, until, now));
            now += until.saturating_sub(from);
        }
        times
    }

    fn of(&self, id: EventId) -> Option<u64> {
        let turns = self.turns.get(&id.thread)?;
        let (from, _, start) = turns.get(turns.partition_point(|it| it.1 <= id.index))?;
        Some(start + id.index - from)
    }
}

/// The order of one thread never changes.
fn has_threads(instance: &Instance) -> bool {
    let first = instance.occurrences.first().map(|it| it.id.thread);
    instance.occurrences.iter().any(|it| Some(it.id.thread) != first)
}
