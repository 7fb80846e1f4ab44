//! Which findings are reported: all but those that a suppression or the baseline covers. Findings of
//! hunts and violated properties are treated alike.

use std::collections::BTreeSet;

use norn_hunt::{Description, Finding, Observed, Violation, report::Marks};
use norn_model::BugId;
use serde_json::{Value, json};

use crate::{
    baseline::{Baseline, Fingerprint},
    cli::FailOn,
    results::Results,
    suppression::Suppression,
};

/// What suppresses a finding or an observed failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuppressedBy {
    /// A line of a suppression file, by its index.
    Suppression(usize),
    /// The baseline: it was found before.
    Baseline,
}

/// The properties of a finding that decide whether it is reported.
#[derive(Debug)]
pub(crate) struct Item {
    bug: BugId,
    description: Description,
    /// Whether the program confirmed it.
    is_confirmed: bool,
    /// Whether it makes the command fail unless it is suppressed (`--fail-on`).
    is_failing: bool,
}

impl Item {
    pub(crate) fn of_finding(finding: &Finding, fail_on: FailOn) -> Item {
        let confirmed = finding.confirmed();
        Item {
            bug: finding.bug(),
            description: finding.description.clone(),
            is_confirmed: confirmed.is_some(),
            is_failing: match fail_on {
                FailOn::Harmful => finding.is_harmful(),
                FailOn::Output => {
                    finding.is_harmful() || confirmed.is_some_and(|it| it.other_output)
                }
                FailOn::Any => confirmed.is_some(),
            },
        }
    }

    /// Every violation of a property of the user is harmful.
    pub(crate) fn of_violation(violation: &Violation) -> Item {
        let (variables, accesses) = (Vec::new(), violation.steps.clone());
        Item {
            bug: violation.bug(),
            description: Description { variables, accesses },
            is_confirmed: violation.is_real(),
            is_failing: violation.is_real(),
        }
    }
}

/// Decides which findings and failures of a command are reported, and which make it fail.
#[derive(Debug, Default)]
pub(crate) struct ReportFilter<'a> {
    items: Vec<Item>,
    failures: &'a [Observed],
    /// By index of the finding.
    findings: Vec<Option<SuppressedBy>>,
    /// By index of the observed failure.
    observed: Vec<Option<SuppressedBy>>,
    suppressions: Vec<Suppression>,
    /// Whether observed failures make the command fail.
    fails_on_observed: bool,
}

impl<'a> ReportFilter<'a> {
    /// The filter of a search.
    pub(crate) fn new<R: Results>(
        results: &'a R,
        suppressions: Vec<Suppression>,
        fail_on: FailOn,
    ) -> ReportFilter<'a> {
        let filter = ReportFilter {
            items: (0..results.count()).map(|at| results.item(at, fail_on)).collect(),
            failures: results.observed(),
            suppressions,
            fails_on_observed: R::fails_on_observed(fail_on),
            ..Self::default()
        };
        filter.with_baseline(&Baseline::default())
    }

    /// Applies a baseline, which replaces any other.
    pub(crate) fn with_baseline(mut self, baseline: &Baseline) -> Self {
        let fingerprint = |it: &Item| baseline.fingerprint(&it.bug, &it.description);
        let failure = |it: &Observed| baseline.fingerprint_of_failure(it);
        // A known bug is matched with what makes the command fail, not with a mere candidate.
        let real = self.items.iter().filter(|it| it.is_failing).map(fingerprint);
        let found: BTreeSet<_> = real.chain(self.failures.iter().map(failure)).collect();
        let matches = baseline.matches(&found.iter().collect());
        let known = |it: &Fingerprint| matches.contains(it).then_some(SuppressedBy::Baseline);
        let finding = |it: &Item| {
            let line =
                self.suppressions.iter().position(|line| line.covers(&it.bug, &it.description));
            line.map(SuppressedBy::Suppression).or_else(|| known(&fingerprint(it)))
        };
        let findings: Vec<_> = self.items.iter().map(finding).collect();
        let observed = |failure: &Observed| {
            // A failure that was observed while a finding was forced belongs to that finding.
            let finding = failure.finding.and_then(|it| findings.get(it).copied().flatten());
            let by_finding = finding.filter(|it| *it != SuppressedBy::Baseline);
            let line = || self.suppressions.iter().position(|it| covers(it, failure));
            by_finding
                .or_else(|| line().map(SuppressedBy::Suppression))
                .or_else(|| known(&baseline.fingerprint_of_failure(failure)))
        };
        self.observed = self.failures.iter().map(observed).collect();
        self.findings = findings;
        self
    }

    /// Whether a finding is not suppressed, by its index.
    pub(crate) fn counts_finding(&self, at: usize) -> bool {
        self.findings.get(at).is_none_or(Option::is_none)
    }

    /// Whether an observed failure is not suppressed.
    pub(crate) fn counts_failure(&self, failure: &Observed) -> bool {
        let mut all = self.failures.iter().zip(&self.observed);
        all.any(|(it, by)| it.clip == failure.clip && by.is_none())
    }

    /// Lets findings count that were reported, by their indices. What is known of a finding may change
    /// after it was reported.
    pub(crate) fn keep(&mut self, is_reported: impl Fn(usize) -> bool) {
        for (at, by) in self.findings.iter_mut().enumerate() {
            if is_reported(at) {
                *by = None;
            }
        }
    }

    /// Whether the command fails.
    pub(crate) fn fails(&self) -> bool {
        let mut findings = self.items.iter().zip(&self.findings);
        findings.any(|(it, by)| it.is_failing && by.is_none())
            || self.fails_on_observed && self.counted_failures().any(|it| it.1.is_none())
    }

    /// The observed failures that are reproducible, and what suppresses them.
    fn counted_failures(&self) -> impl Iterator<Item = (&Observed, &Option<SuppressedBy>)> {
        let all = self.failures.iter().zip(&self.observed);
        all.filter(|it| it.0.not_reproduced.is_none())
    }

    /// The fingerprints of everything that makes the command fail: the content of a new baseline.
    pub(crate) fn fingerprints(&self) -> BTreeSet<Fingerprint> {
        let unsuppressed =
            |it: &Option<SuppressedBy>| !matches!(it, Some(SuppressedBy::Suppression(_)));
        let findings = self.items.iter().zip(&self.findings);
        let findings = findings.filter(|it| unsuppressed(it.1) && it.0.is_failing);
        let observed =
            self.counted_failures().filter(|it| self.fails_on_observed && unsuppressed(it.1));
        let findings = findings.map(|it| Fingerprint::new(&it.0.bug));
        findings.chain(observed.map(|it| Fingerprint::new(&it.0.bug()))).collect()
    }

    /// Number of confirmed findings and failures that lines suppress, and that the baseline suppresses.
    fn counts(&self) -> [usize; 2] {
        let findings = self.items.iter().zip(&self.findings);
        let findings = findings.filter(|it| it.0.is_confirmed).map(|it| it.1);
        let observed = self.counted_failures().map(|it| it.1);
        let all: Vec<_> = findings.chain(observed).flatten().collect();
        let known = all.iter().filter(|it| ***it == SuppressedBy::Baseline).count();
        [all.len() - known, known]
    }

    /// The suppressions, each with the number of findings and failures that it covers.
    fn usage(&self) -> impl Iterator<Item = (&Suppression, usize)> {
        let all = || self.findings.iter().chain(&self.observed);
        let used = move |at| all().filter(|it| **it == Some(SuppressedBy::Suppression(at))).count();
        self.suppressions.iter().enumerate().map(move |(at, it)| (it, used(at)))
    }

    /// What a report has from the filter.
    pub(crate) fn marks(&self) -> Marks {
        let [suppressed, known] = self.counts();
        let by = |it: &Option<SuppressedBy>| it.and_then(|it| self.reported(it));
        Marks {
            findings: self.findings.iter().map(by).collect(),
            observed: self.observed.iter().map(by).collect(),
            suppressions: self.usage().map(|(it, used)| it.report(used)).collect(),
            suppressed,
            known,
            ..Marks::default()
        }
    }

    fn reported(&self, by: SuppressedBy) -> Option<norn_report::SuppressedBy> {
        Some(match by {
            SuppressedBy::Baseline => norn_report::SuppressedBy::Baseline,
            SuppressedBy::Suppression(at) => {
                norn_report::SuppressedBy::Suppression(self.suppressions.get(at)?.to_string())
            }
        })
    }
}

/// Whether a suppression covers an observed failure: by a name in its story, or by its place.
fn covers(suppression: &Suppression, observed: &Observed) -> bool {
    let failure = match json!(observed.consequence) {
        Value::String(name) => name,
        Value::Object(fields) => fields.into_iter().next().map(|it| it.0).unwrap_or_default(),
        _ => String::new(),
    };
    let (story, site) = (json!(observed.story), json!(observed.failure));
    let mut names = Vec::new();
    collect_names(&story, &mut names);
    collect_names(&site, &mut names);
    suppression.covers_failure(&failure, names.into_iter())
}

/// Collects the names of all functions, files and objects of a story.
fn collect_names<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| collect_names(it, names)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    // The last steps of other threads did not cause the failure.
                    ("last", _) => {}
                    ("function" | "file" | "name" | "object", Value::String(name)) => {
                        names.push(name);
                    }
                    _ => collect_names(value, names),
                }
            }
        }
        _ => {}
    }
}
