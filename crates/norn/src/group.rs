//! Groups findings of one bug: a bug is often found several times, as a data race and as an order
//! violation, and in both directions.
//!
//! Findings are ranked, the worst first, and those of the same bug ([`norn_model::BugId`]) are reported
//! together. Nothing is omitted: machine-readable reports have all findings, with the bug of each.

use norn_hunt::{Finding, Hunt, Status};
use norn_model::BugClass;

use crate::suppress::ReportFilter;

/// A confirmed finding, and its index in the hunt.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) at: usize,
    pub(crate) finding: &'a Finding,
}

/// The harmful findings that are not suppressed, grouped by bug, the worst first.
pub(crate) fn groups<'a>(hunt: &'a Hunt, filter: &ReportFilter<'_>) -> Vec<Vec<Member<'a>>> {
    let member = |at: usize| Member { at, finding: &hunt.findings[at] };
    let counted = |at: &usize| filter.counts_finding(*at) && hunt.findings[*at].is_harmful();
    let mut groups: Vec<Vec<Member<'a>>> = Vec::new();
    for it in ranked(hunt).into_iter().filter(counted).map(member) {
        let is_same = |known: &Member<'_>| known.finding.bug().is_same_bug(&it.finding.bug());
        match groups.iter_mut().find(|group| group.iter().any(is_same)) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

/// The indices of the findings, by rank: harmful ones, the worst first, then those that change the
/// output, then other confirmed ones, then those that are not reproducible, then the rest.
pub(crate) fn ranked(hunt: &Hunt) -> Vec<usize> {
    let mut all: Vec<usize> = (0..hunt.findings.len()).collect();
    all.sort_by_key(|at| rank(&hunt.findings[*at]));
    all
}

fn rank(finding: &Finding) -> (u32, Option<BugClass>) {
    match finding.confirmed() {
        Some(_) if finding.is_harmful() => {
            let bug = finding.bug();
            (u32::from(bug.failure.is_none()), bug.class)
        }
        Some(how) if how.other_output => (2, None),
        Some(_) if finding.remark.is_none_or(|it| it.expected.is_none()) => (3, None),
        Some(_) => (4, None),
        None if matches!(finding.status, Status::NotReproducible(..)) => (5, None),
        None => (6, None),
    }
}
