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
    AlsoSeen, Finding, Note, Omissions, Run, Status, Summary, SuppressedBy, Suppression,
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
    /// The harmful findings that are not suppressed, grouped by bug, the worst first.
    pub bugs: Vec<Vec<usize>>,
    /// Number of confirmed findings and failures that are suppressed.
    pub suppressed: usize,
    /// Number of confirmed findings and failures that are known.
    pub known: usize,
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
fn notes(base: &Base, interrupted: bool) -> Vec<Note> {
    let interrupted = interrupted.then_some(Note::Interrupted);
    interrupted.into_iter().chain(base.notes.iter().cloned()).collect()
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
            Some(clip) if seen.clips.len() < CLIPS => seen.clips.push(clip.clone()),
            _ => seen.more += 1,
        }
    }
    all
}
