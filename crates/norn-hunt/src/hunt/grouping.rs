//! Groups the candidates of a trace that look the same to a reader.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use norn_model::{BugClass, Candidate, CandidateKind, EventId};
use norn_predict::Remark;

use super::Hunting;
use crate::{
    CandidateSource, Finding, Status,
    campaign::Promise,
    danger::Dangers,
    describe::describe,
    group::{Group, Turn},
    library_sync::LibrarySync,
    ranking::in_turn,
    source::{Key, Source},
    source_key::{SourceKey, SourceKeys},
};

/// The groups of one trace so far.
#[derive(Default)]
struct Grouping {
    groups: Vec<Group>,
    /// For each group, the call stacks of its instances, as far as functions are inlined.
    stacks: Vec<Vec<Key>>,
    /// The index of each group.
    at: BTreeMap<SourceKey, usize>,
    /// The events of the candidates, by class.
    events: BTreeSet<(BugClass, Vec<EventId>)>,
}

impl Grouping {
    /// Whether a candidate needs runs of its own. An atomic update reads and writes: the run is the same
    /// whichever of the two the candidate uses. But a wait that expires has two outcomes with the same
    /// events.
    fn is_new(&mut self, candidate: &Candidate) -> bool {
        let steps = candidate.steps.iter().chain(&candidate.stuck).map(|it| it.event);
        let is_new = self.events.insert((candidate.class(), steps.collect()));
        is_new || candidate.class() == BugClass::Order
    }
}

impl Hunting<'_> {
    /// Groups candidates that look the same to a reader, without the decided ones. A candidate that
    /// was predicted before, and whose schedules did not preserve all values, may have one that
    /// does in this trace.
    pub(super) fn groups(
        &mut self,
        (source, dangers): (&Source, &Dangers),
        candidates: impl Iterator<Item = (Candidate, Option<Remark>)>,
    ) -> Vec<Group> {
        let keys = SourceKeys::new(source);
        let mut grouping = Grouping::default();
        let only_dangerous = self.evidence.options.from == CandidateSource::Failures;
        for (candidate, remark) in candidates {
            let is_wanted = !only_dangerous || dangers.is_dangerous(&candidate);
            if is_wanted && grouping.is_new(&candidate) {
                self.group(&mut grouping, (source, &keys, dangers), candidate, remark);
            }
        }
        let Grouping { mut groups, stacks, .. } = grouping;
        let library = LibrarySync::new(source);
        for (number, (group, stacks)) in groups.iter_mut().zip(stacks).enumerate() {
            group.number = number;
            group.danger = group.instances.iter().filter_map(|it| dangers.rank(source, it)).min();
            if !group.again {
                let finding = self.finding(group.finding);
                finding.instances = stacks.len();
                finding.stacks = stacks.iter().collect::<BTreeSet<_>>().len();
            }
            let Promise { new_code, finding } = &source.promise;
            // The wait of a stolen wake-up is none of its events.
            let is_new = |it: &Candidate| {
                let behind_wait = it.kind == CandidateKind::StolenWakeUp && !new_code.is_empty();
                behind_wait || it.sites().any(|it| new_code.contains(&it))
            };
            let is_aim = *finding == Some(group.finding);
            if is_aim || !group.again && group.instances.iter().any(is_new) {
                group.turn = Turn::Promising;
            }
            if group.instances.iter().all(|it| library.is_inside_synchronisation(it)) {
                group.turn = Turn::Last;
            }
            group.arrange(stacks, self.evidence.options.instances);
        }
        in_turn(groups, &self.findings)
    }

    /// Adds a candidate to its group, unless its finding is decided.
    fn group(
        &mut self,
        grouping: &mut Grouping,
        (source, keys, dangers): (&Source, &SourceKeys<'_>, &Dangers),
        candidate: Candidate,
        remark: Option<Remark>,
    ) {
        let (key, stack) = (keys.key(&candidate), source.key(&candidate));
        if let Some(&at) = grouping.at.get(&key) {
            let group = &mut grouping.groups[at];
            grouping.stacks[at].push(stack);
            if !group.again {
                self.finding(group.finding).also(&candidate, remark);
            }
            group.instances.push_back(candidate);
            return;
        }
        let known = self.known.get(&key).copied();
        if known.is_some_and(|it| self.decided.contains(&it)) {
            return;
        }
        let finding = known.unwrap_or(self.findings.len());
        if known.is_none() {
            self.findings.push(Arc::new(Finding {
                description: describe(source, &candidate, false),
                candidate: candidate.clone(),
                remark,
                at_stake: dangers.describe(source, &candidate),
                source: self.sources,
                unrecorded_sync: None,
                instances: 1,
                stacks: 1,
                status: Status::Untried,
            }));
            self.known.insert(key.clone(), finding);
        }
        grouping.at.insert(key, grouping.groups.len());
        grouping.stacks.push(vec![stack]);
        grouping.groups.push(Group::new(&source.trace, candidate, finding, known.is_some()));
    }
}
