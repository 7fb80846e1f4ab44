//! A candidate with a schedule that the checker accepts, and the way there.

use std::fmt;

use norn_checker::{Checker, Deviation, Grade, Refusal, Turn, check_apart};
use norn_model::{Apart, Candidate, Trace};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Engine, Exact, Hybrid, Infeasible, Limits, Minimiser};

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
type Checked = (Deviation, Vec<Turn>, Decider);

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
        let mut best: Option<Checked> = None;
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
                match self.checked(candidate, aparts, proposal, *decider) {
                    Ok(checked) if checked.0 == Deviation::BEST => {
                        return Ok(self.finish(candidate, aparts, checked));
                    }
                    Ok(checked) if best.as_ref().is_none_or(|it| checked.0 < it.0) => {
                        best = Some(checked);
                    }
                    Ok(_) => {}
                    Err(it) => failures.push(it),
                }
            }
        }
        match best {
            Some(checked) => Ok(self.finish(candidate, aparts, checked)),
            None => Err(reason(&failures)),
        }
    }

    /// A witness in which something that the candidate reads differs, although other values that
    /// matter may differ, too: where a witness is [idle](Witness::idle), this one may do harm.
    pub fn lively(&self, candidate: &Candidate) -> Option<Witness> {
        let proposals = self.hybrid.schedules(candidate);
        let checked = proposals.map(|it| self.checked(candidate, &[], it, Decider::Hybrid));
        let best = checked.flatten().filter(|it| !it.0.idle).min_by_key(|it| it.0)?;
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

    fn checked(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        proposal: Result<Vec<Turn>, Infeasible>,
        decider: Decider,
    ) -> Result<Checked, Failure> {
        let turns = proposal?;
        check_apart(aparts, &turns)?;
        Ok((self.checker.deviation(candidate, &turns)?, turns, decider))
    }

    /// Minimises, as far as the checker agrees.
    fn finish(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        (deviation, turns, engine): Checked,
    ) -> Witness {
        let short = self.minimiser.minimise(candidate, &turns);
        let candidate = candidate.clone();
        let (deviation, turns) = match self.checker.deviation(&candidate, &short) {
            Ok(new)
                if new <= deviation
                    && new.idle <= deviation.idle
                    && short.len() <= turns.len()
                    && check_apart(aparts, &short).is_ok() =>
            {
                (new, short)
            }
            _ => (deviation, turns),
        };
        let (grade, idle) = (deviation.grade(), deviation.idle);
        Witness { candidate, turns, grade, engine, idle }
    }
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
