//! Compares predictions on random tiny traces with brute force over all orders.

use std::collections::BTreeSet;

use norn_model::{Trace, text};
use norn_property::{Property, PropertyAnalysis, SearchLimits};
use norn_testkit::{Shape, traces};
use norn_witness::Grade;
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, FailurePersistence, FileFailurePersistence, TestRunner},
};

use crate::{kit, oracle};

/// Seeds of failures are stored here and tried first in every run.
const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/property.txt");

/// Patterns that use all features of the language, over reads and writes of a variable.
const PATTERNS: [&str; 26] = [
    "r(t1) w(t2)",
    "w(t1) r(t2) w(t1)",
    "r(t1) || w(t2)",
    "w || w",
    "r(t1) w(t1) || w(t2)",
    "r w || r w",
    "w(t1)+ || r(t2)",
    "(r | w w) || w(t2)?  r(t2)",
    "r(t1) !w r(t1) || r(t2) w",
    "!w r(t1) || !r w(t2)",
    "w(t1) !r w(t2)",
    "r(t1) !w(t1) w(t2)",
    "w(t1) !w(t2) r(t1)",
    "!r(t1) w(t1) !r(t1) w(t2) r(t1)",
    "!w r (r !w | w !r) w(t1)",
    "begin(t1,<r1) !w w(t2) !r end(t1,>r1)",
    "w !r w(t1) r(t2)",
    "r w* r(t1) w(t2)+",
    "!(r w w)",
    "w(t1) (r(t2) | w(t2))+ w(t1)?",
    "w (!r w)+ r",
    "!w r",
    "w !(r | w) w(t1) r(t2)",
    "r(t1) && w(t2)",
    "(r(t1) w(t1) && w(t2)) r",
    "begin(t1,<r1) r(t1)? w(t2) end(t1,>r1)",
];

const SHAPE: Shape = Shape {
    threads: 2,
    pieces: 2,
    nested: true,
    waits: false,
    channels: false,
    handlers: false,
    nests: 0,
    frees: false,
    objects: false,
    rich: false,
    weak: false,
    events: 11,
};

fn property(pattern: &str) -> Property {
    kit::property(&format!(
        "Test(v) {{
           event r: read v
           event w: write v
           event begin: lock a
           event end: unlock a
           pattern: {pattern}
         }}"
    ))
}

fn cases() -> u32 {
    std::env::var("NORN_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(200)
}

/// The results of a comparison.
#[derive(Debug, Default)]
struct Tally {
    /// Number of instances that some order violates, but not the recorded one.
    real: usize,
    /// Of these, number of instances with a sound schedule.
    sound: usize,
    /// Of these, number of instances with any schedule.
    found: usize,
}

/// Practically unlimited for tiny traces.
const WIDE: SearchLimits = SearchLimits {
    events_per_site: 100,
    candidates_per_finding: 10_000,
    candidates_per_instance: 10_000,
    steps: 100_000_000,
};

/// Fails if a prediction is impossible, or if a possible violation is not even proposed.
fn compare(
    property: &Property,
    trace: &Trace,
    limits: SearchLimits,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let (prediction, predicted) = kit::predict_within(property, trace, limits);
    let observed: BTreeSet<_> = prediction.observed.iter().map(|it| &it.values).collect();
    let proposed: BTreeSet<_> = prediction.predicted.iter().map(|it| &it.values).collect();
    for instance in PropertyAnalysis::new(property, trace, &trace.symbols).instances() {
        let values = &instance.values;
        let real = oracle::can_violate(property, instance, trace);
        let mine = || predicted.iter().filter(|it| it.violation.values == *values);
        let sound = mine().any(|it| it.witness.grade == Grade::Sound);
        prop_assert!(real || !sound, "{values:x?} cannot be broken");
        prop_assert!(real || !observed.contains(values), "{values:x?} was not broken");
        if real && !observed.contains(values) {
            prop_assert!(proposed.contains(values), "{values:x?} was not proposed");
            tally.real += 1;
            tally.sound += usize::from(sound);
            tally.found += usize::from(mine().next().is_some());
        }
    }
    Ok(())
}

#[test]
fn predictions_agree_with_brute_force() {
    let persistence = FileFailurePersistence::Direct(REGRESSIONS);
    let failure_persistence = Some(Box::new(persistence) as Box<dyn FailurePersistence>);
    let config = Config { cases: cases(), failure_persistence, ..Config::default() };
    let texts = traces(SHAPE).prop_map(|it| text::print(&it));
    for pattern in PATTERNS {
        let property = property(pattern);
        proptest!(config.clone(), |(trace in &texts)| {
            let mut tally = Tally::default();
            compare(&property, &text::parse(&trace).unwrap(), WIDE, &mut tally)?;
            prop_assert_eq!(tally.real, tally.sound, "{} can be, too", pattern);
        });
    }
}

/// The share of the possible violations that is found within the default limits. It may only grow.
#[test]
fn default_limits_find_most_possible_violations() {
    let mut all = Tally::default();
    for pattern in PATTERNS {
        let property = property(pattern);
        let mut runner = TestRunner::deterministic();
        for _ in 0..cases() {
            let trace = traces(SHAPE).new_tree(&mut runner).unwrap().current();
            compare(&property, &trace, SearchLimits::default(), &mut all).unwrap();
        }
    }
    let share = |count: usize| 100 * count / all.real.max(1);
    assert!(all.real > 100, "{all:?}");
    assert!(share(all.sound) >= 95, "{all:?}");
    assert!(share(all.found) >= 98, "{all:?}");
}
