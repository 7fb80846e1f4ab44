//! A candidate with a schedule that the checker accepts, and the way there.

use std::fmt;

use norn_model::{Apart, Candidate, EventId, ThreadId, Trace};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Checker, Engine, Exact, Hybrid, Infeasible, Limits, Minimiser, Refusal, check::is_apart,
};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// What happens.
    pub candidate: Candidate,
    /// In which order, up to the candidate's last event.
    pub turns: Vec<Turn>,
    /// How close to the recorded run.
    pub grade: Grade,
    /// Who found it.
    pub engine: Decider,
    /// Whether all of its reads see what they saw, although they are to see something else: then it
    /// can hardly do harm.
    #[serde(default)]
    pub idle: bool,
}

/// How far a schedule is from the recorded run; the less the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Weight {
    /// Values that differ and can have an influence.
    pub(crate) differences: usize,
    /// Nothing that the candidate reads differs.
    pub(crate) idle: bool,
}

/// An engine that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The fast one.
    Hybrid,
    /// The one that proves.
    Exact,
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Decider::Hybrid => "hybrid",
            Decider::Exact => "exact",
        })
    }
}

/// Which engines are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engines {
    /// Only the fast one, which proposes and proves nothing.
    Hybrid,
    /// Only the exact one, which keeps every value or says that it cannot be.
    Exact,
    /// The fast one, and the exact one where that finds nothing or some value differs.
    #[default]
    Both,
}

impl Engines {
    fn all(self) -> &'static [Decider] {
        match self {
            Engines::Hybrid => &[Decider::Hybrid],
            Engines::Exact => &[Decider::Exact],
            Engines::Both => &[Decider::Hybrid, Decider::Exact],
        }
    }
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
    /// It is proved that no order of the recorded events has it, all values kept; and what the fast
    /// engine says, if anything.
    #[error("infeasible: {0}")]
    Impossible(Infeasible),
    /// No schedule was found, and it is not proved that there is none.
    #[error("inconclusive: nothing was decided within the limits")]
    Inconclusive,
}

impl Failure {
    /// Who decided, if anything was decided.
    pub fn engine(&self) -> Option<Decider> {
        match self {
            Failure::Infeasible(_) | Failure::Refused(_) => Some(Decider::Hybrid),
            Failure::Impossible(_) => Some(Decider::Exact),
            Failure::NoProposal | Failure::Inconclusive => None,
        }
    }
}

/// Makes witnesses for candidates of one trace.
#[derive(Debug)]
pub struct Witnesses<'a> {
    engines: Engines,
    hybrid: Hybrid<'a>,
    exact: Exact<'a>,
    checker: Checker<'a>,
    minimiser: Minimiser<'a>,
}

/// A schedule, how far it is from the recorded run, and who proposed it.
type Weighed = (Weight, Vec<Turn>, Decider);

impl<'a> Witnesses<'a> {
    /// Learns what is needed of the trace.
    pub fn new(trace: &'a Trace) -> Self {
        Self::with(trace, Engines::default())
    }

    /// Asks only some engines.
    pub fn with(trace: &'a Trace, engines: Engines) -> Self {
        Witnesses {
            engines,
            hybrid: Hybrid::new(trace),
            exact: Exact::new(trace, Limits::default()),
            checker: Checker::new(trace),
            minimiser: Minimiser::new(trace),
        }
    }

    /// Makes a witness, or says why there is none. Of several schedules, the one in which the fewest
    /// values differ from the recorded run: there the program is the most likely to follow. But what
    /// the candidate itself reads is to differ, if any schedule makes it.
    pub fn witness(&self, candidate: &Candidate) -> Result<Witness, Failure> {
        self.witness_apart(candidate, &[])
    }

    /// The same, and nothing comes in between that must not.
    pub fn witness_apart(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
    ) -> Result<Witness, Failure> {
        let mut best: Option<Weighed> = None;
        let mut failures = Vec::new();
        for decider in self.engines.all() {
            if best.as_ref().is_some_and(|it| it.0.differences == 0) {
                break;
            }
            let mut known = Vec::new();
            for proposal in self.schedules(*decider, candidate, aparts) {
                if let Ok(turns) = &proposal {
                    if known.contains(turns) {
                        continue;
                    }
                    known.push(turns.clone());
                }
                match self.weighed(candidate, aparts, proposal, *decider) {
                    Ok(weighed) if weighed.0 == Weight::BEST => {
                        return Ok(self.finish(candidate, aparts, weighed));
                    }
                    Ok(weighed) if best.as_ref().is_none_or(|it| weighed.0 < it.0) => {
                        best = Some(weighed);
                    }
                    Ok(_) => {}
                    Err(it) => failures.push(it),
                }
            }
        }
        match best {
            Some(weighed) => Ok(self.finish(candidate, aparts, weighed)),
            None => Err(reason(&failures)),
        }
    }

    /// A witness in which something that the candidate reads differs, although other values that
    /// matter may differ, too: where a witness is [idle](Witness::idle), this one may do harm.
    pub fn lively(&self, candidate: &Candidate) -> Option<Witness> {
        let proposals = self.hybrid.schedules(candidate);
        let weighed = proposals.map(|it| self.weighed(candidate, &[], it, Decider::Hybrid));
        let best = weighed.flatten().filter(|it| !it.0.idle).min_by_key(|it| it.0)?;
        let witness = self.finish(candidate, &[], best);
        (!witness.idle).then_some(witness)
    }

    fn schedules(
        &self,
        decider: Decider,
        candidate: &Candidate,
        aparts: &[Apart],
    ) -> impl Iterator<Item = Result<Vec<Turn>, Infeasible>> {
        match decider {
            Decider::Hybrid => self.hybrid.schedules(candidate),
            Decider::Exact => self.exact.schedules_apart(candidate, aparts),
        }
    }

    fn weighed(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        proposal: Result<Vec<Turn>, Infeasible>,
        decider: Decider,
    ) -> Result<Weighed, Failure> {
        let turns = proposal?;
        is_apart(aparts, &turns)?;
        Ok((self.checker.weight(candidate, &turns)?, turns, decider))
    }

    /// Minimises, as far as the checker agrees.
    fn finish(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        (weight, turns, engine): Weighed,
    ) -> Witness {
        let short = self.minimiser.minimise(candidate, &turns);
        let candidate = candidate.clone();
        let (weight, turns) = match self.checker.weight(&candidate, &short) {
            Ok(new)
                if new <= weight
                    && new.idle <= weight.idle
                    && short.len() <= turns.len()
                    && is_apart(aparts, &short).is_ok() =>
            {
                (new, short)
            }
            _ => (weight, turns),
        };
        let Weight { differences, idle } = weight;
        Witness { candidate, turns, grade: Grade::of(differences), engine, idle }
    }
}

impl Weight {
    /// No value differs that can have an influence, and what the candidate reads does.
    const BEST: Weight = Weight { differences: 0, idle: false };
}

/// Why there is no witness: a proof counts most, then that nothing was proved.
fn reason(failures: &[Failure]) -> Failure {
    let proved = failures.contains(&Failure::Infeasible(Infeasible::NoOrder));
    let undecided = failures.contains(&Failure::Infeasible(Infeasible::Undecided));
    match failures.first() {
        Some(Failure::Infeasible(why)) if proved => Failure::Impossible(*why),
        _ if proved => Failure::Impossible(Infeasible::NoOrder),
        _ if undecided => Failure::Inconclusive,
        first => first.copied().unwrap_or(Failure::NoProposal),
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
