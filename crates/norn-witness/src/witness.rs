//! A candidate with a schedule that the checker accepts, and the way there.

use norn_model::{Candidate, EventId, ThreadId, Trace};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Checker, Engine, Hybrid, Infeasible, Minimiser, Refusal};

/// A part of a schedule: one thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Turn {
    /// Which.
    pub thread: ThreadId,
    /// Until before this of its events.
    pub until: u64,
}

/// How much of the recorded run a schedule keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// Every read that can influence a later event of the schedule sees what it saw.
    Sound,
    /// Threads, locks and the rest allow it; some value differs, and the program may go another way.
    Speculative,
}

impl Grade {
    /// The grade of a schedule in which so many values differ.
    pub(crate) fn of(differences: usize) -> Grade {
        if differences == 0 { Grade::Sound } else { Grade::Speculative }
    }
}

/// A candidate with a schedule that makes it happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// What happens.
    pub candidate: Candidate,
    /// In which order, up to the candidate's last event.
    pub turns: Vec<Turn>,
    /// How close to the recorded run.
    pub grade: Grade,
}

/// Why a candidate has no witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The engine knows no schedule.
    #[error("no schedule: {0}")]
    Infeasible(#[from] Infeasible),
    /// The engine has nothing to say.
    #[error("no schedule was proposed")]
    NoProposal,
    /// The checker refuses the schedule.
    #[error("the schedule is not possible: {0}")]
    Refused(#[from] Refusal),
}

/// Makes witnesses for candidates of one trace.
#[derive(Debug)]
pub struct Witnesses<'a> {
    engine: Hybrid<'a>,
    checker: Checker<'a>,
    minimiser: Minimiser<'a>,
}

impl<'a> Witnesses<'a> {
    /// Learns what is needed of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        Witnesses {
            engine: Hybrid::new(trace),
            checker: Checker::new(trace),
            minimiser: Minimiser::new(trace),
        }
    }

    /// Makes a witness, or says why there is none. Of several schedules, the one in which the fewest
    /// values differ from the recorded run: there the program is the most likely to follow.
    pub fn witness(&self, candidate: &Candidate) -> Result<Witness, Failure> {
        let mut best: Option<(usize, Vec<Turn>)> = None;
        let mut failure = None;
        for proposal in self.engine.schedules(candidate) {
            match self.weighed(candidate, proposal) {
                Ok(weighed) if weighed.0 == 0 => {
                    return Ok(self.finish(candidate, weighed));
                }
                Ok(weighed) if best.as_ref().is_none_or(|it| weighed.0 < it.0) => {
                    best = Some(weighed);
                }
                Ok(_) => {}
                Err(it) => failure = failure.or(Some(it)),
            }
        }
        match (best, failure) {
            (Some(weighed), _) => Ok(self.finish(candidate, weighed)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Failure::NoProposal),
        }
    }

    fn weighed(
        &self,
        candidate: &Candidate,
        proposal: Result<Vec<Turn>, Infeasible>,
    ) -> Result<(usize, Vec<Turn>), Failure> {
        let turns = proposal?;
        Ok((self.checker.differences(candidate, &turns)?, turns))
    }

    /// Minimises, as far as the checker agrees.
    fn finish(&self, candidate: &Candidate, (differences, turns): (usize, Vec<Turn>)) -> Witness {
        let short = self.minimiser.minimise(candidate, &turns);
        let candidate = candidate.clone();
        match self.checker.differences(&candidate, &short) {
            Ok(new) if new <= differences && short.len() <= turns.len() => {
                Witness { candidate, turns: short, grade: Grade::of(new) }
            }
            _ => Witness { candidate, turns, grade: Grade::of(differences) },
        }
    }
}

/// The events of a schedule, one by one.
pub fn events(turns: &[Turn]) -> impl Iterator<Item = EventId> {
    let mut done: std::collections::BTreeMap<ThreadId, u64> = std::collections::BTreeMap::new();
    turns.iter().flat_map(move |turn| {
        let from = done.insert(turn.thread, turn.until).unwrap_or(0);
        (from..turn.until).map(|index| EventId { thread: turn.thread, index })
    })
}
