//! The evidence of many runs: counts of patterns, and their ranking for each kind of failure.
//!
//! One program may have several bugs. Failing runs are therefore clustered by their failure, and each
//! cluster is compared with the passing runs alone: runs with another failure say nothing about it.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{Counts, Formula, Interval, Pattern};

/// The evidence of many runs. `F` identifies a failure, `S` a site; both are the same in all runs.
#[derive(Clone, Debug)]
pub struct Evidence<F, S> {
    passed: u64,
    failed: BTreeMap<F, u64>,
    patterns: BTreeMap<Pattern<S>, PatternRuns<F>>,
}

/// The runs in which a pattern occurred.
#[derive(Clone, Debug)]
struct PatternRuns<F> {
    passed: u64,
    failed: BTreeMap<F, FailingRuns>,
}

/// The failing runs of a cluster in which a pattern occurred.
#[derive(Clone, Copy, Debug, Default)]
struct FailingRuns {
    count: u64,
    /// The sum of the number of patterns before this one.
    order: u64,
}

/// The failing runs with the same failure, and the ranking of patterns for them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster<F, S> {
    /// The failure.
    pub failure: F,
    /// Number of runs with this failure.
    pub failed: u64,
    /// All patterns, the most suspicious first.
    pub ranking: Vec<Ranked<S>>,
}

/// A pattern and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked<S> {
    /// The pattern.
    pub pattern: Pattern<S>,
    /// In how many runs it occurred.
    pub counts: Counts,
    /// Its score.
    pub score: f64,
    /// The confidence interval of the score.
    pub interval: Interval,
    /// The mean number of patterns that occurred before it in the failing runs.
    pub order: f64,
}

impl<F, S> Default for Evidence<F, S> {
    fn default() -> Self {
        Evidence { passed: 0, failed: BTreeMap::new(), patterns: BTreeMap::new() }
    }
}

impl<F: Ord + Clone, S: Ord + Clone> Evidence<F, S> {
    /// Adds a run: its failure, if it failed, and its patterns in the order in which they occurred
    /// first. A pattern that is given twice counts twice.
    pub fn add(&mut self, failure: Option<&F>, patterns: impl IntoIterator<Item = Pattern<S>>) {
        match failure {
            None => self.passed += 1,
            Some(failure) => *self.failed.entry(failure.clone()).or_default() += 1,
        }
        for (pattern, order) in patterns.into_iter().zip(0..) {
            let new = || PatternRuns { passed: 0, failed: BTreeMap::new() };
            let runs = self.patterns.entry(pattern).or_insert_with(new);
            match failure {
                None => runs.passed += 1,
                Some(failure) => {
                    let failing = runs.failed.entry(failure.clone()).or_default();
                    failing.count += 1;
                    failing.order += order;
                }
            }
        }
    }

    /// Number of passing runs.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Number of failing runs.
    pub fn failed(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Number of different patterns.
    pub fn patterns(&self) -> usize {
        self.patterns.len()
    }

    /// The clusters, the largest first.
    pub fn clusters(&self, formula: Formula) -> Vec<Cluster<F, S>> {
        let mut clusters: Vec<_> = self
            .failed
            .iter()
            .map(|(failure, failed)| Cluster {
                failure: failure.clone(),
                failed: *failed,
                ranking: self.ranking(formula, failure, *failed),
            })
            .collect();
        // The sort is stable: clusters of the same size stay in the order of their failures.
        clusters.sort_by_key(|it| std::cmp::Reverse(it.failed));
        clusters
    }

    fn ranking(&self, formula: Formula, failure: &F, all_failed: u64) -> Vec<Ranked<S>> {
        let mut ranking: Vec<_> = self
            .patterns
            .iter()
            .map(|(pattern, runs)| {
                let failing = runs.failed.get(failure).copied().unwrap_or_default();
                let (failed, passed, all_passed) = (failing.count, runs.passed, self.passed);
                let counts = Counts { failed, passed, all_failed, all_passed };
                Ranked {
                    pattern: pattern.clone(),
                    counts,
                    score: formula.score(counts),
                    interval: formula.interval(counts),
                    order: failing.order as f64 / failing.count.max(1) as f64,
                }
            })
            .collect();
        ranking.sort_by(compare);
        ranking
    }
}

/// The more suspicious pattern first: by score; then by recurrence, the number of failing runs; then by
/// specificity, fewer passing runs, and triples before pairs, because they say more. What remains are
/// patterns that always occur together: a cause comes before its effects, so the one that occurred
/// earlier in the failing runs is first.
fn compare<S: Ord>(one: &Ranked<S>, other: &Ranked<S>) -> Ordering {
    let triple = |it: &Ranked<S>| it.pattern.kind.is_triple();
    let score = other.score.total_cmp(&one.score);
    let recurrence = other.counts.failed.cmp(&one.counts.failed);
    let specificity = one.counts.passed.cmp(&other.counts.passed);
    score
        .then(recurrence)
        .then(specificity)
        .then(triple(other).cmp(&triple(one)))
        .then(one.order.total_cmp(&other.order))
        .then_with(|| one.pattern.cmp(&other.pattern))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PatternKind;

    fn pattern(kind: PatternKind, site: u32) -> Pattern<u32> {
        Pattern { kind, sites: [site, site + 1].into_iter().collect() }
    }

    fn pair(site: u32) -> Pattern<u32> {
        pattern(PatternKind::WriteRead, site)
    }

    fn first_sites(cluster: &Cluster<&str, u32>) -> Vec<u32> {
        cluster.ranking.iter().map(|it| it.pattern.sites[0]).collect()
    }

    #[test]
    fn each_failure_has_a_ranking_of_its_own() {
        let mut evidence = Evidence::default();
        evidence.add(None, [pair(1)]);
        evidence.add(Some(&"deadlock"), [pair(1), pair(2)]);
        evidence.add(Some(&"crash"), [pair(3)]);
        evidence.add(Some(&"crash"), [pair(3), pair(1)]);
        let clusters = evidence.clusters(Formula::Jaccard);
        let names: Vec<_> = clusters.iter().map(|it| (it.failure, it.failed)).collect();
        assert_eq!(names, [("crash", 2), ("deadlock", 1)]);
        assert_eq!(first_sites(&clusters[0])[0], 3);
        assert!(clusters[0].ranking[0].score > 0.999);
        assert_eq!(first_sites(&clusters[1])[0], 2);
        // Pattern 3 occurred in no run with this failure.
        assert!(clusters[1].ranking.last().unwrap().score < 0.001);
    }

    #[test]
    fn ties_are_broken_by_recurrence_specificity_and_time() {
        let mut evidence = Evidence::default();
        let triple = pattern(PatternKind::ReadWriteWrite, 9);
        evidence.add(Some(&"crash"), [pair(5), pair(4), triple.clone()]);
        evidence.add(Some(&"crash"), [pair(5), pair(4), triple]);
        let clusters = evidence.clusters(Formula::Jaccard);
        assert_eq!(first_sites(&clusters[0]), [9, 5, 4]);
        // By Tarantula all are equal, and the number of failing runs decides.
        evidence.add(Some(&"crash"), [pair(4)]);
        let clusters = evidence.clusters(Formula::Tarantula);
        assert_eq!(first_sites(&clusters[0]), [4, 9, 5]);
    }

    #[test]
    fn without_a_failure_there_is_no_ranking() {
        let mut evidence: Evidence<&str, u32> = Evidence::default();
        evidence.add(None, [pair(1)]);
        assert_eq!(evidence.clusters(Formula::Jaccard), []);
        assert_eq!((evidence.passed(), evidence.failed(), evidence.patterns()), (1, 0, 1));
    }
}
