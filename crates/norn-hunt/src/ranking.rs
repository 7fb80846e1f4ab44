//! The order in which the groups of a trace are tried.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use norn_model::{BugClass, Candidate, CandidateKind, Trace};

use crate::{
    Finding, dependence,
    group::{Changes, Group, Promoted, Turn, is_counting},
};

/// Number of turns of the other classes before order violations have their first.
const LATE: usize = 3;
/// The order in which candidates are tried, see [`Ranking`].
pub(crate) type Rank = (bool, usize, Precedence, BugClass);

/// Which candidates come first in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    /// Those that can lead to a visible failure.
    Dangerous,
    /// Deadlocks: there are few, and each of them is harmful.
    Deadlock,
    /// All others.
    Other,
    /// Late overwrites: often a race or an atomicity violation is behind them, which names the cause better.
    LateOverwrite,
}

/// Ranks candidates so that the classes take turns and a class with many candidates does not delay
/// the others. Candidates that can lead to a visible failure have turns of their own. There are many order
/// violations, and few of them are harmful, so the other classes get some turns before them, except
/// before those in which a thread uses a pointer that is not yet set. Candidates that the program seems to expect come last.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    counts: BTreeMap<BugClass, usize>,
}

impl Ranking {
    /// The rank of the next candidate.
    pub(crate) fn rank(&mut self, trace: &Trace, candidate: &Candidate, expected: bool) -> Rank {
        let expected = expected || is_counting(trace, candidate);
        self.next(candidate, expected, dependence::uses_unset_pointer(trace, candidate))
    }

    fn next(&mut self, candidate: &Candidate, expected: bool, unset_pointer: bool) -> Rank {
        let class = candidate.class();
        let count = self.counts.entry(class).or_default();
        *count += 1;
        let many = class == BugClass::Order && candidate.expires().is_none();
        let late = if many && !unset_pointer { LATE } else { 0 };
        let is_deadlock = class == BugClass::Deadlock;
        let precedence = if is_deadlock { Precedence::Deadlock } else { Precedence::Other };
        (expected, *count + late, precedence, class)
    }
}

/// Puts groups in the order in which they are tried. Of those that can lead to a visible failure, the ones that
/// the program probably performs come first.
pub(crate) fn in_turn(mut groups: Vec<Group>, findings: &[Arc<Finding>]) -> Vec<Group> {
    groups.sort_by_key(|it| it.number);
    let mut ranking = Ranking::default();
    let danger = |it: &Group| {
        let danger = it.danger.filter(|_| it.can_fail());
        danger.map(|danger| (it.changes == Changes::Others, danger))
    };
    let mut dangers: Vec<_> = groups.iter().filter_map(danger).collect();
    dangers.sort_unstable();
    let mut dangers: VecDeque<_> = dangers.into_iter().zip(1..).collect();
    let mut rank = |group: &mut Group| {
        let finding = &findings[group.finding];
        group.expected |= finding.remark.is_some_and(|it| it.expected.is_some());
        // A counter that decides a failure is not like others.
        let is_new = group.danger.is_some_and(|it| !it.is_known_value) && group.can_fail();
        let decides = is_new && finding.remark.is_none();
        group.expected &= !decides;
        // Of candidates that are equally dangerous, those that were predicted first come first.
        let at = dangers.iter().position(|it| Some(it.0) == danger(group));
        // Its usual turn may come earlier.
        let usual = ranking.next(&finding.candidate, group.expected, group.uses_unset_pointer);
        at.and_then(|at| dangers.remove(at)).map_or(usual, |(_, turn)| {
            let is_late = finding.candidate.kind == CandidateKind::LateOverwrite;
            let precedence =
                if is_late { Precedence::LateOverwrite } else { Precedence::Dangerous };
            let dangerous = (group.expected, turn, precedence, finding.candidate.class());
            group.promoted = (dangerous < usual).then_some(Promoted);
            usual.min(dangerous)
        })
    };
    let mut ranked: Vec<_> =
        groups.into_iter().map(|mut group| (rank(&mut group), group)).collect();
    let turn = |it: &Group| if it.expected { Turn::Usual } else { it.turn };
    ranked.sort_by_key(|(key, group)| (turn(group), *key));
    ranked.into_iter().map(|(_, group)| group).collect()
}

#[cfg(test)]
mod tests {
    use norn_model::text;
    use norn_predict::{ConditionResult, Options, predict};

    use super::*;
    use crate::{Description, Status, danger::DangerRank};

    /// The order of two atomicity violations that were predicted in their order, given what they are about.
    fn order(about: [(Option<DangerRank>, Changes); 2]) -> Vec<usize> {
        let run = "T1 r x 0\nT1 r x 0\nT2 w x 1\nT1 r y 0\nT1 r y 0\nT2 w y 1";
        let trace = text::parse(run).unwrap();
        let all = predict(&trace, &Options::default()).candidates.into_iter();
        let violations: Vec<_> = all.filter(|it| it.class() == BugClass::Atomicity).collect();
        let finding = |candidate: &Candidate| Finding {
            candidate: candidate.clone(),
            description: Description::default(),
            remark: None,
            at_stake: None,
            source: 0,
            unrecorded_sync: None,
            instances: 1,
            stacks: 1,
            status: Status::Untried,
        };
        let findings: Vec<_> = violations.iter().map(|it| Arc::new(finding(it))).collect();
        let group = |(at, (danger, changes)): (usize, (Option<DangerRank>, Changes))| {
            let mut group = Group::new(&trace, violations[at].clone(), at, false);
            (group.number, group.danger, group.changes) = (at, danger, changes);
            group
        };
        let groups = about.into_iter().enumerate().map(group).collect();
        in_turn(groups, &findings).into_iter().map(|it| it.number).collect()
    }

    #[test]
    fn what_the_program_probably_performs_comes_first_if_it_can_fail() {
        let danger = |result| {
            Some(DangerRank { result, is_known_value: false, is_alone: true, distance: 1 })
        };
        let (fails, unknown) = (danger(ConditionResult::Fails), danger(ConditionResult::Unknown));
        assert_eq!(order([(fails, Changes::Others), (unknown, Changes::Nothing)]), [1, 0]);
        assert_eq!(order([(fails, Changes::Nothing), (unknown, Changes::Nothing)]), [0, 1]);
        assert_eq!(order([(unknown, Changes::Others), (fails, Changes::Others)]), [1, 0]);
        assert_eq!(order([(fails, Changes::Others), (fails, Changes::Unknown)]), [1, 0]);
        assert_eq!(order([(None, Changes::Others), (None, Changes::Nothing)]), [0, 1]);
    }
}
