//! What was found and does not count: suppressed, or known.

use std::{collections::BTreeSet, io::Write};

use norn_hunt::{Finding, Hunt, Observed};
use serde_json::{Value, json};

use crate::{
    baseline::{Baseline, Fingerprint},
    cli::FailOn,
    suppression::Rule,
};

/// Why something does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pardon {
    /// By a rule, of which this is the number.
    Suppressed(usize),
    /// It is in the baseline.
    Known,
}

/// What counts and what does not.
#[derive(Debug, Default)]
pub(crate) struct Pardons {
    findings: Vec<Option<Pardon>>,
    observed: Vec<Option<Pardon>>,
    rules: Vec<Rule>,
    pub(crate) fail_on: FailOn,
}

impl Pardons {
    pub(crate) fn new(
        hunt: &Hunt,
        rules: Vec<Rule>,
        baseline: &Baseline,
        fail_on: FailOn,
    ) -> Pardons {
        let known = |it: Fingerprint| baseline.known.contains(&it).then_some(Pardon::Known);
        let finding = |it: &Finding| {
            let (class, description) = (it.candidate.class, &it.description);
            let rule = rules.iter().position(|rule| rule.covers(class, description));
            let fingerprint = || Fingerprint::new(class, description);
            rule.map(Pardon::Suppressed).or_else(|| known(fingerprint()))
        };
        let findings: Vec<_> = hunt.findings.iter().map(finding).collect();
        let observed = |it: &Observed| {
            let aim = it.finding.and_then(|it| findings.get(it).copied().flatten());
            let suppressed = |it: &Pardon| matches!(it, Pardon::Suppressed(_));
            let rule = || rules.iter().position(|rule| covers(rule, it)).map(Pardon::Suppressed);
            aim.filter(suppressed).or_else(rule).or_else(|| known(Fingerprint::observed(it)))
        };
        let observed = hunt.observed.iter().map(observed).collect();
        Pardons { findings, observed, rules, fail_on }
    }

    /// What was not known is, from now on.
    pub(crate) fn learn(&mut self, hunt: &Hunt, baseline: &Baseline) {
        *self = Pardons::new(hunt, std::mem::take(&mut self.rules), baseline, self.fail_on);
    }

    /// The findings that are neither suppressed nor known.
    pub(crate) fn findings<'a>(&'a self, hunt: &'a Hunt) -> impl Iterator<Item = &'a Finding> {
        hunt.findings.iter().zip(&self.findings).filter(|it| it.1.is_none()).map(|it| it.0)
    }

    /// Whether a finding is neither suppressed nor known, by its place in the hunt.
    pub(crate) fn counts_finding(&self, at: usize) -> bool {
        self.findings.get(at).is_none_or(Option::is_none)
    }

    /// The failures that are neither suppressed nor known.
    pub(crate) fn observed<'a>(&'a self, hunt: &'a Hunt) -> impl Iterator<Item = &'a Observed> {
        hunt.observed.iter().zip(&self.observed).filter(|it| it.1.is_none()).map(|it| it.0)
    }

    /// Whether a finding makes the hunt fail, if it is neither suppressed nor known.
    pub(crate) fn is_grave(&self, finding: &Finding) -> bool {
        match self.fail_on {
            FailOn::Harmful => finding.is_harmful(),
            FailOn::Output => {
                finding.is_harmful() || finding.confirmed().is_some_and(|it| it.other_output)
            }
            FailOn::Any => finding.confirmed().is_some(),
        }
    }

    /// Whether anything counts.
    pub(crate) fn fails(&self, hunt: &Hunt) -> bool {
        self.findings(hunt).any(|it| self.is_grave(it)) || self.observed(hunt).next().is_some()
    }

    /// What there is to know, so that nothing of it counts the next time.
    pub(crate) fn fingerprints(&self, hunt: &Hunt) -> BTreeSet<Fingerprint> {
        let unsuppressed = |it: &Option<Pardon>| !matches!(it, Some(Pardon::Suppressed(_)));
        let findings = hunt.findings.iter().zip(&self.findings);
        let findings = findings.filter(|it| unsuppressed(it.1) && self.is_grave(it.0));
        let findings =
            findings.map(|(it, _)| Fingerprint::new(it.candidate.class, &it.description));
        let observed = hunt.observed.iter().zip(&self.observed).filter(|it| unsuppressed(it.1));
        findings.chain(observed.map(|it| Fingerprint::observed(it.0))).collect()
    }

    /// How many that would count are suppressed, and how many are known.
    pub(crate) fn counts(&self, hunt: &Hunt) -> [usize; 2] {
        let findings = hunt.findings.iter().zip(&self.findings);
        let findings = findings.filter(|it| it.0.confirmed().is_some()).map(|it| it.1);
        let all: Vec<_> = findings.chain(&self.observed).flatten().collect();
        let known = all.iter().filter(|it| ***it == Pardon::Known).count();
        [all.len() - known, known]
    }

    /// The rules, and how much each has suppressed.
    pub(crate) fn rules(&self) -> impl Iterator<Item = (&Rule, usize)> {
        let all = || self.findings.iter().chain(&self.observed);
        let used = move |at| all().filter(|it| **it == Some(Pardon::Suppressed(at))).count();
        self.rules.iter().enumerate().map(move |(at, rule)| (rule, used(at)))
    }

    /// For people: how much does not count, and by which rules.
    pub(crate) fn text(
        &self,
        out: &mut impl Write,
        hunt: &Hunt,
        verbose: bool,
    ) -> anyhow::Result<()> {
        let [suppressed, known] = self.counts(hunt);
        if known > 0 {
            writeln!(out, "{known} known and not told")?;
        }
        if suppressed > 0 {
            writeln!(out, "{suppressed} suppressed")?;
        }
        told(out, self.rules(), verbose)
    }

    /// For programs: why a finding does not count.
    pub(crate) fn json(&self, finding: usize) -> Value {
        self.why(self.findings.get(finding).copied().flatten())
    }

    /// The same for a failure.
    pub(crate) fn json_observed(&self, observed: usize) -> Value {
        self.why(self.observed.get(observed).copied().flatten())
    }

    fn why(&self, pardon: Option<Pardon>) -> Value {
        match pardon {
            None => Value::Null,
            Some(Pardon::Known) => json!("known"),
            Some(Pardon::Suppressed(at)) => {
                json!({ "suppressed": self.rules.get(at).map(ToString::to_string) })
            }
        }
    }
}

/// Names rules: those that were used, and, if `verbose`, the others.
pub(crate) fn told<'a>(
    out: &mut impl Write,
    rules: impl Iterator<Item = (&'a Rule, usize)>,
    verbose: bool,
) -> anyhow::Result<()> {
    for (rule, used) in rules.filter(|it| verbose || it.1 > 0) {
        let often = match used {
            0 => "not used".to_owned(),
            1 => "used once".to_owned(),
            more => format!("used {more} times"),
        };
        writeln!(out, "  {rule} ({}) {often}", rule.place())?;
    }
    Ok(())
}

/// Whether a rule is about a failure.
fn covers(rule: &Rule, observed: &Observed) -> bool {
    let failure = match json!(observed.consequence) {
        Value::String(name) => name,
        Value::Object(fields) => fields.into_iter().next().map(|it| it.0).unwrap_or_default(),
        _ => String::new(),
    };
    let story = json!(observed.story);
    let mut names = Vec::new();
    named(&story, &mut names);
    rule.covers_failure(&failure, names.into_iter())
}

/// All functions, files and objects of a story.
fn named<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| named(it, names)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    // What else happened at the end is not what it is about.
                    ("last", _) => {}
                    ("function" | "file" | "name" | "object", Value::String(name)) => {
                        names.push(name);
                    }
                    _ => named(value, names),
                }
            }
        }
        _ => {}
    }
}
