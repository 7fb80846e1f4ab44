//! Witnesses: candidates with schedules that the checker accepts. Combines engines, checker and
//! minimiser.

use std::fmt;

use norn_checker::{Checker, Deviation, Grade, Refusal, Turn, check_apart};
use norn_model::{Apart, Cancel, Candidate, EventId, Trace};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    Exact, Hybrid, Infeasible, Limits, Minimiser, engine::Draft, recorded_order::common_order,
    unordered_race::UnorderedRaces,
};

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
    /// Of a speculative schedule, the events that see something else than in the recorded run.
    #[serde(skip)]
    pub differing: Vec<EventId>,
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
    /// Number of events between the points of the recorded order at which schedules may begin to
    /// differ from it; by default, as many as suit the length of the trace.
    pub segment: Option<usize>,
}

/// Schedules for traces up to this length are made and minimised from the begin of the program.
const SHORT: usize = 65_536;
/// The least number of events between two cuts, and the largest number of cuts of a trace: their
/// states take memory.
const SEGMENT: usize = 2_048;
const CUTS: usize = 1_024;
/// Number of events of the schedules for one candidate that are checked: if one of the schedules is
/// possible, and if none is. Where the candidate's events are far apart, schedules are long; then only the
/// first ones are considered, which are the most promising.
const MOST_EVENTS: u64 = 2_000_000;
const MOST_REFUSED: u64 = 2 * MOST_EVENTS;

/// The number of events between two cuts of a trace; 0 if there is none.
fn segment(trace: &Trace) -> usize {
    let events = trace.len();
    if events <= SHORT { 0 } else { SEGMENT.max(events / CUTS) }
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
type Checked = (Deviation, Draft, Decider);

impl<'a> Witnesses<'a> {
    /// For one trace, with the default engines.
    pub fn new(trace: &'a Trace) -> Self {
        Self::with(trace, WitnessOptions::default())
    }

    /// For one trace, with some engines or other options.
    pub fn with(trace: &'a Trace, options: impl Into<WitnessOptions>) -> Self {
        let WitnessOptions { engines, cancel, segment: given } = options.into();
        let segment = given.unwrap_or_else(|| segment(trace));
        let hybrid = Hybrid::with_cuts(trace, segment, &cancel);
        let minimiser = Minimiser::cancellable(trace, &cancel);
        let (order, cuts) = common_order(&hybrid, &minimiser);
        Witnesses {
            engines,
            exact: Exact::with_cuts(trace, Limits::default(), segment, &cancel),
            checker: Checker::cancellable(trace, &cancel).with_baseline(order, cuts),
            hybrid,
            minimiser,
            races: UnorderedRaces::new(trace),
            cancel,
        }
    }

    /// Divides the effort of the exact engine for a hunt among groups of candidates of its trace with
    /// this number, counted from 0. The groups come in the order in which they are tried. If there are
    /// too many, the exact engine decides only about the first ones. Without a call of this function,
    /// it decides about every candidate, with as much effort as the [limits](Limits) allow.
    pub fn expect<'c, Group: IntoIterator<Item = &'c Candidate>>(
        &self,
        groups: impl ExactSizeIterator<Item = Group>,
        trace: usize,
    ) {
        self.exact.expect(groups, trace);
    }

    /// The effort so far, in events that were checked. It does not depend on the machine.
    pub fn effort(&self) -> u64 {
        self.checker.simulated()
    }

    fn is_asked(&self, decider: Decider, candidate: &Candidate) -> bool {
        decider == Decider::Hybrid || self.exact.is_decidable(candidate)
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
            if !self.is_asked(*decider, candidate) {
                failures.push(Failure::Infeasible(Infeasible::Undecided));
                continue;
            }
            let (mut proposed, begin) = (Vec::new(), self.effort());
            for proposal in self.schedules(*decider, candidate, aparts) {
                if self.cancel.is_cancelled() {
                    return Err(Failure::Inconclusive);
                }
                if let Ok(draft) = &proposal {
                    if proposed.contains(draft) {
                        continue;
                    }
                    let most = if best.is_some() { MOST_EVENTS } else { MOST_REFUSED };
                    if self.effort() - begin >= most {
                        failures.push(Failure::Infeasible(Infeasible::Undecided));
                        break;
                    }
                    proposed.push(draft.clone());
                }
                let known = best.as_ref().map(|it| it.0);
                match self.checked(candidate, aparts, proposal, *decider, known) {
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
        let recorded = || {
            let (cut, last) = (self.cut(&candidate), candidate.steps.last()?.event);
            let turns = self.hybrid.recorded(cut, last);
            Some((Ok(Draft { cut, turns }), Decider::Hybrid))
        };
        let asked = self.engines.all().iter().filter(|it| self.is_asked(**it, race));
        let engines = asked
            .flat_map(|decider| self.schedules(*decider, &candidate, &[]).map(|it| (it, *decider)));
        let mut checked =
            recorded().into_iter().chain(engines).filter_map(|(proposal, decider)| {
                self.checked(&candidate, &[], proposal, decider, Some(Deviation::BEST)).ok()
            });
        let sound = checked.find(|it| it.0.differences == 0)?;
        Some(self.finish(&candidate, &[], sound))
    }

    /// A witness in which something that the candidate reads differs, at the price that other
    /// values may differ, too. For candidates whose witness is [idle](Witness::idle).
    pub fn lively(&self, candidate: &Candidate) -> Option<Witness> {
        let proposals = self.schedules(Decider::Hybrid, candidate, &[]);
        let checked = proposals.map(|it| self.checked(candidate, &[], it, Decider::Hybrid, None));
        let best = checked.flatten().filter(|it| !it.0.idle).min_by_key(|it| it.0)?;
        let witness = self.finish(candidate, &[], best);
        (!witness.idle).then_some(witness)
    }

    fn schedules(
        &self,
        decider: Decider,
        candidate: &Candidate,
        aparts: &[Apart],
    ) -> Box<dyn Iterator<Item = Result<Draft, Infeasible>> + '_> {
        match decider {
            Decider::Hybrid => {
                let cut = self.cut(candidate);
                let proposals = self.hybrid.schedules_from(cut, candidate);
                Box::new(proposals.map(move |it| it.map(|turns| Draft { cut, turns })))
            }
            Decider::Exact => self.exact.drafts(candidate, aparts, self.last_cut()),
        }
    }

    /// The last cut that schedules can begin at: engines and checker both know its state.
    fn last_cut(&self) -> usize {
        if self.hybrid.cuts().len() > 1 {
            self.hybrid.last_cut().min(self.checker.last_cut())
        } else {
            0
        }
    }

    /// The cut at which the fast engine's schedules for a candidate begin.
    fn cut(&self, candidate: &Candidate) -> usize {
        self.hybrid.cut(candidate).min(self.last_cut())
    }

    fn checked(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        proposal: Result<Draft, Infeasible>,
        decider: Decider,
        best: Option<Deviation>,
    ) -> Result<Checked, Failure> {
        let draft = proposal?;
        self.check_apart(aparts, &draft)?;
        let (cut, turns) = (draft.cut, &draft.turns);
        Ok((self.checker.deviation_from(cut, candidate, turns, best)?, draft, decider))
    }

    fn check_apart(&self, aparts: &[Apart], draft: &Draft) -> Result<(), Refusal> {
        if aparts.is_empty() {
            return Ok(());
        }
        check_apart(aparts, &self.checker.schedule(draft.cut, &draft.turns))
    }

    /// Minimises the schedule. The result is used only if the checker accepts it and it is not
    /// worse.
    fn finish(
        &self,
        candidate: &Candidate,
        aparts: &[Apart],
        (deviation, draft, engine): Checked,
    ) -> Witness {
        let done = &self.hybrid.cuts()[draft.cut].done;
        let turns = self.minimiser.minimise_from(done, candidate, &draft.turns);
        let short = Draft { cut: draft.cut, turns };
        let checked =
            self.checker.deviation_from(short.cut, candidate, &short.turns, Some(deviation));
        let (deviation, draft) = match checked {
            Ok(new)
                if new <= deviation
                    && new.idle <= deviation.idle
                    && short.turns.len() <= draft.turns.len()
                    && self.check_apart(aparts, &short).is_ok() =>
            {
                (new, short)
            }
            _ => (deviation, draft),
        };
        let (grade, idle) = (deviation.grade(), deviation.idle);
        let differing = || self.checker.differing_from(draft.cut, &draft.turns);
        let differing = (grade == Grade::Speculative).then(differing).unwrap_or_default();
        let turns = self.checker.schedule(draft.cut, &draft.turns);
        Witness { candidate: candidate.clone(), turns, grade, engine, idle, differing }
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
