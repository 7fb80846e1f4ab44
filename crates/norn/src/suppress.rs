//! Which findings are reported: all but those that a suppression or the baseline covers.

use std::collections::BTreeSet;

use norn_hunt::{Finding, Hunt, Observed, report::Marks};
use serde_json::{Value, json};

use crate::{
    baseline::{Baseline, Fingerprint},
    cli::FailOn,
    group,
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

/// Decides which findings and failures of a hunt are reported, and which make it fail.
#[derive(Debug, Default)]
pub(crate) struct ReportFilter {
    /// By index of the finding.
    findings: Vec<Option<SuppressedBy>>,
    /// By index of the observed failure.
    observed: Vec<Option<SuppressedBy>>,
    suppressions: Vec<Suppression>,
    pub(crate) fail_on: FailOn,
}

impl ReportFilter {
    pub(crate) fn new(
        hunt: &Hunt,
        suppressions: Vec<Suppression>,
        baseline: &Baseline,
        fail_on: FailOn,
    ) -> ReportFilter {
        let known =
            |it: Fingerprint| baseline.known.contains(&it).then_some(SuppressedBy::Baseline);
        let finding = |it: &Finding| {
            let (class, description) = (it.candidate.class(), &it.description);
            let line = suppressions.iter().position(|it| it.covers(class, description));
            let fingerprint = || Fingerprint::new(class, description);
            line.map(SuppressedBy::Suppression).or_else(|| known(fingerprint()))
        };
        let findings: Vec<_> = hunt.findings.iter().map(finding).collect();
        let observed = |failure: &Observed| {
            // A failure that was seen while forcing a finding belongs to that finding.
            let finding = failure.finding.and_then(|it| findings.get(it).copied().flatten());
            let by_finding = finding.filter(|it| *it != SuppressedBy::Baseline);
            let line = || suppressions.iter().position(|it| covers(it, failure));
            by_finding
                .or_else(|| line().map(SuppressedBy::Suppression))
                .or_else(|| known(Fingerprint::observed(failure)))
        };
        let observed = hunt.observed.iter().map(observed).collect();
        ReportFilter { findings, observed, suppressions, fail_on }
    }

    /// Applies another baseline.
    pub(crate) fn update_baseline(&mut self, hunt: &Hunt, baseline: &Baseline) {
        let suppressions = std::mem::take(&mut self.suppressions);
        *self = ReportFilter::new(hunt, suppressions, baseline, self.fail_on);
    }

    /// The findings that are not suppressed.
    pub(crate) fn findings<'a>(&'a self, hunt: &'a Hunt) -> impl Iterator<Item = &'a Finding> {
        hunt.findings.iter().zip(&self.findings).filter(|it| it.1.is_none()).map(|it| it.0)
    }

    /// Whether a finding is not suppressed, by its index in the hunt.
    pub(crate) fn counts_finding(&self, at: usize) -> bool {
        self.findings.get(at).is_none_or(Option::is_none)
    }

    /// The observed failures that are not suppressed.
    pub(crate) fn observed<'a>(&'a self, hunt: &'a Hunt) -> impl Iterator<Item = &'a Observed> {
        hunt.observed.iter().zip(&self.observed).filter(|it| it.1.is_none()).map(|it| it.0)
    }

    /// Whether a finding makes the hunt fail unless it is suppressed (`--fail-on`).
    pub(crate) fn is_failing(&self, finding: &Finding) -> bool {
        match self.fail_on {
            FailOn::Harmful => finding.is_harmful(),
            FailOn::Output => {
                finding.is_harmful() || finding.confirmed().is_some_and(|it| it.other_output)
            }
            FailOn::Any => finding.confirmed().is_some(),
        }
    }

    /// Whether the hunt fails.
    pub(crate) fn fails(&self, hunt: &Hunt) -> bool {
        self.findings(hunt).any(|it| self.is_failing(it)) || self.observed(hunt).next().is_some()
    }

    /// The fingerprints of everything that makes the hunt fail: the content of a new baseline.
    pub(crate) fn fingerprints(&self, hunt: &Hunt) -> BTreeSet<Fingerprint> {
        let unsuppressed =
            |it: &Option<SuppressedBy>| !matches!(it, Some(SuppressedBy::Suppression(_)));
        let findings = hunt.findings.iter().zip(&self.findings);
        let findings = findings.filter(|it| unsuppressed(it.1) && self.is_failing(it.0));
        let findings =
            findings.map(|(it, _)| Fingerprint::new(it.candidate.class(), &it.description));
        let observed = hunt.observed.iter().zip(&self.observed).filter(|it| unsuppressed(it.1));
        findings.chain(observed.map(|it| Fingerprint::observed(it.0))).collect()
    }

    /// How many confirmed findings and failures are suppressed by lines, and how many by the baseline.
    pub(crate) fn counts(&self, hunt: &Hunt) -> [usize; 2] {
        let findings = hunt.findings.iter().zip(&self.findings);
        let findings = findings.filter(|it| it.0.confirmed().is_some()).map(|it| it.1);
        let all: Vec<_> = findings.chain(&self.observed).flatten().collect();
        let known = all.iter().filter(|it| ***it == SuppressedBy::Baseline).count();
        [all.len() - known, known]
    }

    /// The suppressions, and how many findings and failures each one covers.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&Suppression, usize)> {
        let all = || self.findings.iter().chain(&self.observed);
        let used = move |at| all().filter(|it| **it == Some(SuppressedBy::Suppression(at))).count();
        self.suppressions.iter().enumerate().map(move |(at, it)| (it, used(at)))
    }

    /// What reports have of it.
    pub(crate) fn marks(&self, hunt: &Hunt) -> Marks {
        let [suppressed, known] = self.counts(hunt);
        let by = |it: &Option<SuppressedBy>| it.and_then(|it| self.reported(it));
        let bugs = group::groups(hunt, self);
        Marks {
            findings: self.findings.iter().map(by).collect(),
            observed: self.observed.iter().map(by).collect(),
            suppressions: self.usage().map(|(it, used)| it.report(used)).collect(),
            ranked: group::ranked(hunt),
            bugs: bugs.iter().map(|it| it.iter().map(|it| it.at).collect()).collect(),
            suppressed,
            known,
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

/// Whether a suppression covers an observed failure.
fn covers(suppression: &Suppression, observed: &Observed) -> bool {
    let failure = match json!(observed.consequence) {
        Value::String(name) => name,
        Value::Object(fields) => fields.into_iter().next().map(|it| it.0).unwrap_or_default(),
        _ => String::new(),
    };
    let story = json!(observed.story);
    let mut names = Vec::new();
    collect_names(&story, &mut names);
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
