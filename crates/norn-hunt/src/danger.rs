//! What candidates put at stake: the visible failures that depend on what their reads see.

use std::{collections::BTreeSet, iter, sync::Arc};

use norn_frontend::Owner;
use norn_model::{
    Access, BugClass, Candidate, Condition, Location, PotentialFailure, PotentialFailureKind,
    SiteId, Step,
};
use norn_predict::{ConditionResult, CriticalReads, Danger};
use norn_report::AtStake;

use crate::{Options, learn, source::Source};

/// How directly a candidate can lead to a visible failure; the smallest is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DangerRank {
    /// What the condition of the failure says if the read sees the other value.
    pub(crate) result: ConditionResult,
    /// Whether reads at the same place saw the other value before, without harm.
    pub(crate) is_known_value: bool,
    /// Whether the candidate has only one of the reads on which the failure depends. If it has several,
    /// it is about what they see together.
    pub(crate) is_alone: bool,
    /// The number of dependence steps from the failure to the read.
    pub(crate) distance: u32,
}

/// The places of a trace where the program can fail, and the reads that can see something else.
#[derive(Debug, Default)]
pub(crate) struct Dangers {
    failures: Arc<[PotentialFailure]>,
    all: Vec<Danger>,
    /// Whether bad accesses count.
    accesses: bool,
}

/// The places of a trace where the program can visibly fail, and those where it can break an invariant.
pub(crate) struct Failures {
    all: Arc<[PotentialFailure]>,
    /// When they happen, as far as that is known.
    conditions: Vec<Option<Condition>>,
    /// Whether bad accesses count.
    accesses: bool,
}

impl Failures {
    /// Failures of the chosen kinds that depend on reads up to the chosen number of dependence steps; with 0
    /// steps none of them.
    pub(crate) fn new(source: &Source, options: &Options) -> Failures {
        let Options { distance, failure_kinds: kinds, invariants, .. } = options;
        let symbols = &source.symbolized.symbols;
        let is_chosen = |it: PotentialFailureKind| kinds.is_empty() || kinds.contains(&it);
        let mut all = Vec::new();
        if *distance > 0 {
            let visible = symbols.potential_failures(*distance);
            let chosen = visible.iter().filter(|it| is_chosen(it.kind));
            let condition = |it: &PotentialFailure| symbols.failure_condition(it, *distance);
            all.extend(chosen.map(|it| (it.clone(), condition(it))));
        }
        let broken = learn::failures(source, invariants).into_iter();
        all.extend(broken.map(|(failure, condition)| (failure, Some(condition))));
        let (all, conditions): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Failures { all: all.into(), conditions, accesses: is_chosen(PotentialFailureKind::Access) }
    }

    /// The reads of a trace on which they depend.
    pub(crate) fn critical_reads(&self, source: &Source, distance: u32) -> CriticalReads {
        let sites = || {
            let numbered = source.symbolized.trace.sites().iter().zip(0..);
            numbered.map(|(it, number)| (SiteId(number), it.pc))
        };
        // The reads of an invariant are one step away.
        let reads = CriticalReads::new(&self.all, sites(), distance.max(1));
        reads.with_conditions(|it| self.conditions.get(it)?.clone(), sites())
    }
}

impl Dangers {
    /// The result of a prediction from a trace.
    pub(crate) fn new(failures: &Failures, all: Vec<Danger>) -> Dangers {
        Dangers { failures: Arc::clone(&failures.all), all, accesses: failures.accesses }
    }

    /// The most dangerous read of a candidate, and the failure that depends on it.
    pub(crate) fn of(&self, candidate: &Candidate) -> Option<(&Danger, &PotentialFailure)> {
        let danger = self.all.iter().filter(|it| it.is_in(candidate)).min_by_key(|it| rank(it))?;
        Some((danger, self.failures.get(danger.stake.failure)?))
    }

    /// Whether a candidate can lead to a visible failure. The use of freed memory is one in itself.
    pub(crate) fn is_dangerous(&self, candidate: &Candidate) -> bool {
        let can_fail = |it: (&Danger, _)| it.0.result != ConditionResult::Passes;
        self.accesses && candidate.class() == BugClass::Lifetime
            || self.of(candidate).is_some_and(can_fail)
    }

    /// The same for a reader.
    pub(crate) fn describe(&self, source: &Source, candidate: &Candidate) -> Option<AtStake> {
        let (danger, failure) = self.of(candidate)?;
        let trace = &source.symbolized;
        let pc = |it: SiteId| trace.trace.site(it).map(|it| it.pc);
        let location = |it: SiteId| location(source, pc(it)?);
        let read = failure.reads.iter().find(|it| Some(it.pc) == pc(danger.read))?;
        let steps = iter::once(failure.pc).chain(read.chain.iter().copied()).chain([read.pc]);
        let mut chain: Vec<_> = steps.filter_map(|it| self::location(source, it)).collect();
        chain.dedup_by_key(|it| (it.file.clone(), it.line));
        Some(AtStake {
            failure: name(danger.stake.kind).to_owned(),
            chain,
            distance: danger.stake.distance,
            expected: danger.expected.and_then(location),
            instead: danger.instead.and_then(location),
        })
    }

    /// How directly a candidate can lead to a failure. Output that differs is none.
    pub(crate) fn rank(&self, source: &Source, candidate: &Candidate) -> Option<DangerRank> {
        let (danger, failure) = self.of(candidate)?;
        let decides = |it: &&Step| {
            let pc = source.symbolized.trace.site(it.site).map(|it| it.pc);
            it.access == Access::Read && failure.reads.iter().any(|it| Some(it.pc) == pc)
        };
        let reads = candidate.steps.iter().filter(decides).map(|it| it.site);
        let rank = DangerRank {
            result: danger.result,
            is_known_value: danger.is_known_value,
            is_alone: reads.collect::<BTreeSet<_>>().len() < 2,
            distance: danger.stake.distance,
        };
        (failure.kind != PotentialFailureKind::Output).then_some(rank)
    }
}

/// The source location of an instruction, in the program if it was inlined there.
pub(crate) fn location(source: &Source, pc: u64) -> Option<Location> {
    let all = source.symbolized.locations(pc);
    let is_own = |it: &&Location| source.symbolized.symbols.owner(it) != Owner::Library;
    all.iter().find(is_own).or(all.first()).cloned()
}

/// The name of a kind of failure in reports.
fn name(kind: PotentialFailureKind) -> &'static str {
    match kind {
        PotentialFailureKind::Assertion => "assertion",
        PotentialFailureKind::ErrorMessage => "error-message",
        PotentialFailureKind::Output => "output",
        PotentialFailureKind::Loop => "loop",
        PotentialFailureKind::Access => "access",
        PotentialFailureKind::Free => "free",
        PotentialFailureKind::Invariant => "invariant",
    }
}

/// The order of dangers: first those in which the program fails.
fn rank(danger: &Danger) -> (bool, bool, ConditionResult, bool, u32) {
    let prints = danger.stake.kind == PotentialFailureKind::Output;
    let passes = danger.result == ConditionResult::Passes;
    (passes, prints, danger.result, danger.is_known_value, danger.stake.distance)
}
