//! Converts the results of a search to its report.
//!
//! Ranking, grouping, counting and the choice between full and one-line output happen here, once
//! for all output formats.

mod brief;
mod check;
mod finding;
mod hunt;
mod predict;
mod property;
mod unseen;

use std::path::Path;

use norn_report::{
    AlsoSeen, Detail, Ended, Finding, Note, ObservedFailure, Omissions, Run, Status, Summary,
    SuppressedBy, Suppression,
};

pub(crate) use self::finding::title;
pub use self::{
    check::check,
    hunt::hunt,
    predict::{forecast, outlook},
};
use crate::{Base, Observed};

/// Suppressions of the user, and which findings are the same bug. Findings and failures are
/// identified by their indices in the results of the search.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// For each finding, why it is suppressed, if it is.
    pub findings: Vec<Option<SuppressedBy>>,
    /// For each observed failure, why it is suppressed, if it is.
    pub observed: Vec<Option<SuppressedBy>>,
    /// The lines of suppression files, and how often each was used.
    pub suppressions: Vec<Suppression>,
    /// All findings, the worst first.
    pub ranked: Vec<usize>,
    /// The harmful findings that are not suppressed, grouped by bug, in the order in which the bugs were
    /// found; of each bug the worst first. A bug that only failures show has no findings.
    pub bugs: Vec<Vec<usize>>,
    /// The findings by which bugs were announced while the search ran.
    pub announced: Vec<usize>,
    /// For each observed failure, the number of its bug, if it has one.
    pub failures: Vec<Option<usize>>,
    /// Number of confirmed findings and failures that are suppressed.
    pub suppressed: usize,
    /// Number of confirmed findings and failures that are known.
    pub known: usize,
}

/// A finding of a hunt, without its number.
pub fn finding(found: &crate::Finding) -> Finding {
    finding::finding(found)
}

/// A property that is violated, or may be, without its number.
pub fn violation(violation: &crate::Violation) -> Finding {
    check::violation(violation)
}

/// A failure that happened without having been predicted.
pub fn observed(failure: &Observed) -> ObservedFailure {
    hunt::unmarked(failure)
}

/// The command that replays a clip.
fn replay(clip: &Path) -> Vec<String> {
    vec!["norn".to_owned(), "replay".to_owned(), clip.display().to_string()]
}

/// The recorded run.
fn run(base: &Base) -> Run {
    Run {
        events: Some(base.events),
        threads: Some(base.threads),
        ..Run::new(base.consequence.clone())
    }
}

fn omissions(omitted: &crate::Omissions) -> Omissions {
    Omissions {
        events: omitted.events,
        sampled: omitted.limits.sampled,
        variable_pairs: omitted.limits.variable_pairs,
        lock_requests: omitted.limits.requests,
        patterns: omitted.limits.patterns.clone(),
        threads: omitted.threads.clone(),
        names: omitted.names.clone(),
        functions: 0,
    }
}

/// What a reader must know to judge the results.
fn notes(base: &Base, ended: Ended) -> Vec<Note> {
    let early = match ended {
        Ended::Interrupted => Some(Note::Interrupted),
        Ended::Time => Some(Note::TimeLimit),
        Ended::First => Some(Note::FirstOnly),
        Ended::Budget | Ended::Complete => None,
    };
    early.into_iter().chain(base.notes.iter().cloned()).collect()
}

/// The details of the bugs: the worst finding of each in full, the others by class.
fn details(marks: &Marks, findings: &[Finding]) -> Vec<Detail> {
    let place = |at: &usize| marks.ranked.iter().position(|it| it == at);
    let detail = |bug: &Vec<usize>| {
        let mut members = bug.iter().filter_map(place);
        let first = members.next()?;
        let others = members.filter_map(|at| findings.get(at));
        Some(Detail { finding: first, also: also(others) })
    };
    marks.bugs.iter().filter_map(detail).collect()
}

/// A finding, with its number and its suppression, by its index in the results of the search.
fn marked(finding: Finding, marks: &Marks, at: usize) -> Finding {
    let bug = marks.bugs.iter().position(|it| it.contains(&at)).map(|it| it + 1);
    let suppressed_by = marks.findings.get(at).cloned().flatten();
    let announced = marks.announced.contains(&at);
    Finding { bug, announced, suppressed_by, ..finding }
}

/// Counts the findings by result.
fn counts(findings: &[Finding], observed: &[Observed]) -> Summary {
    let lost = observed.iter().filter(|it| it.not_reproduced.is_some()).count();
    let count = |status| findings.iter().filter(|it| it.status == status).count();
    Summary {
        candidates: findings.len(),
        observed: count(Status::Observed),
        confirmed: count(Status::Confirmed),
        harmful: findings.iter().filter(|it| it.harmful).count(),
        not_reproducible: count(Status::NotReproducible) + lost,
        infeasible: count(Status::Infeasible),
        inconclusive: count(Status::Inconclusive),
        unconfirmed: count(Status::Unconfirmed),
        untried: count(Status::Untried),
        scheduled: findings.iter().filter(|it| it.schedule.is_some()).count(),
        ..Summary::default()
    }
}

/// Maximum number of clips that are listed for each class.
const CLIPS: usize = 2;

/// The other findings of the same bug, by class.
fn also<'a>(others: impl Iterator<Item = &'a Finding>) -> Vec<AlsoSeen> {
    let mut all: Vec<AlsoSeen> = Vec::new();
    for it in others {
        if !all.iter().any(|seen| seen.name == it.name) {
            all.push(AlsoSeen { name: it.name.clone(), clips: Vec::new(), more: 0 });
        }
        let Some(seen) = all.iter_mut().find(|seen| seen.name == it.name) else { continue };
        match &it.clip {
            // One run may show the same bug in several ways.
            Some(clip) if seen.clips.contains(clip) => {}
            Some(clip) if seen.clips.len() < CLIPS => seen.clips.push(clip.clone()),
            _ => seen.more += 1,
        }
    }
    all
}
