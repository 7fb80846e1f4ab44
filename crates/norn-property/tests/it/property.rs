//! On random tiny traces, against brute force over all orders.

use std::collections::BTreeSet;

use norn_model::{Trace, text};
use norn_property::{Limits, Property, Watch};
use norn_testkit::{Shape, traces};
use norn_witness::Grade;
use proptest::{
    prelude::*,
    strategy::ValueTree as _,
    test_runner::{Config, FailurePersistence, FileFailurePersistence, TestRunner},
};

use crate::{kit, oracle};

/// Seeds of failures are kept here, and tried first in every run.
const REGRESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/property.txt");

/// Patterns with all that the language has, over reads and writes of a variable.
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
    nests: 0,
    frees: false,
    rich: false,
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

/// What a case says: instances that can be broken, and what was found of them.
#[derive(Debug, Default)]
struct Tally {
    /// Instances that some order breaks, and the recorded one does not.
    real: usize,
    /// Of these, those with a schedule that keeps all values.
    sound: usize,
    /// Of these, those with any schedule.
    found: usize,
}

/// As good as none, for tiny traces.
const WIDE: Limits = Limits { alike: 100, ways: 10_000, same: 10_000, steps: 100_000_000 };

/// Compares; panics if something was predicted that cannot be, or not even proposed though it can.
fn compare(
    property: &Property,
    trace: &Trace,
    limits: Limits,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let (outlook, predicted) = kit::predict_within(property, trace, limits);
    let observed: BTreeSet<_> = outlook.observed.iter().map(|it| &it.values).collect();
    let proposed: BTreeSet<_> = outlook.prospects.iter().map(|it| &it.values).collect();
    for instance in Watch::new(property, trace, &trace.symbols).instances() {
        let values = &instance.values;
        let real = oracle::can_break(property, instance, trace);
        let mine = || predicted.iter().filter(|it| it.prospect.values == *values);
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
fn what_is_predicted_can_be_and_what_can_be_is_predicted() {
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

/// How much of what can be broken is found within the usual limits. The share may only grow.
#[test]
fn most_of_what_can_be_is_found() {
    let mut all = Tally::default();
    for pattern in PATTERNS {
        let property = property(pattern);
        let mut runner = TestRunner::deterministic();
        for _ in 0..cases() {
            let trace = traces(SHAPE).new_tree(&mut runner).unwrap().current();
            compare(&property, &trace, Limits::default(), &mut all).unwrap();
        }
    }
    let share = |count: usize| 100 * count / all.real.max(1);
    assert!(all.real > 100, "{all:?}");
    assert!(share(all.sound) >= 95, "{all:?}");
    assert!(share(all.found) >= 98, "{all:?}");
}
