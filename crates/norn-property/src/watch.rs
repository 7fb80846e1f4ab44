//! The analysis of one property in one trace: its instances, the violations in the recorded order, and
//! candidates for violations in other orders.

use norn_model::{Apart, EventId, ThreadId, Trace};
use norn_predict::HappensBefore;
use rustc_hash::FxHashMap;

use crate::{
    Bounds, Breach, Instance, Limits, Occurrence, Property, Prospect, Slices, Variables, monitor,
    search::{self, ViolationSearch},
};

/// The result of predicting violations of a property from a trace.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    /// Candidates for violations, cheapest first; those at the same sites are adjacent.
    pub prospects: Vec<Prospect>,
    /// Violations in the recorded run itself.
    pub observed: Vec<Observed>,
    /// Instances of the property.
    pub instances: usize,
    /// By event of the property: how often it occurred.
    pub counts: Vec<u64>,
    /// What the search left out.
    pub bounds: Bounds,
}

/// A violation in the recorded run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// What the parameters stand for.
    pub values: Vec<u64>,
    /// The events that violate the property.
    pub breach: Breach,
}

/// One property in one trace.
#[derive(Debug)]
pub struct Watch<'a> {
    property: &'a Property,
    slices: Slices,
}

impl<'a> Watch<'a> {
    /// Slices the trace into instances.
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

    /// The violations in the recorded run.
    pub fn observed(&self) -> Vec<Observed> {
        let all = self.slices.instances.iter();
        all.filter_map(|it| {
            let breach = monitor::breach(self.property, it)?;
            Some(Observed { values: it.values.clone(), breach })
        })
        .collect()
    }

    /// Predicts violations in other orders of the recorded events.
    pub fn outlook(&self, order: &HappensBefore, limits: Limits) -> Outlook {
        let mut search = ViolationSearch::new(order, limits);
        for instance in &self.slices.instances {
            if has_threads(instance) {
                for linear in 0..self.property.linear_patterns.len() {
                    search.linear(self.property, instance, linear);
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

    /// Events that must not occur between the events of a prospect.
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
            let times = ScheduleTimes::new(turns);
            let due = |it: &Occurrence| Some(Occurrence { time: times.of(it.id)?, ..*it });
            let mut events: Vec<_> = instance.occurrences.iter().filter_map(due).collect();
            events.sort_by_key(|it| it.time);
            monitor::breach_in(self.property, &events).is_some()
        })
    }
}

/// The positions of the events of a schedule.
#[derive(Debug, Default)]
struct ScheduleTimes {
    /// By thread: from which event on, until before which, and when the first of these happens.
    turns: FxHashMap<ThreadId, Vec<(u64, u64, u64)>>,
}

impl ScheduleTimes {
    fn new(turns: impl IntoIterator<Item = (ThreadId, u64)>) -> ScheduleTimes {
        let mut times = ScheduleTimes::default();
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

/// Whether an instance has events of several threads; the order within one thread never changes.
fn has_threads(instance: &Instance) -> bool {
    let first = instance.occurrences.first().map(|it| it.id.thread);
    instance.occurrences.iter().any(|it| Some(it.id.thread) != first)
}
