//! Accumulates runs and ranks their patterns.

use std::collections::BTreeMap;

use norn_localize::{Cluster, Evidence, Formula, Pattern, Ranked, is_settled};
use norn_replay::SymbolizedTrace;
use norn_report::{Access, FailureCluster, Localization, RankedPattern, ScoreInterval};

use crate::{
    CodeSite, Failure, RunOutcome, RunPatterns, example,
    title::{class, title},
};

/// A run, as evidence.
#[derive(Debug)]
pub struct RunEvidence<'a> {
    /// What identifies the run for a reader.
    pub origin: Origin,
    /// How it ended.
    pub outcome: &'a RunOutcome,
    /// Its patterns.
    pub patterns: &'a RunPatterns,
    /// Its trace, from which patterns are described that were not seen before.
    pub symbolized: &'a SymbolizedTrace,
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
    pub fn add(&mut self, run: &RunEvidence<'_>) {
        if *run.outcome == RunOutcome::Unfinished {
            self.unfinished += 1;
            return;
        }
        self.unordered += u64::from(!run.patterns.is_ordered);
        self.sampled += u64::from(run.patterns.is_sampled);
        let failure = run.outcome.failure();
        if let Some(failure) = failure {
            self.first.entry(failure.clone()).or_insert_with(|| run.origin.clone());
        }
        self.describe(run, failure.is_some());
        let patterns = run.patterns.patterns.iter().map(|it| it.0.clone());
        self.evidence.add(failure, patterns);
    }

    /// Adds a run that could not be made or read.
    pub fn add_lost(&mut self) {
        self.lost += 1;
    }

    /// Describes the patterns that were not seen before; or only in passing runs, if this one failed.
    fn describe(&mut self, run: &RunEvidence<'_>, failing: bool) {
        let is_known =
            |it: &Pattern<CodeSite>| self.examples.get(it).is_some_and(|it| it.failing || !failing);
        let new: Vec<_> = run.patterns.patterns.iter().filter(|it| !is_known(&it.0)).collect();
        let occurrences: Vec<_> = new.iter().map(|it| &it.1).collect();
        let described = example::describe(run.symbolized, &occurrences);
        for ((pattern, _), accesses) in new.into_iter().zip(described) {
            self.examples.insert(pattern.clone(), Example { failing, accesses });
        }
    }

    /// Whether no run has been added that passed or failed.
    pub fn is_empty(&self) -> bool {
        self.counts() == (0, 0)
    }

    /// Whether a run with this failure has been added.
    pub fn knows(&self, failure: &Failure) -> bool {
        self.first.contains_key(failure)
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

    /// The ranking for each failure, with this many patterns each.
    pub fn report(&self, patterns: usize) -> Localization {
        let clusters = self.evidence.clusters(self.formula);
        let (passed, failed) = self.counts();
        Localization {
            passed,
            failed,
            unfinished: self.unfinished,
            lost: self.lost,
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
        }
    }

    fn title(&self, pattern: &Pattern<CodeSite>) -> String {
        let accesses = self.examples.get(pattern).map(|it| it.accesses.as_slice());
        title(pattern.kind, accesses.unwrap_or_default())
    }
}
