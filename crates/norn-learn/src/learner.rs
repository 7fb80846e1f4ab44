//! Collects what holds over many runs.

use std::collections::BTreeMap;

use norn_model::Trace;

use crate::{
    Invariant, Names, Property, ReadPoint, Support,
    array_sum::ArraySum,
    constant::Constant,
    equality::Equality,
    monotone::Monotone,
    non_zero::NonZero,
    one_of::OneOf,
    ordering::Ordering,
    range::Range,
    sample::{Read, Unit, shared_addresses, units},
};

/// Maximum number of points of a unit that are compared with each other.
const MOST_POINTS: usize = 16;

/// Learns likely invariants from the traces of passing runs.
#[derive(Debug, Default)]
pub struct Learner {
    points: BTreeMap<ReadPoint, PointState>,
    pairs: BTreeMap<(ReadPoint, ReadPoint), PairState>,
    sums: BTreeMap<(ReadPoint, ReadPoint), SumState>,
    /// Number of runs so far.
    runs: u64,
}

/// What holds at a read.
#[derive(Debug, Default)]
struct PointState {
    count: Count,
    has_addresses: bool,
    constant: Constant,
    one_of: OneOf,
    range: Range,
    non_zero: NonZero,
    monotone: Monotone,
}

/// What holds for two variables that are read together.
#[derive(Debug, Default)]
struct PairState {
    count: Count,
    equality: Equality,
    ordering: Ordering,
}

/// What holds for a variable and an array that are read together.
#[derive(Debug, Default)]
struct SumState {
    count: Count,
    sum: ArraySum,
}

/// Counts reads and the runs that they are in.
#[derive(Debug, Default)]
struct Count {
    support: Support,
    /// The number of the last run.
    last: u64,
}

impl Count {
    fn add(&mut self, run: u64) {
        self.support.reads += 1;
        self.support.runs += u64::from(self.last != run);
        self.last = run;
    }
}

impl Learner {
    /// Number of runs so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Adds a passing run.
    pub fn add(&mut self, trace: &Trace, names: &dyn Names) {
        self.runs += 1;
        let shared = shared_addresses(trace);
        for thread in &trace.threads {
            let mut before: BTreeMap<(ReadPoint, u64), i64> = BTreeMap::new();
            for unit in units(thread, &shared, names) {
                for read in &unit {
                    let last = before.insert((read.point.clone(), read.addr), read.value);
                    self.see(read, last);
                }
                self.see_together(&unit);
            }
        }
    }

    fn see(&mut self, read: &Read, before: Option<i64>) {
        let state = self.points.entry(read.point.clone()).or_default();
        state.count.add(self.runs);
        state.has_addresses |= read.is_address;
        state.constant.see(read.value);
        state.one_of.see(read.value);
        state.range.see(read.value);
        state.non_zero.see(read.value);
        if let Some(before) = before {
            state.monotone.see(before, read.value);
        }
    }

    /// Compares the variables of a unit, each with the value that was read last.
    fn see_together(&mut self, unit: &Unit) {
        let mut values: BTreeMap<&ReadPoint, BTreeMap<u64, i64>> = BTreeMap::new();
        for read in unit {
            values.entry(&read.point).or_default().insert(read.addr, read.value);
        }
        if values.len() > MOST_POINTS {
            return;
        }
        let single =
            |it: &BTreeMap<u64, i64>| it.values().next().copied().filter(|_| it.len() == 1);
        for (&one, elements) in &values {
            let Some(value) = single(elements) else { continue };
            for (&other, elements) in values.iter().filter(|it| *it.0 != one) {
                let key = || (one.clone(), other.clone());
                match single(elements) {
                    Some(second) if one < other => {
                        let pair = self.pairs.entry(key()).or_default();
                        pair.count.add(self.runs);
                        pair.equality.see(value, second);
                        pair.ordering.see(value, second);
                    }
                    Some(_) => {}
                    None => {
                        let state = self.sums.entry(key()).or_default();
                        state.count.add(self.runs);
                        state.sum.see(value, elements.values().copied());
                    }
                }
            }
        }
    }

    /// What always held, the best supported first.
    pub fn invariants(&self) -> Vec<Invariant> {
        let mut all: Vec<Invariant> = Vec::new();
        for (point, state) in &self.points {
            let invariant = |property| Invariant {
                point: point.clone(),
                property,
                support: state.count.support,
            };
            all.extend(state.properties().into_iter().map(invariant));
        }
        for ((one, other), state) in &self.pairs {
            all.extend(state.invariant(one, other, self.has_addresses(one)));
        }
        for ((total, array), state) in &self.sums {
            let (point, support) = (total.clone(), state.count.support);
            let invariant = |property| Invariant { point, property, support };
            all.extend(state.sum.property(array).map(invariant));
        }
        all.sort_by(|a, b| {
            let key = |it: &Invariant| (it.support.runs, it.support.reads);
            key(b).cmp(&key(a)).then_with(|| (&a.point, &a.property).cmp(&(&b.point, &b.property)))
        });
        all
    }

    fn has_addresses(&self, point: &ReadPoint) -> bool {
        self.points.get(point).is_some_and(|it| it.has_addresses)
    }
}

impl PointState {
    /// What held, without what follows from the rest: a constant is in every range. The values of
    /// pointers differ from run to run.
    fn properties(&self) -> Vec<Property> {
        let non_zero = self.non_zero.property();
        if self.has_addresses {
            return non_zero.into_iter().collect();
        }
        if let Some(constant) = self.constant.property() {
            return vec![constant];
        }
        let values = self.one_of.property().or_else(|| self.range.property());
        let implied = match &values {
            Some(Property::OneOf(_)) => true,
            Some(Property::Range(low, high)) => *low > 0 || *high < 0,
            _ => false,
        };
        let non_zero = non_zero.filter(|_| !implied);
        values.into_iter().chain(non_zero).chain(self.monotone.property()).collect()
    }
}

impl PairState {
    fn invariant(&self, one: &ReadPoint, other: &ReadPoint, addresses: bool) -> Option<Invariant> {
        let support = self.count.support;
        let invariant =
            |point: &ReadPoint, property| Invariant { point: point.clone(), property, support };
        if let Some(equal) = self.equality.property(other) {
            return Some(invariant(one, equal));
        }
        // Which of two blocks of memory comes first says nothing.
        if addresses {
            return None;
        }
        let at_most = self.ordering.at_most(other).map(|it| invariant(one, it));
        at_most.or_else(|| self.ordering.reversed().at_most(one).map(|it| invariant(other, it)))
    }
}
