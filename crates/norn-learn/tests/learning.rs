//! What is learnt from traces in the text notation, and properties of learning and of the text form.

use insta::assert_snapshot;
use norn_learn::{
    Direction, Invariant, Learner, Names, Property, ReadPoint, Support,
    text::{self, parse, write},
};
use norn_model::{SiteId, Trace, text as notation};
use proptest::prelude::*;

/// Names of a trace in the text notation: addresses from 0x100 on are the elements of an array.
struct Notation<'a>(&'a Trace);

impl Names for Notation<'_> {
    fn place(&self, site: SiteId) -> Option<String> {
        self.0.site(site)?.place.clone()
    }

    fn variable(&self, addr: u64, _size: u64) -> Option<String> {
        if (0x100..0x200).contains(&addr) {
            return Some(format!("a[{}]", (addr - 0x100) / 4));
        }
        Some(format!("v{addr:x}"))
    }
}

fn learnt(runs: impl IntoIterator<Item = String>) -> Learner {
    let mut learner = Learner::default();
    for run in runs {
        let trace = notation::parse(&format!("order global\n{run}"));
        let trace = trace.unwrap_or_else(|error| panic!("{error}: {run}"));
        learner.add(&trace, &Notation(&trace));
    }
    learner
}

fn lines(learner: &Learner) -> String {
    write(&learner.invariants(), learner.runs())
}

/// T1 reads what T2 has written to two variables, in one critical section.
fn run(one: i64, other: i64) -> String {
    let [one, other] = [one, other].map(|it| it.cast_unsigned() & 0xffff_ffff);
    format!(
        "T2 w 0x10:4 {one} @ w1\nT2 w 0x20:4 {other} @ w2\n\
         T1 acq l\nT1 r 0x10:4 {one} @ r1\nT1 r 0x20:4 {other} @ r2\nT1 rel l"
    )
}

#[test]
fn the_strongest_family_is_reported() {
    assert_snapshot!(lines(&learnt((0..6).map(|_| run(5, 5)))), @r"
    # norn invariants 1
    # 2 invariants in 6 runs
    v10 @ r1: = 5  # 6 runs, 6 reads
    v20 @ r2: = 5  # 6 runs, 6 reads
    ");
    assert_snapshot!(lines(&learnt((0..20).map(|it| run(it % 10, it % 10 + 1 + it / 19)))), @r"
    # norn invariants 1
    # 3 invariants in 20 runs
    v10 @ r1: in 0..9  # 20 runs, 20 reads
    v10 @ r1: <= v20 @ r2  # 20 runs, 20 reads
    v20 @ r2: != 0  # 20 runs, 20 reads
    ");
}

#[test]
fn variables_are_compared_only_if_they_are_read_together() {
    let apart = |it: i64| run(it, it).replace("T1 r 0x20", "T1 rel l\nT1 acq l\nT1 r 0x20");
    let equal = |learner: &Learner| {
        learner.invariants().iter().any(|it| matches!(it.property, Property::Equal(_)))
    };
    assert!(equal(&learnt((0..9).map(|it| run(it, it)))));
    assert!(!equal(&learnt((0..9).map(apart))));
}

#[test]
fn a_total_is_the_sum_of_its_parts() {
    let run = |it: i64| {
        let total = 3 * it;
        format!(
            "T2 w 0x100:4 {it} @ w\nT2 w 0x104:4 {} @ w\nT2 w 0x10:4 {total} @ w\n\
             T1 acq l\nT1 r 0x100:4 {it} @ part\nT1 r 0x104:4 {} @ part\n\
             T1 r 0x10:4 {total} @ total\nT1 rel l",
            2 * it,
            2 * it
        )
    };
    let sum = learnt((0..5).map(run)).invariants().into_iter().find_map(|it| match it.property {
        Property::Sum(array) => Some((it.point, array)),
        _ => None,
    });
    let (total, array) = sum.unwrap();
    assert_eq!((total.place.as_str(), array.to_string().as_str()), ("total", "a[] @ part"));
}

#[test]
fn each_thread_sees_a_counter_grow() {
    let run = "T2 w 0x10:4 1 @ w\nT1 r 0x10:4 1 @ r\nT2 w 0x10:4 2 @ w\nT1 r 0x10:4 2 @ r\n\
               T2 w 0x10:4 3 @ w\nT1 r 0x10:4 3 @ r";
    let found = learnt([run, run].map(str::to_owned)).invariants();
    assert!(found.iter().any(|it| it.property == Property::Monotone(Direction::Up)), "{found:?}");
}

/// Pointers differ from run to run; that they are set does not.
#[test]
fn of_pointers_only_that_they_are_set_is_learnt() {
    let run = |it: u64| {
        let pointer = 0x7f00_0000_0000 + it * 0x1000;
        format!("T2 w 0x10:8 {pointer} @ w\nT1 r 0x10:8 {pointer} @ r")
    };
    let found = learnt((0..3).map(run)).invariants();
    assert_eq!(found.iter().map(|it| &it.property).collect::<Vec<_>>(), [&Property::NonZero]);
}

fn point() -> impl Strategy<Value = ReadPoint> {
    let name = "[a-z_]{1,8}(\\[\\])?";
    (name, "[a-z_]{1,4}(::[a-z]{1,4})? [a-z]{1,5}\\.c:[0-9]{1,3}")
        .prop_map(|(variable, place)| ReadPoint { variable, place })
}

fn property() -> impl Strategy<Value = Property> {
    prop_oneof![
        any::<i64>().prop_map(Property::Constant),
        prop::collection::btree_set(any::<i64>(), 2..5)
            .prop_map(|it| Property::OneOf(it.into_iter().collect())),
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| Property::Range(a.min(b), a.max(b))),
        Just(Property::NonZero),
        point().prop_map(Property::Equal),
        point().prop_map(Property::AtMost),
        point().prop_map(Property::Sum),
        Just(Property::Monotone(Direction::Up)),
        Just(Property::Monotone(Direction::Down)),
    ]
}

fn invariant() -> impl Strategy<Value = Invariant> {
    (point(), property(), any::<u32>(), any::<u32>()).prop_map(|(point, property, runs, reads)| {
        let support = Support { runs: u64::from(runs), reads: u64::from(reads) };
        Invariant { point, property, support }
    })
}

proptest! {
    #[test]
    fn the_text_form_can_be_read_again(invariants in prop::collection::vec(invariant(), 0..8)) {
        prop_assert_eq!(parse(&write(&invariants, 3)), Ok(invariants));
    }

    #[test]
    fn no_text_makes_the_parser_panic(line in "\\PC*") {
        let _ = parse(&format!("{}\n{line}", text::HEAD));
    }

    /// What was learnt holds in each run that it was learnt from.
    #[test]
    fn invariants_hold_in_all_runs(
        values in prop::collection::vec((-5_i64..5, -5_i64..5), 1..30)
    ) {
        let found = learnt(values.iter().map(|it| run(it.0, it.1))).invariants();
        for it in found {
            let is_first = it.point.place == "r1";
            for (one, other) in &values {
                let (value, other) = if is_first { (*one, *other) } else { (*other, *one) };
                let holds = match &it.property {
                    Property::Constant(constant) => value == *constant,
                    Property::OneOf(all) => all.contains(&value),
                    Property::Range(low, high) => (*low..=*high).contains(&value),
                    Property::NonZero => value != 0,
                    Property::Equal(_) => value == other,
                    Property::AtMost(_) => value <= other,
                    Property::Sum(_) | Property::Monotone(_) => false,
                };
                prop_assert!(holds, "{} with {} and {}", it, value, other);
            }
        }
    }
}
