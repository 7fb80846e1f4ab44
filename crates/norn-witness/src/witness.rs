//! Witnesses: candidates with schedules that the checker accepts. Combines engines, checker and
//! minimiser.

use std::fmt;

use norn_checker::{Checker, Deviation, Grade, Refusal, Turn, check_apart};
use norn_model::{Apart, Cancel, Candidate, Trace};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Engine, Exact, Hybrid, Infeasible, Limits, Minimiser, unordered_race::UnorderedRaces};

/// A candidate with a schedule that makes it happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Witness {
    /// The candidate.
    pub candidate: Candidate,
    /// The schedule, up to the candidate's last event.
    pub turns: Vec<Turn>,
    /// How much of the recorded run it keeps.
    pub grade: Grade,
    /// The engine that found it.
    pub engine: Decider,
    /// Whether all reads of the candidate see the recorded values, although the anomaly is that
    /// they do not: then it is unlikely to do harm.
    #[serde(default)]
    pub idle: bool,
}

/// The engine that decided about a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decider {
    /// The fast engine.
    Hybrid,
    /// The exact engine.
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

/// The engines that are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engines {
    /// Only the fast engine, which cannot prove that a candidate is infeasible.
    Hybrid,
    /// Only the exact engine, which preserves every value or proves that no order does.
    Exact,
    /// The fast engine, and the exact one where that finds nothing or some value differs.
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
    /// The engine finds no schedule.
    #[error("no schedule: {0}")]
    Infeasible(#[from] Infeasible),
    /// The engine proposes nothing.
    #[error("no schedule was proposed")]
    NoProposal,
    /// The checker refuses the schedule.
    #[error("the schedule is not possible: {0}")]
    Refused(#[from] Refusal),
    /// The exact engine has proved that no order of the recorded events that preserves all values
    /// contains the candidate. The reason is that of the fast engine, if it gives one.
    #[error("infeasible: {0}")]
    Impossible(Infeasible),
    /// No schedule was found, and no proof that there is none.
    #[error("inconclusive: nothing was decided within the limits")]
    Inconclusive,
}

impl Failure {
    /// The engine that decided, if one did.
    pub fn engine(&self) -> Option<Decider> {
        match self {
            Failure::Infeasible(_) | Failure::Refused(_) => Some(Decider::Hybrid),
            Failure::Impossible(_) => Some(Decider::Exact),
            Failure::NoProposal | Failure::Inconclusive => None,
        }
    }
}

/// How witnesses are made.
#[derive(Clone, Debug, Default)]
pub struct WitnessOptions {
    /// The engines that are used.
    pub engines: Engines,
    /// Ends all work early. What is asked afterwards stays [undecided](Failure::Inconclusive).
    pub cancel: Cancel,
}

impl From<Engines> for WitnessOptions {
    fn from(engines: Engines) -> Self {
        WitnessOptions { engines, ..WitnessOptions::default() }
    }
}

/// Makes witnesses for candidates of one trace.
#[derive(Debug)]
pub struct Witnesses<'a> {
    engines: Engines,
    cancel: Cancel,
    hybrid: Hybrid<'a>,
    exact: Exact<'a>,
    checker: Checker<'a>,
    minimiser: Minimiser<'a>,
    races: UnorderedRaces<'a>,
}

/// A schedule that the checker accepts, its deviation from the recorded run, and its engine.
type Checked = (Deviation, Vec<Turn>, Decider);

impl<'a> Witnesses<'a> {
    /// For one trace, with the default engines.
    pub fn new(trace: &'a Trace) -> Self {
        Self::with(trace, WitnessOptions::default())
    }

    /// For one trace, with some engines or other options.
    pub fn with(trace: &'a Trace, options: impl Into<WitnessOptions>) -> Self {
        let WitnessOptions { engines, cancel } = options.into();
        Witnesses {
            engines,
            hybrid: Hybrid::cancellable(trace, &cancel),
            exact: Exact::cancellable(trace, Limits::default(), &cancel),
            checker: Checker::cancellable(trace, &cancel),
            minimiser: Minimiser::cancellable(trace, &cancel),
            races: UnorderedRaces::new(trace),
            cancel,
        }
    }

    /// Finds a witness, or the reason why there is none. Of several schedules it takes the one in
    /// which the fewest values differ from the recorded run, since the program is most likely to
    /// follow it; but preferably one in which what the candidate itself reads does differ. If the
    /// accesses of a data race cannot be adjacent without a difference, they may be
    /// [unordered](Candidate::is_unordered_race) nevertheless.
    pub fn witness(&self, candidate: &Candidate) -> Result<Witness, Failure> {
        self.witness_apart(candidate, &[])
    }

    /// The same, with some events kept out of intervals.
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
                if self.cancel.is_cancelled() {
                    return Err(Failure::Inconclusive);
                }
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
        if best.as_ref().is_none_or(|it| it.0.differences > 0)
            && let Some(witness) = self.unordered(candidate)
        {
            return Ok(witness);
        }
        match best {
            Some(checked) => Ok(self.finish(candidate, aparts, checked)),
            None if self.cancel.is_cancelled() => Err(Failure::Inconclusive),
            None => Err(reason(&failures)),
        }
    }

    /// A witness of a data race whose accesses are not adjacent, and which happens-before does not
    /// order. All values are those of the recorded run.
    fn unordered(&self, race: &Candidate) -> Option<Witness> {
        let candidate = self.races.candidate(race).filter(|_| !self.cancel.is_cancelled())?;
        let recorded =
            std::iter::once_with(|| (Ok(self.races.recorded(&candidate)), Decider::Hybrid));
        let engines =
            self.engines.all().iter().flat_map(|decider| {
                self.schedules(*decider, &candidate, &[]).map(|it| (it, *decider))
            });
        let mut checked = recorded.chain(engines).filter_map(|(proposal, decider)| {
            self.checked(&candidate, &[], proposal, decider).ok()
        });
        let sound = checked.find(|it| it.0.differences == 0)?;
        Some(self.finish(&candidate, &[], sound))
    }

    /// A witness in which something that the candidate reads differs, at the price that other
    /// values may differ, too. For candidates whose witness is [idle](Witness::idle).
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

    /// Minimises the schedule. The result is used only if the checker accepts it and it is not
    /// worse.
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

/// The reason why there is no witness: a proof counts most, then that nothing was decided.
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
