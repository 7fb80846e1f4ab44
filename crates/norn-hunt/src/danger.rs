//! What candidates put at stake: the visible failures that depend on what their reads see.

use std::{collections::BTreeSet, iter, sync::Arc};

use norn_frontend::Owner;
use norn_model::{
    Access, Candidate, Location, PotentialFailure, PotentialFailureKind, SiteId, Step,
};
use norn_predict::{CriticalReads, Danger};
use norn_report::AtStake;

use crate::source::Source;

/// How directly a candidate can lead to a visible failure; the smallest is tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DangerRank {
    /// Whether reads at the same place saw the other value before, without harm.
    pub(crate) is_known_value: bool,
    /// Whether the candidate has only one of the reads on which the failure depends. If it has several,
    /// it is about what they see together.
    is_alone: bool,
    /// The number of dependence steps from the failure to the read.
    distance: u32,
}

/// The places of a trace where the program can fail, and the reads that can see something else.
#[derive(Debug, Default)]
pub(crate) struct Dangers {
    failures: Arc<[PotentialFailure]>,
    all: Vec<Danger>,
}

/// The reads of a trace on which visible failures depend.
pub(crate) fn critical_reads(source: &Source, distance: u32) -> CriticalReads {
    let sites = source.symbolized.trace.sites().iter().zip(0..);
    let sites = sites.map(|(it, number)| (SiteId(number), it.pc));
    CriticalReads::new(&source.symbolized.symbols.potential_failures(), sites, distance)
}

impl Dangers {
    /// The result of a prediction from a trace.
    pub(crate) fn new(source: &Source, all: Vec<Danger>) -> Dangers {
        if all.is_empty() {
            return Dangers::default();
        }
        Dangers { failures: source.symbolized.symbols.potential_failures(), all }
    }

    /// The most dangerous read of a candidate, and the failure that depends on it.
    pub(crate) fn of(&self, candidate: &Candidate) -> Option<(&Danger, &PotentialFailure)> {
        let danger = self.all.iter().filter(|it| it.is_in(candidate)).min_by_key(|it| rank(it))?;
        Some((danger, self.failures.get(danger.stake.failure)?))
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
            is_known_value: danger.is_known_value,
            is_alone: reads.collect::<BTreeSet<_>>().len() < 2,
            distance: danger.stake.distance,
        };
        (failure.kind != PotentialFailureKind::Output).then_some(rank)
    }
}

/// The source location of an instruction, in the program if it was inlined there.
fn location(source: &Source, pc: u64) -> Option<Location> {
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
    }
}

/// The order of dangers: first those in which the program fails.
fn rank(danger: &Danger) -> (bool, bool, u32) {
    let prints = danger.stake.kind == PotentialFailureKind::Output;
    (prints, danger.is_known_value, danger.stake.distance)
}
