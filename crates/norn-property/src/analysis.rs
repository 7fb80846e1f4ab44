//! The analysis of one property in one trace: its instances, the violations in the recorded order, and
//! candidates for violations in other orders.

use norn_model::{Apart, EventId, ThreadId, Trace};
use norn_predict::HappensBefore;
use rustc_hash::FxHashMap;

use crate::{
    Instance, Occurrence, PredictedViolation, Property, PropertyViolation, SearchLimits, Slices,
    Truncation, Variables, monitor,
    search::{self, ViolationSearch},
};

/// The result of predicting violations of a property from a trace.
#[derive(Clone, Debug, Default)]
pub struct PropertyPrediction {
    /// Candidates for violations, cheapest first; those at the same sites are adjacent.
    pub predicted: Vec<PredictedViolation>,
    /// Violations in the recorded run itself.
    pub observed: Vec<ObservedViolation>,
    /// Instances of the property.
    pub instances: usize,
    /// By event of the property: number of occurrences.
    pub counts: Vec<u64>,
    /// What the search left out.
    pub truncation: Truncation,
}

/// A violation in the recorded run.
#[derive(Clone, Debug)]
pub struct ObservedViolation {
    /// The values of the parameters.
    pub values: Vec<u64>,
    /// The events that violate the property.
    pub violation: PropertyViolation,
}

/// The analysis of one property in one trace.
#[derive(Debug)]
pub struct PropertyAnalysis<'a> {
    property: &'a Property,
    slices: Slices,
}

impl<'a> PropertyAnalysis<'a> {
    /// Slices the trace into instances.
    pub fn new(property: &'a Property, trace: &Trace, variables: &dyn Variables) -> Self {
        PropertyAnalysis { property, slices: Slices::new(property, trace, variables) }
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
    pub fn observed(&self) -> Vec<ObservedViolation> {
        let all = self.slices.instances.iter();
        all.filter_map(|it| {
            let violation = monitor::find_violation(self.property, it)?;
            Some(ObservedViolation { values: it.values.clone(), violation })
        })
        .collect()
    }

    /// Predicts violations in other orders of the recorded events.
    pub fn predict(&self, order: &HappensBefore, limits: SearchLimits) -> PropertyPrediction {
        let mut search = ViolationSearch::new(order, limits);
        for instance in &self.slices.instances {
            if has_threads(instance) {
                for linear in 0..self.property.linear_patterns.len() {
                    search.linear(self.property, instance, linear);
                }
            }
        }
        PropertyPrediction {
            truncation: Truncation { too_many_instances: self.slices.cut, ..search.truncation() },
            predicted: search.predicted(self.property),
            observed: self.observed(),
            instances: self.slices.instances.len(),
            counts: self.slices.counts.clone(),
        }
    }

    /// Events that must not occur between the events of a violation.
    pub fn aparts(&self, violation: &PredictedViolation) -> Vec<Apart> {
        let instance = self.instance(violation);
        instance.map_or_else(Vec::new, |it| search::aparts(self.property, it, violation))
    }

    fn instance(&self, violation: &PredictedViolation) -> Option<&Instance> {
        let instances = &self.slices.instances;
        let at = instances.binary_search_by(|it| it.values.cmp(&violation.values)).ok()?;
        instances.get(at)
    }

    /// Whether a schedule violates the property for the instance of a predicted violation. A
    /// schedule is a list of turns: thread, and index of the event before which its turn ends.
    pub fn is_violated_by(
        &self,
        violation: &PredictedViolation,
        turns: impl IntoIterator<Item = (ThreadId, u64)>,
    ) -> bool {
        self.instance(violation).is_some_and(|instance| {
            let times = ScheduleTimes::new(turns);
            let due = |it: &Occurrence| Some(Occurrence { time: times.of(it.id)?, ..*it });
            let mut events: Vec<_> = instance.occurrences.iter().filter_map(due).collect();
            events.sort_by_key(|it| it.time);
            monitor::find_violation_in(self.property, &events).is_some()
        })
    }
}

/// The positions of the events of a schedule.
#[derive(Debug, Default)]
struct ScheduleTimes {
    /// By thread: its turns, as first event, end (exclusive), and position of the first event.
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

/// Whether an instance has events of several threads. If not, no other order is possible.
fn has_threads(instance: &Instance) -> bool {
    let first = instance.occurrences.first().map(|it| it.id.thread);
    instance.occurrences.iter().any(|it| Some(it.id.thread) != first)
}
