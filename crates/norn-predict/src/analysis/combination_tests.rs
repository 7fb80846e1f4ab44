//! Combinations of reads: which are tried together, in which orders, and what the reads see there.

use std::{collections::BTreeMap, fmt::Write as _};

use norn_model::{
    Condition, CriticalRead, PotentialFailure, PotentialFailureKind as Failure, Step, Trace, text,
};
use proptest::prelude::*;

use super::{is, pc, place, sites};
use crate::{CriticalReads, Options, predict};

/// The orders of the candidates in which reads make the program fail together: each read at a place sees a value.
fn orders_together(trace: &Trace, reads: &[(&str, u64)]) -> Vec<Vec<Step>> {
    let all = Condition::All(reads.iter().map(|it| is(trace, it.0, it.1)).collect());
    let read =
        |it: &(&str, u64)| CriticalRead { pc: pc(trace, it.0), distance: 2, chain: Vec::new() };
    let reads = reads.iter().map(read).collect();
    let failures = [PotentialFailure { kind: Failure::Assertion, pc: 0x10, reads }];
    let critical_reads = CriticalReads::new(&failures, sites(trace), 4)
        .with_conditions(|_| Some(all.clone()), sites(trace));
    let found = predict(trace, &Options { critical_reads, ..Options::default() });
    let is_together = |it: &&crate::Danger| {
        it.result == crate::ConditionResult::Fails && it.together[0].is_some()
    };
    let dangers: Vec<_> = found.dangers.iter().filter(is_together).collect();
    let is_in = |it: &norn_model::Candidate| dangers.iter().any(|danger| danger.is_in(it));
    found.candidates.into_iter().filter(is_in).map(|it| it.steps).collect()
}

fn names(trace: &Trace, orders: &[Vec<Step>]) -> Vec<String> {
    let name =
        |it: &Vec<Step>| it.iter().map(|it| place(trace, it.site)).collect::<Vec<_>>().join(" ");
    orders.iter().map(name).collect()
}

/// Neither read alone leads to the failure. T2 sets `d` for a while, and T3 sets `c`.
#[test]
fn reads_that_fail_only_together_are_one_candidate() {
    let trace = "
        order global
        T1 acq l
        T1 r c 0 @ q
        T1 r d 0 @ r
        T1 rel l
        T2 w d 1 @ set
        T2 w d 0 @ clear
        T3 w c 1 @ close
    ";
    let trace = text::parse(trace).unwrap();
    let orders = names(&trace, &orders_together(&trace, &[("q", 1), ("r", 1)]));
    assert!(orders.contains(&"close set q r".to_owned()), "{orders:?}");
    assert!(orders.iter().all(|it| it.split(' ').count() == 4), "{orders:?}");
}

/// Two of the three reads do not lead to the failure. Those orders come first in which no write falls between the reads.
#[test]
fn three_reads_that_fail_only_together_are_one_candidate() {
    let trace = "
        order global
        T1 r x 0 @ p
        T1 r y 0 @ q
        T1 r z 0 @ r
        T2 w x 1 @ x
        T3 w y 1 @ y
        T4 w z 1 @ z
    ";
    let trace = text::parse(trace).unwrap();
    let mut orders = names(&trace, &orders_together(&trace, &[("p", 1), ("q", 1), ("r", 1)]));
    orders.sort_unstable();
    assert_eq!(orders, ["x y z p q r", "x z y p q r", "y x z p q r", "y z x p q r", "z x y p q r"]);
    // If `z` is what the third read sees anyway, the other two are enough.
    let mut orders = names(&trace, &orders_together(&trace, &[("p", 1), ("q", 1), ("r", 0)]));
    orders.sort_unstable();
    assert_eq!(orders, ["x p y q", "x y p q", "y x p q"]);
}

/// Five reads are more than are tried.
#[test]
fn at_most_four_reads_are_tried_together() {
    let orders = |count: usize| {
        let reads: Vec<_> = (0..count).map(|it| (format!("r{it}"), 1)).collect();
        let read = |it: usize| format!("T1 r v{it} 0 @ r{it}\n");
        let write = |it: usize| format!("T{} w v{it} 1 @ w{it}\n", it + 2);
        let text: String = (0..count).map(read).chain((0..count).map(write)).collect();
        let trace = text::parse(&format!("order global\n{text}")).unwrap();
        let reads: Vec<_> = reads.iter().map(|it| (it.0.as_str(), it.1)).collect();
        orders_together(&trace, &reads).len()
    };
    assert_eq!(orders(4), 5);
    assert_eq!(orders(5), 0);
}

proptest! {
    /// T1 reads three variables at some time, and three other threads write them. In each candidate of a combination, each
    /// read sees a value that makes the program fail, or none of the candidate's writes and what it saw anyway.
    #[test]
    fn reads_of_a_combination_see_what_makes_the_program_fail(
        writes in prop::collection::vec((2..5_u32, 0..3_usize, 1..3_u64), 1..8),
        reads_at in prop::collection::vec(0..8_usize, 3),
        wanted in prop::collection::vec(0..3_u64, 3),
    ) {
        let (variables, reads) = (["x", "y", "z"], ["p", "q", "r"]);
        let mut reads_at = reads_at;
        reads_at.sort_unstable();
        let (mut text, mut memory, mut seen) = ("order global\n".to_owned(), [0; 3], [0; 3]);
        for at in 0..=8 {
            for read in (0..3).filter(|it| reads_at[*it] == at) {
                seen[read] = memory[read];
                writeln!(text, "T1 r {} {} @ {}", variables[read], memory[read], reads[read]).unwrap();
            }
            if let Some((thread, variable, value)) = writes.get(at) {
                memory[*variable] = *value;
                writeln!(text, "T{thread} w {} {value} @ w{at}", variables[*variable]).unwrap();
            }
        }
        let trace = text::parse(&text).unwrap();
        let wanted: Vec<_> = reads.into_iter().zip(wanted).collect();
        for steps in orders_together(&trace, &wanted) {
            let mut memory: BTreeMap<u64, u64> = BTreeMap::new();
            let mut now: BTreeMap<String, Option<u64>> = BTreeMap::new();
            for step in &steps {
                let access = trace.event(step.event).unwrap().op.access().unwrap();
                if let Some(value) = access.write {
                    memory.insert(step.addr, u64::try_from(value.unwrap()).unwrap());
                } else {
                    now.insert(place(&trace, step.site), memory.get(&step.addr).copied());
                }
            }
            prop_assert!(now.len() >= 2, "{:?}\n{text}", names(&trace, std::slice::from_ref(&steps)));
            for (number, (name, value)) in wanted.iter().enumerate() {
                // A read that comes before its write sees something that was written earlier, or nothing.
                let is_fine = match now.get(*name) {
                    Some(Some(other)) => other == value,
                    Some(None) => true,
                    None => seen[number] == *value,
                };
                prop_assert!(is_fine, "{name}: {:?}\n{text}", names(&trace, std::slice::from_ref(&steps)));
            }
        }
    }
}
