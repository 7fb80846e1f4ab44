//! Whether a run passed, and the failures by which failing runs are clustered.

use std::cmp::Ordering;

use norn_model::{Consequence, FailureSite};
use norn_report::vocabulary::consequence;
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed(Failure),
    /// It exceeded a limit, which shows nothing about the program.
    Unfinished,
}

impl RunOutcome {
    /// The failure.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            RunOutcome::Failed(failure) => Some(failure),
            RunOutcome::Passed | RunOutcome::Unfinished => None,
        }
    }
}

/// A failure. Two failures are the same if they are of the same kind and at the same places, whatever
/// values of one run their texts contain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What identifies it.
    pub site: FailureSite,
    /// Its description, from one of the runs.
    pub title: String,
}

impl Failure {
    /// A failure that the run itself showed, and its place.
    pub fn new(led_to: &Consequence, site: Option<FailureSite>) -> Failure {
        let site = site.unwrap_or_else(|| FailureSite::new(led_to, []));
        Failure { site, title: consequence(led_to) }
    }

    /// Whether both are of one kind, wherever they are.
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        self.site.kind == other.site.kind
    }

    /// A failure that only the user's criterion sees.
    pub fn of_criterion(title: impl Into<String>) -> Failure {
        let title = title.into();
        let site = FailureSite { kind: title.clone(), ..FailureSite::new(&Consequence::None, []) };
        Failure { site, title }
    }
}

impl PartialEq for Failure {
    fn eq(&self, other: &Failure) -> bool {
        self.site == other.site
    }
}

impl Eq for Failure {}

impl PartialOrd for Failure {
    fn partial_cmp(&self, other: &Failure) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Failure {
    fn cmp(&self, other: &Failure) -> Ordering {
        self.site.cmp(&other.site)
    }
}
