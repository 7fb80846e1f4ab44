//! One bug is often found several times: as a race and as a violated order, and in both directions.
//!
//! Findings are ranked, the worst first, and those that look like one bug are told as one. They
//! lead to the same failure, and are about the same variable or the same places in the code. Where
//! nothing fails, only the places count.
//! Nothing is left out: programs get them all, and who belongs to whom.

use std::collections::BTreeSet;

use norn_hunt::{Confirmed, Finding, Hunt};
use norn_model::{BugClass, Consequence};

use crate::suppress::ReportFilter;

/// A confirmed finding, where it is in the hunt, and how it was confirmed.
#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) at: usize,
    pub(crate) finding: &'a Finding,
    pub(crate) how: &'a Confirmed,
}

/// The harmful findings that count, the worst first, those of one bug together.
pub(crate) fn groups<'a>(hunt: &'a Hunt, filter: &ReportFilter) -> Vec<Vec<Member<'a>>> {
    let member = |at: usize| {
        let finding = &hunt.findings[at];
        Some(Member { at, finding, how: finding.confirmed()? })
    };
    let counted = |at: &usize| filter.counts_finding(*at) && hunt.findings[*at].is_harmful();
    let mut groups: Vec<Vec<Member<'a>>> = Vec::new();
    for it in ranked(hunt).into_iter().filter(counted).filter_map(member) {
        match groups.iter_mut().find(|group| group.iter().any(|other| is_same(other, &it))) {
            Some(group) => group.push(it),
            None => groups.push(vec![it]),
        }
    }
    groups
}

/// The findings by their places in the hunt: harmful ones first, the worst of them before the
/// others, then what changes the output, what is confirmed, and the rest.
pub(crate) fn ranked(hunt: &Hunt) -> Vec<usize> {
    let mut all: Vec<usize> = (0..hunt.findings.len()).collect();
    all.sort_by_key(|at| rank(&hunt.findings[*at]));
    all
}

fn rank(finding: &Finding) -> (u32, Option<BugClass>) {
    match finding.confirmed() {
        Some(how) if finding.is_harmful() => {
            (u32::from(!how.consequence.is_failure()), Some(finding.candidate.class()))
        }
        Some(how) if how.other_output => (2, None),
        Some(_) if finding.remark.is_none_or(|it| it.expected.is_none()) => (3, None),
        Some(_) => (4, None),
        None => (5, None),
    }
}

/// Whether a finding belongs to a bug that another one shows. The two directions of a race may
/// lead to different things: what leads to nothing is the same race, if its places are.
fn is_same(known: &Member<'_>, new: &Member<'_>) -> bool {
    let harmless = new.how.consequence == Consequence::None;
    let variables = &known.finding.description.variables;
    let common = new.finding.description.variables.iter().any(|it| variables.contains(it));
    let same = known.how.consequence == new.how.consequence;
    same && (!harmless && common || share_places(known.finding, new.finding))
        || harmless && common && places(known.finding) == places(new.finding)
}

/// Whether two findings have two places in common, or their only one.
fn share_places(one: &Finding, other: &Finding) -> bool {
    let (one, other) = (places(one), places(other));
    let common = one.intersection(&other).count();
    common >= 2 || common == 1 && one.len() == 1 && other.len() == 1
}

fn places(finding: &Finding) -> BTreeSet<String> {
    let accesses = finding.description.accesses.iter();
    accesses.filter_map(|it| it.stack.first()).map(norn_report::vocabulary::place).collect()
}
