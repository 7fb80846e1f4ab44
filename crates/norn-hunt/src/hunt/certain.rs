//! Candidates that do harm for certain, if the program performs them, and that it probably performs: races, uses
//! of freed memory, deadlocks and misuses with a schedule that preserves all values.
//!
//! They come before all others. Without that, a class with many candidates that are not possible would reach
//! the possible ones late, since the classes take turns.

use std::{cmp::Reverse, collections::BTreeMap};

use norn_model::BugClass;
use norn_witness::Grade;

use crate::{
    engine::CachedWitnesses,
    group::{Group, Turn},
};

/// Maximum number of groups of one class that come first: if these do no harm, the program differs from what the
/// trace shows.
const MOST: usize = 2;
/// Maximum number of events of schedules that are checked for this, so that long runs are not delayed.
const MOST_EFFORT: u64 = 200_000;

/// Puts the groups that do harm for certain first.
pub(super) fn first(mut groups: Vec<Group>, witnesses: &CachedWitnesses<'_>) -> Vec<Group> {
    let effort = witnesses.effort().saturating_add(MOST_EFFORT);
    let mut found: BTreeMap<BugClass, usize> = BTreeMap::new();
    for group in &mut groups {
        let class = group.kind.class();
        let count = found.entry(class).or_default();
        if *count < MOST
            && group.turn != Turn::Last
            && is_harmful(class)
            && witnesses.effort() < effort
            && is_possible(group, witnesses)
        {
            *count += 1;
            group.turn = Turn::Certain;
        }
    }
    groups.sort_by_key(|it| Reverse(it.turn == Turn::Certain));
    groups
}

/// Whether each candidate of a class does harm as soon as it happens.
fn is_harmful(class: BugClass) -> bool {
    match class {
        BugClass::Race
        | BugClass::Lifetime
        | BugClass::Deadlock
        | BugClass::LockMisuse
        | BugClass::Descriptor => true,
        BugClass::Atomicity
        | BugClass::AtomicSet
        | BugClass::Order
        | BugClass::Pattern
        | BugClass::Property => false,
    }
}

fn is_possible(group: &Group, witnesses: &CachedWitnesses<'_>) -> bool {
    let witness = group.instances.front().and_then(|it| witnesses.witness(it).ok());
    witness.is_some_and(|it| it.grade == Grade::Sound && !it.idle)
}

#[cfg(test)]
mod tests {
    use norn_model::{Trace, text};
    use norn_predict::{Options, predict};
    use norn_witness::Engines;

    use super::*;

    /// T2 uses `a` only if it finds it published, and `b` in any case.
    const TRACE: &str = "
        T1 w a 1
        T1 acq l
        T1 w ready 1
        T1 rel l
        T1 w b 1
        T2 acq l
        T2 r ready 1
        T2 rel l
        T2 r a 1
        T2 r b 1
    ";

    fn races(trace: &Trace) -> Vec<Group> {
        let all = predict(trace, &Options::default()).candidates.into_iter();
        let races = all.filter(|it| it.class() == BugClass::Race).enumerate();
        races.map(|(at, it)| Group::new(trace, it, at, false)).collect()
    }

    #[test]
    fn a_race_that_keeps_all_values_comes_first() {
        let trace = text::parse(TRACE).unwrap();
        let witnesses = CachedWitnesses::new(&trace, Engines::default());
        let is_first = |it: &Group| it.instances.front().is_some_and(|it| is_sound(it, &witnesses));
        let mut groups = races(&trace);
        let certain = groups.iter().filter(|it| is_first(it)).count();
        assert!((1..groups.len()).contains(&certain) && certain <= MOST, "{certain}");
        groups.sort_by_key(is_first);
        let ordered = first(groups, &witnesses);
        assert!(ordered[..certain].iter().all(|it| is_first(it) && it.turn == Turn::Certain));
        assert!(ordered[certain..].iter().all(|it| it.turn == Turn::Usual));
    }

    fn is_sound(candidate: &norn_model::Candidate, witnesses: &CachedWitnesses<'_>) -> bool {
        witnesses.witness(candidate).is_ok_and(|it| it.grade == Grade::Sound)
    }
}
