//! Critical reads: the reads that decide whether a program visibly fails, and the orders in which they see
//! something else than in the recorded run.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{
    Access, Candidate, Condition, PotentialFailure, PotentialFailureKind, SiteId, Step,
};

use crate::failure_condition::{ConditionResult, mentioned};

/// A failure that a read decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stake {
    /// The number of dependence steps from the failure back to the read.
    pub distance: u32,
    /// What happens there.
    pub kind: PotentialFailureKind,
    /// The index of the failure among those that were given.
    pub failure: usize,
}

/// The critical reads of a trace.
#[derive(Clone, Debug, Default)]
pub struct CriticalReads {
    /// By site: the failures that a read there decides, the nearest first.
    stakes: BTreeMap<SiteId, Vec<Stake>>,
    /// By failure: when it happens, if that is known.
    conditions: BTreeMap<usize, Condition>,
    /// The sites of the reads that conditions mention, with the addresses of their instructions.
    mentioned: BTreeMap<SiteId, u64>,
}

impl CriticalReads {
    /// The reads that failures depend on, given the addresses of the trace's sites. Reads that are
    /// further away than `distance` are left out.
    pub fn new(
        failures: &[PotentialFailure],
        sites: impl Iterator<Item = (SiteId, u64)>,
        distance: u32,
    ) -> CriticalReads {
        let mut by_pc: BTreeMap<u64, Vec<Stake>> = BTreeMap::new();
        for (failure, it) in failures.iter().enumerate() {
            for read in it.reads.iter().filter(|it| it.distance <= distance) {
                let stake = Stake { distance: read.distance, kind: it.kind, failure };
                by_pc.entry(read.pc).or_default().push(stake);
            }
        }
        for stakes in by_pc.values_mut() {
            stakes.sort_unstable();
        }
        let known = |(site, pc): (SiteId, u64)| Some((site, by_pc.get(&pc)?.clone()));
        let stakes = sites.filter_map(known).collect();
        CriticalReads { stakes, ..CriticalReads::default() }
    }

    /// Adds when failures happen: conditions on what the instructions at addresses read.
    #[must_use]
    pub fn with_conditions(
        mut self,
        condition: impl Fn(usize) -> Option<Condition>,
        sites: impl Iterator<Item = (SiteId, u64)>,
    ) -> CriticalReads {
        let failures: BTreeSet<usize> =
            self.stakes.values().flatten().map(|it| it.failure).collect();
        let known = failures.into_iter().filter_map(|it| Some((it, condition(it)?)));
        self.conditions = known.collect();
        let pcs: BTreeSet<u64> = self.conditions.values().flat_map(mentioned).collect();
        self.mentioned = sites.filter(|it| pcs.contains(&it.1)).collect();
        self
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stakes.is_empty()
    }

    /// The failures that a read at a site decides, the nearest first.
    pub(crate) fn stakes(&self, site: u32) -> &[Stake] {
        self.stakes.get(&SiteId(site)).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has_conditions(&self) -> bool {
        !self.mentioned.is_empty()
    }

    /// When a failure happens.
    pub(crate) fn condition(&self, failure: usize) -> Option<&Condition> {
        self.conditions.get(&failure)
    }

    /// The address of the instruction at a site, if a condition mentions it.
    pub(crate) fn condition_pc(&self, site: SiteId) -> Option<u64> {
        self.mentioned.get(&site).copied()
    }
}

/// Maximum number of reads that see something else together.
pub(crate) const MOST_TOGETHER: usize = 4;

/// A critical read that can see something else than in the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Danger {
    /// What the condition of the failure says if the read sees it.
    pub result: ConditionResult,
    /// Whether reads at this site have seen the other value in the recorded run: it did no harm there,
    /// unless the failure depends on more than one read.
    pub is_known_value: bool,
    /// The failure that is at stake.
    pub stake: Stake,
    /// The read.
    pub read: SiteId,
    /// Other reads that must see something else as well.
    pub together: [Option<Sight>; MOST_TOGETHER - 1],
    /// The write that it saw.
    pub expected: Option<SiteId>,
    /// The write that it would see; none if that is the content of memory before the first write.
    pub instead: Option<SiteId>,
    /// The write that the read would come before; none if the write that it would see comes earlier.
    pub missed: Option<SiteId>,
}

/// What a read would see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sight {
    read: SiteId,
    instead: Option<SiteId>,
    missed: Option<SiteId>,
}

impl Danger {
    /// What its read would see.
    pub(crate) fn sight(&self) -> Sight {
        let Danger { read, instead, missed, .. } = *self;
        Sight { read, instead, missed }
    }

    /// Whether the reads of this danger see the other writes in a candidate.
    pub fn is_in(&self, candidate: &Candidate) -> bool {
        let is_loop = self.stake.kind == PotentialFailureKind::Loop;
        let mut all = self.together.into_iter().flatten().chain([self.sight()]);
        all.all(|it| it.is_in(&candidate.steps, is_loop))
    }
}

impl Sight {
    fn is_in(self, steps: &[Step], is_loop: bool) -> bool {
        let is_read = |it: &Step| it.site == self.read && it.access == Access::Read;
        let mut reads = steps.iter().enumerate().filter(|it| is_read(it.1));
        reads.any(|(at, it)| self.is_at(it, steps, (at, is_loop)))
    }

    /// Whether the read at an index of the steps sees the other write.
    fn is_at(self, read: &Step, steps: &[Step], (at, is_loop): (usize, bool)) -> bool {
        let is_write = |it: &&Step| it.addr == read.addr && it.access == Access::Write;
        let earlier = steps[..at].iter().rev().find(is_write);
        let later = steps[at..].iter().find(is_write);
        match (earlier, later) {
            // A loop goes on until it sees what is written later.
            (_, Some(_)) if is_loop => false,
            (Some(write), _) => Some(write.site) == self.instead,
            (None, Some(write)) => Some(write.site) == self.missed,
            (None, None) => false,
        }
    }
}
