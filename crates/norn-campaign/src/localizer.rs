//! Accumulates runs and ranks their patterns.

use std::collections::BTreeMap;

use norn_localize::{Cluster, Evidence, Formula, Pattern, Ranked, is_settled};
use norn_report::{Access, FailureCluster, Localization, RankedPattern, ScoreInterval};

use crate::{
    CodeSite, Failure, RunOutcome,
    title::{class, title},
};

/// A run, as evidence.
#[derive(Clone, Debug)]
pub struct RunEvidence {
    /// What identifies the run for a reader.
    pub origin: Origin,
    /// How it ended.
    pub outcome: RunOutcome,
    /// Its patterns, each once, in the order in which they occurred first.
    pub patterns: Vec<Pattern<CodeSite>>,
    /// Whether the order of plain accesses of different threads was recorded.
    pub is_ordered: bool,
    /// Whether only some bytes of long accesses were looked at.
    pub is_sampled: bool,
}

/// What identifies a run for a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its number, or the folder of its trace.
    pub name: String,
    /// The command that repeats it, if there is one.
    pub reproduce: Vec<String>,
    /// Its clip, if it was written.
    pub clip: Option<String>,
}

/// Accumulates runs.
#[derive(Debug)]
pub struct Localizer {
    window: usize,
    formula: Formula,
    evidence: Evidence<Failure, CodeSite>,
    /// An occurrence of each pattern.
    examples: BTreeMap<Pattern<CodeSite>, Example>,
    /// The first run with each failure.
    first: BTreeMap<Failure, Origin>,
    unfinished: u64,
    lost: u64,
    unordered: u64,
    sampled: u64,
}

/// An occurrence of a pattern.
#[derive(Debug)]
struct Example {
    /// Whether it is from a failing run.
    failing: bool,
    accesses: Vec<Access>,
}

impl Localizer {
    /// Without any runs.
    pub fn new(window: usize, formula: Formula) -> Localizer {
        Localizer {
            window,
            formula,
            evidence: Evidence::default(),
            examples: BTreeMap::new(),
            first: BTreeMap::new(),
            unfinished: 0,
            lost: 0,
            unordered: 0,
            sampled: 0,
        }
    }

    /// Adds a run.
    pub fn add(&mut self, run: &RunEvidence) {
        if run.outcome == RunOutcome::Unfinished {
            self.unfinished += 1;
            return;
        }
        self.unordered += u64::from(!run.is_ordered);
        self.sampled += u64::from(run.is_sampled);
        let failure = run.outcome.failure();
        if let Some(failure) = failure {
            self.first.entry(failure.clone()).or_insert_with(|| run.origin.clone());
        }
        self.evidence.add(failure, run.patterns.iter().cloned());
    }

    /// Adds a run that could not be made or read.
    pub fn add_lost(&mut self) {
        self.lost += 1;
    }

    /// Adds an occurrence of a pattern, in a failing or in a passing run, unless a better one is known.
    pub fn describe(&mut self, pattern: &Pattern<CodeSite>, failing: bool, accesses: Vec<Access>) {
        if !self.is_described(pattern, failing) {
            self.examples.insert(pattern.clone(), Example { failing, accesses });
        }
    }

    /// Whether an occurrence in such a run would not be a better example of a pattern: the first one
    /// in a failing run is best.
    pub(crate) fn is_described(&self, pattern: &Pattern<CodeSite>, failing: bool) -> bool {
        self.examples.get(pattern).is_some_and(|it| it.failing || !failing)
    }

    /// Whether no run has been added that passed or failed.
    pub fn is_empty(&self) -> bool {
        self.counts() == (0, 0)
    }

    /// Number of passing and of failing runs.
    pub fn counts(&self) -> (u64, u64) {
        (self.evidence.passed(), self.evidence.failed())
    }

    /// Whether more runs would not change the first pattern of any failure.
    pub fn is_settled(&self) -> bool {
        is_settled(&self.evidence.clusters(self.formula), self.evidence.passed())
    }

    /// The first pattern of the most frequent failure, and its score.
    pub fn top(&self) -> Option<(String, f64)> {
        let clusters = self.evidence.clusters(self.formula);
        let first = clusters.first()?.ranking.first().filter(|it| it.score > 0.0)?;
        Some((self.title(&first.pattern), first.score))
    }

    /// The failures, and the first patterns of each, in the order of the report.
    pub fn suspects(&self, count: usize) -> Vec<(Failure, Vec<Pattern<CodeSite>>)> {
        let clusters = self.evidence.clusters(self.formula);
        let suspects = |ranking: &[Ranked<CodeSite>]| {
            let suspects = ranking.iter().filter(|it| it.score > 0.0).take(count);
            suspects.map(|it| it.pattern.clone()).collect()
        };
        clusters.into_iter().map(|it| (it.failure, suspects(&it.ranking))).collect()
    }

    /// The ranking for each failure, with this many patterns each.
    pub fn report(&self, patterns: usize) -> Localization {
        let clusters = self.evidence.clusters(self.formula);
        let (passed, failed) = self.counts();
        Localization {
            passed,
            failed,
            unfinished: self.unfinished,
            lost: self.lost,
            pending: 0,
            predicted: None,
            patterns: self.evidence.patterns(),
            window: self.window,
            score: self.formula.name().to_owned(),
            settled: false,
            unordered: self.unordered,
            sampled: self.sampled,
            clusters: clusters.iter().map(|it| self.cluster(it, patterns)).collect(),
        }
    }

    fn cluster(&self, cluster: &Cluster<Failure, CodeSite>, shown: usize) -> FailureCluster {
        let Failure { site, title } = &cluster.failure;
        let origin = self.first.get(&cluster.failure).cloned().unwrap_or_default();
        let suspects: Vec<_> = cluster.ranking.iter().filter(|it| it.score > 0.0).collect();
        FailureCluster {
            title: title.clone(),
            places: site.places.iter().cloned().collect(),
            failed: cluster.failed,
            first: origin.name,
            reproduce: origin.reproduce,
            clip: origin.clip,
            more: suspects.len().saturating_sub(shown),
            ranking: suspects.into_iter().take(shown).map(|it| self.ranked(it)).collect(),
        }
    }

    fn ranked(&self, ranked: &Ranked<CodeSite>) -> RankedPattern {
        let pattern = &ranked.pattern;
        let accesses = self.examples.get(pattern).map(|it| it.accesses.clone());
        RankedPattern {
            class: class(pattern.kind),
            shape: pattern.kind.name().to_owned(),
            title: self.title(pattern),
            accesses: accesses.unwrap_or_default(),
            failed: ranked.counts.failed,
            passed: ranked.counts.passed,
            score: ranked.score,
            interval: ScoreInterval { low: ranked.interval.low, high: ranked.interval.high },
            experiment: None,
        }
    }

    fn title(&self, pattern: &Pattern<CodeSite>) -> String {
        let accesses = self.examples.get(pattern).map(|it| it.accesses.as_slice());
        title(pattern.kind, accesses.unwrap_or_default())
    }
}
